// Package strict reads YAML files that people write by hand. Every error begins
// with file, line and column and says what would be right: for an unknown key the
// known ones, for a value what is expected instead. A file is one document of
// plain values, lists and mappings. Anchors, aliases, tags and deep nesting are
// refused, because a few bytes of them can demand gigabytes.
package strict

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// What a file may ask for.
const (
	maxFile  = 64 << 10 // bytes; the YAML library takes time by the square of them
	maxDepth = 64       // lists and mappings in each other
)

// A File is a document that was read; it knows where its parts stand.
type File struct {
	name string
	tree *ast.File
}

// ReadText reads the text of a file for [Decode], but no more than it refuses.
func ReadText(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return TextOf(file)
}

// TextOf is ReadText of what is open.
func TextOf(file io.Reader) ([]byte, error) { return io.ReadAll(io.LimitReader(file, maxFile+1)) }

// ReadKept is ReadText of a file that a program keeps for itself and that nobody named (see
// [Regular]).
func ReadKept(path string) ([]byte, error) {
	if err := Regular(path); err != nil {
		return nil, err
	}
	return ReadText(path)
}

// Regular refuses what is at a path and is no regular file, such as a pipe, of which opening waits
// for another program.
func Regular(path string) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return &fs.PathError{Op: "open", Path: path, Err: errors.New("it is not a regular file")}
	}
	return nil // that there is nothing, opening tells
}

// conflict matches the lines that git writes around the sides of a merge.
var conflict = regexp.MustCompile(`(?m)^(<<<<<<<|>>>>>>>) [^\r\n]*`)

// Decode reads a document into a struct whose fields have yaml tags, which are
// the keys that it may have. The name is that of the file, for errors. An empty
// document makes it empty. Types of the struct may implement
// yaml.NodeUnmarshaler and refuse what they cannot read with [Refuse].
func Decode[T any](name string, text []byte, value *T) (*File, error) {
	f := &File{name: name}
	if len(text) > maxFile {
		return nil, fmt.Errorf("%s: longer than the %d KiB that such a file may have", name,
			maxFile>>10)
	}
	if bytes.HasPrefix(text, []byte{0xFF, 0xFE}) || bytes.HasPrefix(text, []byte{0xFE, 0xFF}) {
		return nil, fmt.Errorf("%s: it is UTF-16, as > of PowerShell writes it: want UTF-8 (| "+
			"Out-File -Encoding utf8)", name)
	}
	text = bytes.TrimPrefix(text, []byte("\xEF\xBB\xBF")) // which marks UTF-8
	if at := conflict.FindIndex(text); at != nil {
		return nil, fmt.Errorf("%s:%d:1: the line %q is of a merge that is not resolved: keep "+
			"one side", name, 1+bytes.Count(text[:at[0]], []byte("\n")), text[at[0]:at[1]])
	}
	if err := f.plain(lexer.Tokenize(string(text))); err != nil {
		return nil, err
	}
	tree, err := parser.ParseBytes(text, 0)
	if err != nil {
		return nil, f.placed(err, reflect.TypeFor[T]())
	}
	f.tree = tree
	if err := f.mapped(reflect.TypeFor[T]()); err != nil {
		return nil, err
	}
	if err := cmp.Or(f.valued(), f.whole(reflect.TypeFor[T]())); err != nil {
		return nil, err
	}
	err = yaml.NewDecoder(bytes.NewReader(text), yaml.Strict()).Decode(value)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, f.placed(err, reflect.TypeFor[T]())
	}
	return f, nil
}

// Errorf is an error about the part of the document at a path such as
// "levels[1].size": it begins with the file and, where the document has the
// part, its line and column.
func (f *File) Errorf(path, format string, args ...any) error {
	return f.at(f.token(path), fmt.Errorf(format, args...))
}

// Refuse is an error about a value of the document.
func (f *File) Refuse(n ast.Node, err error) error { return f.at(n.GetToken(), err) }

