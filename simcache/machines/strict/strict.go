// Package strict is the program's own and promises nothing. It reads YAML files that people write
// by hand. Every error begins with file, line and column and says what would be right, such as the
// known keys. A file is one document of plain values, lists and mappings. Anchors, aliases, tags
// and deep nesting are refused, because a few bytes of them can demand gigabytes.
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

// Limits of a file.
const (
	maxFile  = 64 << 10 // bytes; the YAML library needs quadratic time
	maxDepth = 64       // nested lists and mappings
)

// A File is a document with the positions of its parts.
type File struct {
	name string
	tree *ast.File
}

// ReadText returns a file's text for [Decode], cut just above its limit.
func ReadText(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return TextOf(file)
}

// TextOf is ReadText for an open file.
func TextOf(file io.Reader) ([]byte, error) { return io.ReadAll(io.LimitReader(file, maxFile+1)) }

// ReadKept is ReadText for the program's own files, which no user named (see [Regular]).
func ReadKept(path string) ([]byte, error) {
	if err := Regular(path); err != nil {
		return nil, err
	}
	return ReadText(path)
}

// Regular returns an error if path is not a regular file, such as a pipe, whose opening waits for
// another program.
func Regular(path string) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return &fs.PathError{Op: "open", Path: path, Err: errors.New("it is not a regular file")}
	}
	return nil // opening reports a missing file
}

// Decode reads a document into a struct whose yaml tags are the permitted keys. An empty document
// gives an empty struct. Errors begin with name. Types of the struct may implement
// yaml.NodeUnmarshaler and return [Refuse] for bad values.
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
	text = bytes.TrimPrefix(text, []byte("\xEF\xBB\xBF")) // the UTF-8 mark
	if err := f.plain(lexer.Tokenize(string(text))); err != nil {
		return nil, err
	}
	tree, err := parser.ParseBytes(text, 0)
	if err != nil {
		return nil, f.placed(err, reflect.TypeFor[T]())
	}
	f.tree = tree
	if err := cmp.Or(f.valued(), f.whole(reflect.TypeFor[T]())); err != nil {
		return nil, err
	}
	err = yaml.NewDecoder(bytes.NewReader(text), yaml.Strict()).Decode(value)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, f.placed(err, reflect.TypeFor[T]())
	}
	return f, nil
}

// Errorf returns an error about the part at a path such as "levels[1].size", with file, line and
// column.
func (f *File) Errorf(path, format string, args ...any) error {
	return f.at(f.token(path), fmt.Errorf(format, args...))
}

// Refuse returns an error about a value.
func (f *File) Refuse(n ast.Node, err error) error { return f.at(n.GetToken(), err) }

// Line returns the first line of the part at a path, 0 if missing.
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

// plain refuses what costs more than its length to parse.
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
			entries++ // entries on one line are nested
		}
		if depth+entries > maxDepth {
			return f.at(t, fmt.Errorf("more than %d lists and mappings in each other", maxDepth))
		}
	}
	return nil
}

// valued refuses keys without a colon, such as the text after a comma in {order: 1,0}.
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
	}
	if m := used.FindStringSubmatch(message); m != nil && nodes[m[1]] != "" && nodes[m[2]] != "" {
		message = fmt.Sprintf("%s where %s is wanted", nodes[m[1]], nodes[m[2]])
	}
	return f.at(theirs.GetToken(), errors.New(message))
}

// used matches the YAML library's error for a wrong kind; nodes names the kinds.
var (
	used  = regexp.MustCompile(`^(\w+) was used where (\w+) is expected$`)
	nodes = map[string]string{"sequence": "a list ([A, B], or lines that begin with -)",
		"mapping": "a mapping (key: value)", "string": "a word", "int": "a number",
		"float": "a number", "inf": "a number", "nan": "a number", "boolean": "a word",
		"null": "nothing"}
)

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

// whole refuses numbers that the YAML library misreads: it truncates fractions, and leading zeros
// mean octal in YAML 1.1 and nothing in YAML 1.2.
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

var zerosInFront = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([-+]?)0[0_]*([0-9].*)$`)
})

func noZerosInFront(text string) error {
	if zeros := zerosInFront().FindStringSubmatch(text); zeros != nil {
		return fmt.Errorf("%s has zeros in front, which some take for octal (want %s)", text,
			zeros[1]+zeros[2])
	}
	return nil
}

func (f *File) each(do func(ast.Node)) {
	for _, doc := range f.tree.Docs {
		ast.Walk(visitor(do), doc)
	}
}

type visitor func(ast.Node)

// Visit implements ast.Visitor.
func (v visitor) Visit(n ast.Node) ast.Visitor { v(n); return v }

// typeAt returns the type at a path such as "$.levels[1].size", for a list or pointer the
// element's; nil if it is missing or unmarshals itself.
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

// tags returns the keys of a struct's fields.
func tags(t reflect.Type) []string {
	var names []string
	for _, field := range fields(t) {
		name, _, _ := strings.Cut(field.Tag.Get("yaml"), ",") // cuts options off
		names = append(names, name)
	}
	return names
}

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

type refusal struct {
	at  *token.Token
	err error
}

func (r *refusal) Error() string { return r.err.Error() }
func (r *refusal) Unwrap() error { return r.err }

// Refuse returns the error of an UnmarshalYAML for a bad value.
func Refuse(n ast.Node, err error) error { return &refusal{n.GetToken(), err} }

// Scalar returns the text of a plain value. Otherwise, and for leading zeros, it returns an error
// that asks for want, such as "a size".
func Scalar(n ast.Node, want string) (string, error) {
	switch n := n.(type) {
	case *ast.IntegerNode, *ast.FloatNode:
		text := n.GetToken().Value // the token: 0x4 is a shape, not the number 4
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