// Line is the line on which the part at a path begins, 0 if it is not there.
func (f *File) Line(path string) int {
	if t := f.token(path); t != nil {
		return t.Position.Line
	}
	return 0
}

func (f *File) at(t *token.Token, err error) error {
	if t == nil {
		return fmt.Errorf("%s: %w", f.name, err)
	}
	return fmt.Errorf("%s:%d:%d: %w", f.name, t.Position.Line, t.Position.Column, err)
}

// token is where the part at a path begins, nil if it is not there.
func (f *File) token(path string) *token.Token {
	if path == "" {
		return nil
	}
	p, err := yaml.PathString("$." + path)
	if err != nil {
		return nil
	}
	node, err := p.FilterFile(f.tree)
	if err != nil || node == nil {
		return nil
	}
	if m, ok := node.(*ast.MappingNode); ok && len(m.Values) > 0 {
		return m.Values[0].Key.GetToken() // the node's own token is the first colon
	}
	return node.GetToken()
}

// plain refuses what costs more than its length to parse or to decode.
func (f *File) plain(tokens token.Tokens) error {
	depth, line, entries := 0, 0, 0
	directive := 0 // its line
	content, ended := false, false
	for _, t := range tokens {
		if t.Position.Line != line {
			line, entries = t.Position.Line, 0
		}
		switch t.Type {
		case token.DocumentHeaderType:
			ended = content
			continue
		case token.DirectiveType:
			directive = line
		case token.DocumentEndType, token.CommentType:
			continue
		}
		if line != directive {
			content = true
		}
		if ended {
			return f.at(t, errors.New("a second document (want one a file)"))
		}
		switch t.Type {
		case token.AnchorType, token.AliasType, token.TagType, token.MergeKeyType:
			return f.at(t, fmt.Errorf("%q: anchors, aliases, tags and merges are not read (want "+
				"the value itself)", t.Value))
		case token.SequenceStartType, token.MappingStartType:
			depth++
		case token.SequenceEndType, token.MappingEndType:
			depth--
		case token.SequenceEntryType, token.MappingKeyType:
			entries++ // those of one line are in each other
		}
		if depth+entries > maxDepth {
			return f.at(t, fmt.Errorf("more than %d lists and mappings in each other", maxDepth))
		}
	}
	return nil
}

// noMapping is what a line is that has no key, where the file is of another kind.
const noMapping = "this is not key: value"

// description says what such a file has.
func description(root reflect.Type) string {
	return " (want a description, with keys such as " +
		strings.Join(tags(root)[:min(len(tags(root)), 4)], ", ") + ")"
}

// mapped refuses a document that is no mapping, as a file of another kind mostly is.
func (f *File) mapped(root reflect.Type) error {
	for _, doc := range f.tree.Docs {
		switch n := doc.Body.(type) {
		case nil, *ast.MappingNode, *ast.MappingValueNode, *ast.NullNode, *ast.CommentGroupNode,
			*ast.DirectiveNode:
		default:
			return f.Refuse(n, errors.New(noMapping+description(root)))
		}
	}
	return nil
}

// valued refuses keys with no colon: in braces what follows a comma is one, as in {order: 1,0}.
func (f *File) valued() (err error) {
	f.each(func(n ast.Node) {
		if v, ok := n.(*ast.MappingValueNode); ok && err == nil &&
			v.GetToken().Type != token.MappingValueType {
			err = f.Refuse(v.Key, fmt.Errorf(
				"%q has no value (in braces commas part the entries: quote a value that has one)",
				v.Key.GetToken().Value))
		}
	})
	return err
}

// placed says an error of the YAML library, or of [Refuse], in our form.
func (f *File) placed(err error, root reflect.Type) error {
	var refused *refusal
	if errors.As(err, &refused) {
		return f.at(refused.at, refused.err)
	}
	var theirs yaml.Error
	if !errors.As(err, &theirs) {
		return f.at(nil, err)
	}
	message := theirs.GetMessage()
	var unknown *yaml.UnknownFieldError
	var mistyped *yaml.TypeError
	var overflow *yaml.OverflowError
	switch {
	case errors.As(err, &unknown):
		message += f.known(unknown.Token, root)
	case errors.As(err, &mistyped):
		message = fmt.Sprintf("%s where %s is wanted", kindOf(mistyped.SrcType),
			kindOf(mistyped.DstType))
	case errors.As(err, &overflow):
		message = fmt.Sprintf("%s is out of range", overflow.SrcNum)
	case message == "non-map value is specified":
		message = noMapping + description(root)
	case strings.HasSuffix(message, "is a reserved character"):
		message += description(root)
	case strings.Contains(message, "'\t'"):
		message = "a tab (want spaces before a line and between words)"
	}
	if m := used.FindStringSubmatch(message); m != nil && nodes[m[1]] != "" && nodes[m[2]] != "" {
		message = fmt.Sprintf("%s where %s is wanted", nodes[m[1]], nodes[m[2]])
		if m[2] == "mapping" {
			message += f.keysAt(theirs.GetToken(), root)
		}
	}
	return f.at(theirs.GetToken(), errors.New(message))
}

// used is how the YAML library says that a value is of another kind, and nodes what its kinds are.
var (
	used  = regexp.MustCompile(`^(\w+) was used where (\w+) is expected$`)
	nodes = map[string]string{"sequence": "a list ([A, B], or lines that begin with -)",
		"mapping": "a mapping (key: value)", "string": "a word", "int": "a number",
		"float": "a number", "inf": "a number", "nan": "a number", "boolean": "a word",
		"null": "nothing"}
)

// kindOf is what a file has for a Go type.
func kindOf(t reflect.Type) string {
	if t == nil {
		return "nothing"
	}
	switch t.Kind() {
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Map, reflect.Struct:
		return "a mapping (key: value)"
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "text"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Pointer:
		return kindOf(t.Elem())
	}
	return "a whole number"
}

// known lists the keys that would be right where an unknown one stands.
func (f *File) known(at *token.Token, root reflect.Type) string {
	words := ""
	f.each(func(n ast.Node) {
		v, ok := n.(*ast.MappingValueNode)
		if !ok || v.Key.GetToken().Position.Offset != at.Position.Offset {
			return
		}
		path := v.Key.GetPath()
		if t := typeAt(root, path[:max(strings.LastIndex(path, "."), 0)]); t != nil &&
			t.Kind() == reflect.Struct {
			words = " (want one of " + strings.Join(tags(t), ", ") + ")"
		}
	})
	return words
}

// keysAt lists the keys that a mapping would have where something else stands.
func (f *File) keysAt(at *token.Token, root reflect.Type) string {
	words := ""
	f.each(func(n ast.Node) {
		if _, plain := n.(ast.ScalarNode); !plain ||
			n.GetToken().Position.Offset != at.Position.Offset {
			return
		}
		if t := typeAt(root, n.GetPath()); t != nil && t.Kind() == reflect.Struct {
			words = " (with keys of " + strings.Join(tags(t), ", ") + ")"
		}
	})
	return words
}

// whole refuses numbers that the YAML library takes for others: fractions where whole numbers are
// wanted, which it cuts off, and zeros in front, which make a number octal in YAML 1.1 and nothing
// in YAML 1.2.
func (f *File) whole(root reflect.Type) (err error) {
	f.each(func(n ast.Node) {
		if _, ok := n.(ast.ScalarNode); !ok || err != nil {
			return
		}
		t := typeAt(root, n.GetPath())
		if t == nil || t.Kind() < reflect.Int || t.Kind() > reflect.Float64 {
			return
		}
		number, fraction := n.(*ast.FloatNode)
		zeros := noZerosInFront(n.GetToken().Value)
		switch {
		case zeros != nil:
			err = f.Refuse(n, zeros)
		case fraction && t.Kind() <= reflect.Uint64:
			err = f.Refuse(n, fmt.Errorf("%s where a whole number is wanted", number))
		}
	})
	return err
}

// zerosInFront finds sign and figures of a number that is written with zeros in front.
var zerosInFront = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([-+]?)0[0_]*([0-9].*)$`)
})

// noZerosInFront refuses a number that is written so.
func noZerosInFront(text string) error {
	if zeros := zerosInFront().FindStringSubmatch(text); zeros != nil {
		return fmt.Errorf("%s has zeros in front, which some take for octal (want %s)", text,
			zeros[1]+zeros[2])
	}
	return nil
}

// each calls do for every node.
func (f *File) each(do func(ast.Node)) {
	for _, doc := range f.tree.Docs {
		ast.Walk(visitor(do), doc)
	}
}

type visitor func(ast.Node)

// Visit implements ast.Visitor.
func (v visitor) Visit(n ast.Node) ast.Visitor { v(n); return v }

// typeAt is the type of the part at a path such as "$.levels[1].size", of a list
// or a pointer what it is of; nil where there is no such part, or it reads its
// text itself.
func typeAt(t reflect.Type, path string) reflect.Type {
	parts := strings.Split(path, ".")
	if parts[0] != "$" {
		return nil
	}
	for _, part := range parts[1:] {
		name, _, _ := strings.Cut(part, "[")
		switch t.Kind() {
		case reflect.Map:
			t = t.Elem()
		case reflect.Struct:
			i := slices.Index(tags(t), name)
			if i < 0 {
				return nil
			}
			t = fields(t)[i].Type
		default:
			return nil
		}
		for !readsItself(t) && (t.Kind() == reflect.Slice || t.Kind() == reflect.Pointer) {
			t = t.Elem()
		}
		if readsItself(t) {
			return nil
		}
	}
	return t
}

func readsItself(t reflect.Type) bool {
	return reflect.PointerTo(t).Implements(reflect.TypeFor[yaml.NodeUnmarshaler]())
}

// tags are the keys that stand for the fields of a struct.
func tags(t reflect.Type) []string {
	var names []string
	for _, field := range fields(t) {
		name, _, _ := strings.Cut(field.Tag.Get("yaml"), ",") // from options
		names = append(names, name)
	}
	return names
}

// fields are those of a struct, for one that is inline its own.
func fields(t reflect.Type) (all []reflect.StructField) {
	for i := range t.NumField() {
		if field := t.Field(i); field.Tag.Get("yaml") == ",inline" {
			all = append(all, fields(field.Type)...)
		} else {
			all = append(all, field)
		}
	}
	return all
}

// A refusal is an error about a value, and where it stands.
type refusal struct {
	at  *token.Token
	err error
}

func (r *refusal) Error() string { return r.err.Error() }
func (r *refusal) Unwrap() error { return r.err }

// Refuse is the error of an UnmarshalYAML that cannot read a value.
func Refuse(n ast.Node, err error) error { return &refusal{n.GetToken(), err} }

// Scalar is the text of a plain value. Anything else is refused with what is
// wanted in its place, such as "a size", and so is a number with zeros in front.
func Scalar(n ast.Node, want string) (string, error) {
	switch n := n.(type) {
	case *ast.IntegerNode, *ast.FloatNode:
		text := n.GetToken().Value // 0x4 is a shape, no 4
		if err := noZerosInFront(text); err != nil {
			return "", Refuse(n, err)
		}
		return text, nil
	case *ast.NullNode:
	case ast.ScalarNode:
		return fmt.Sprint(n.GetValue()), nil
	case *ast.SequenceNode:
		return "", Refuse(n, fmt.Errorf("a list (want %s)", want))
	}
	return "", Refuse(n, fmt.Errorf("no value (want %s)", want))
}
