package csource

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"modernc.org/cc/v4"

	"github.com/stridebench/stridebench/access/given"
)

// Limits. The parser recurses for each bracket and must not run out of stack.
const (
	maxFile     = 256 << 10 // bytes of one file, a header too
	maxText     = 4 << 20   // bytes after the preprocessor
	maxWork     = 150_000   // tokens, see cc.Config.ExpansionLimit
	maxNesting  = 500       // depth of brackets
	maxCuts     = 200       // how often a file is parsed, with less of it each time
	builtinPath = "<built-in>"

	predefinedName = "<predefined>" // the parser's name for it
	trailerName    = "<end>"
)

// These statements replace the pragmas of the region, because the parser keeps no pragmas.
const (
	beginMark = "__stridebench_scop_begin"
	endMark   = "__stridebench_scop_end"
)

// trailer follows the file. If a declaration is incomplete, the parser looks for its rest and would
// otherwise report errors without end. The file may define macros named like keywords.
var trailer = "#undef extern\n#undef int\n" + strings.Repeat(
	"; extern int __predefined_declarator;\n", 4)

var (
	pragma      = regexp.MustCompile(`(?m)^[ \t]*#[ \t]*pragma[ \t]+(scop|endscop)[ \t\r]*(//.*|/\*[^*\n]*\*/[ \t\r]*)?$`)
	defineShape = regexp.MustCompile(`^[A-Za-z_][A-Za-z_0-9]*$`)
	position    = regexp.MustCompile(`(?s)^(.*?):(\d+):(\d+): (.*)$`)
	internals   = regexp.MustCompile(` \([a-z0-9_]+\.go:\d+:[^)]*\)`)
	notFound    = regexp.MustCompile(`include file not found: ["<](.*)[">]`)
	// otherTypes matches attributes that change a type, alias an object or call a function, and asm
	// names.
	otherTypes = regexp.MustCompile(`\b__attribute(?:__)?\s*\(\s*\((?:[^()]|\([^()]*\))*?\b(?:__)?(mode|vector_size|alias|weakref|cleanup)(?:__)?\s*\(|\]\s*(asm|__asm|__asm__)\b|\bu8"`)
	// packs matches what may change the layout of structs; parser and compilers differ on it.
	packs = regexp.MustCompile(`\b(_Alignas|alignas|__attribute__|__attribute|__declspec)\b|#\s*pragma\s+pack\b|_Pragma\s*\(\s*"pack`)
)

// predefinedMacros hold also size_t, which kernels shown without headers use. Macros that identify
// a compiler, such as __GNUC__, are not defined; a note says so where a file asks for one. ofCPP is
// what C++ has in addition.
var (
	//go:embed predefined.h
	predefinedMacros string
	//go:embed predefined_cpp.h
	ofCPP string
)

type unit struct {
	name       string
	marked     []byte // the parsed text
	predefined string
	trailer    string
	files      *files
	cfg        *cc.Config
	packed     bool // something may change the layout of structs

	parts   []*textPart // set once some of the text is not parsed
	leftOut map[string]*Error
}

// parse preprocesses, parses and type checks a file. On failure it tries again without what need
// not be read.
func parse(name string, text []byte, opts Options, sized string) (u *unit, ast *cc.AST, err error) {
	if u, err = newUnit(name, text, opts, sized); err != nil {
		return nil, nil, err
	}
	defer func() {
		if r := recover(); r != nil {
			err = &Error{Pos: Pos{File: name}, Why: fmt.Sprintf("the parser fails: %v", r)}
		}
	}()
	for range maxCuts {
		ast, failed := u.translate()
		if len(failed) == 0 {
			u.packed = slices.ContainsFunc(append(u.files.texts, text), packs.Match)
			return u, ast, nil
		}
		if err = failed[0]; u.files.failed != nil {
			return nil, nil, u.files.failed
		}
		if m := notFound.FindStringSubmatch(failed[0].Why); m != nil && !u.files.missing[m[1]] {
			u.files.missing[m[1]] = true
			u.files.missed = append(u.files.missed, &Error{Pos: failed[0].Pos,
				Why: m[1] + " is not found, and nothing of it is known: -I names folders"})
		} else if !u.cut(failed, opts.Function) {
			for _, n := range u.files.missed {
				failed[0].Why += " (" + n.Why + ")"
			}
			break
		}
	}
	return nil, nil, err
}

func newUnit(name string, text []byte, opts Options, sized string) (*unit, error) {
	u := &unit{
		name: name, predefined: predefinedMacros, trailer: sized + trailer,
		files:   &files{dirs: opts.IncludeDirs, missing: map[string]bool{}},
		leftOut: map[string]*Error{},
	}
	if nameOfCPP.MatchString(name) {
		u.predefined += ofCPP
	}
	for _, define := range opts.Defines {
		macro, value := given.Split(define)
		if !defineShape.MatchString(macro) || strings.ContainsAny(value, "\n\r\\") {
			return nil, fmt.Errorf("-D %q: want NAME=VALUE, or NAME", define)
		}
		own := strings.Fields("defined __LINE__ __FILE__ __DATE__ __TIME__ __COUNTER__")
		if slices.Contains(own, macro) {
			return nil, fmt.Errorf("-D %q: the preprocessor keeps %s to itself", define, macro)
		}
		u.predefined += fmt.Sprintf("#define %s %s\n", macro, value)
	}
	if err := checkFolders(opts.IncludeDirs); err != nil {
		return nil, err
	}
	text, err := tamed(name, text)
	if err != nil {
		return nil, err
	}
	if m := tellers.FindSubmatchIndex(text); m != nil && !strings.Contains(u.predefined,
		string(text[m[2]:m[3]])) {
		u.files.missed = []*Error{{Pos: lineAt(name, text[:m[2]]), Why: string(text[m[2]:m[3]]) +
			" is not defined, as it tells compilers or CPUs apart: -D defines it"}}
	}
	u.marked = pragma.ReplaceAllFunc(text, func(line []byte) []byte {
		if strings.Contains(string(line), "endscop") {
			return []byte(endMark + ";")
		}
		return []byte(beginMark + ";")
	})
	abi, err := cc.NewABI("linux", "amd64")
	if err != nil {
		return nil, err
	}
	u.cfg = &cc.Config{
		ABI: abi, FS: u.files, FSOnly: true, ExpansionLimit: maxWork,
		IncludePaths:    slices.Concat([]string{"@"}, opts.IncludeDirs, []string{builtinPath}),
		SysIncludePaths: slices.Concat(opts.IncludeDirs, []string{builtinPath}),
		PragmaHandler:   u.files.pragma,
	}
	return u, nil
}

func (u *unit) sources() []cc.Source {
	u.files.start()
	marks := "extern int " + beginMark + ", " + endMark + ";\nint __predefined_declarator;\n"
	return []cc.Source{
		{Name: predefinedName, Value: u.predefined + marks},
		{Name: u.name, Value: framed(u.marked)},
		{Name: trailerName, Value: u.trailer},
	}
}

func (u *unit) translate() (*cc.AST, []*Error) {
	var expanded limited
	if err := cc.Preprocess(u.cfg, u.sources(), &expanded); err != nil {
		return nil, u.errors(err)
	}
	why := unparsable(expanded.text)
	if m := otherTypes.Find(expanded.text); m != nil {
		why = fmt.Sprintf("%s...) is not understood", m)
	}
	if why != "" || u.files.failed != nil {
		return nil, []*Error{{Pos: Pos{File: u.name}, Why: why}}
	}
	ast, err := cc.Translate(u.cfg, u.sources())
	if err != nil {
		return nil, u.errors(err)
	}
	return ast, nil
}

func (u *unit) errors(err error) (all []*Error) {
	for line := range strings.SplitSeq(err.Error(), "\n") {
		e := &Error{Pos: Pos{File: u.name}, Why: internals.ReplaceAllString(line, "")}
		if m := position.FindStringSubmatch(e.Why); m != nil {
			e.Pos.File, e.Why = m[1], m[4]
			e.Pos.Line, _ = strconv.Atoi(m[2])
			e.Pos.Column, _ = strconv.Atoi(m[3])
		}
		e.Why = strings.TrimPrefix(e.Why, u.name+": ")
		e.Why = ofGrowing.ReplaceAllString(e.Why,
			"$1 is a macro that makes a string of an argument, or pastes two, which is not "+
				"understood")
		if e.Pos.File == trailerName { // what the parser misses is not in the file
			e.Pos = lineAt(u.name, u.marked)
			e.Why = "the file ends before this declaration does"
		}
		all = append(all, e)
	}
	return all
}

// lineAt returns the last line of a text.
func lineAt(name string, text []byte) Pos {
	return Pos{File: name, Line: 1 + bytes.Count(text, []byte("\n")), Column: 1}
}

// overridden notes the -D macros that the file redefines.
func overridden(ast *cc.AST, defines []string) (notes []*Error) {
	for _, define := range defines {
		name, _ := given.Split(define)
		m := ast.Macros[name]
		if m == nil || m.IsConst || place(m.Name).File == predefinedName {
			continue
		}
		notes = append(notes, &Error{Define: define, Pos: place(m.Name), Why: fmt.Sprintf(
			"%s is redefined here, and -D %s has no effect (#ifndef %s lets it have one)",
			name, define,
			name)})
	}
	return notes
}

// unused notes the -D macros that no text uses, such as misspelt ones.
func (u *unit) unused(defines []string) (notes []*Error) {
	texts := append(slices.Clone(u.files.texts), u.marked)
	for _, define := range defines { // one may be in the value of another
		_, value := given.Split(define)
		texts = append(texts, []byte(value))
	}
	all := bytes.Join(texts, []byte("\n"))
	for _, define := range defines {
		macro, _ := given.Split(define)
		made := bytes.Contains(u.marked, []byte("##"))
		if made || strings.HasPrefix(macro, "_") || regexp.MustCompile(`\b`+macro+`\b`).Match(all) {
			continue // such names are for headers that are not read
		}
		notes = append(notes, &Error{Define: define, Pos: Pos{File: u.name}, Why: fmt.Sprintf(
			"-D %s has no effect: nothing in it is called %s", define, macro)})
	}
	return notes
}

type limited struct{ text []byte }

func (l *limited) Write(p []byte) (int, error) {
	if len(l.text)+len(p) > maxText {
		return 0, errors.New("after its macros are expanded, it has more than 4 MiB")
	}
	l.text = append(l.text, p...)
	return len(p), nil
}

// unparsable says why the parser cannot read a text without comments and macros: deep nesting, or
// unmatched brackets, with which it runs past the end.
func unparsable(text []byte) string {
	var open []byte // closes the open brackets
	for at := 0; at < len(text); at++ {
		switch c := text[at]; c {
		case '"', '\'':
			at = given.Quoted(text, at) - 1
		case '(', '[', '{':
			open = append(open, map[byte]byte{'(': ')', '[': ']', '{': '}'}[c])
		case ')', ']', '}':
			if len(open) == 0 || open[len(open)-1] != c {
				return "its brackets ( [ { } ] ) do not match"
			}
			open = open[:len(open)-1]
		}
		if len(open) > maxNesting {
			return fmt.Sprintf("more than %d brackets inside of each other", maxNesting)
		}
	}
	if len(open) > 0 {
		return "its brackets are not all closed"
	}
	return ""
}

func word(c byte) bool {
	return c == '_' || c >= 0x80 || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' ||
		'A' <= c && c <= 'Z'
}

var (
	defineFn  = regexp.MustCompile(`(?m)^([ \t]*#[ \t]*define[ \t]+(\w+)\(([^)\n]*)\))((?:.*\\\r?\n)*.*)$`)
	ofGrowing = regexp.MustCompile(`undefined: __growing_(\w+)`)
	pasted    = regexp.MustCompile(`(\w+)\s*##|##\s*(\w+)`)
	// ofPragma matches a harmless stringized argument.
	ofPragma = regexp.MustCompile(`\b_Pragma\s*\(\s*#\s*\w+\s*\)`)
	// continued matches a backslash, spaces and a line end: compilers skip the spaces.
	continued = regexp.MustCompile(`\\[ \t\v\f]+(\r?\n)`)
	// errorLine matches a line that may have an unclosed quote.
	errorLine = regexp.MustCompile(`(?m)^[ \t]*#[ \t]*(error|warning)\b.*$`)
	// tellers matches macros that only GCC has, or only for some CPUs.
	tellers = regexp.MustCompile(`(?m)^[ \t]*#[ \t]*(?:if|ifdef|ifndef|elif)\b.*?\b(__GNUC\w*|__NO_INLINE__|__VERSION__|__has_\w*attribute|__has_builtin|__SSE\w*__|__AVX\w*__|__FMA__|__ARM\w*)\b`)
	// odd matches directives that the parser handles differently than GCC.
	odd = regexp.MustCompile(`(?m)^[ \t]*#[ \t]*(elifn?def\b|line\b|\d)`)
)

// tamed refuses long texts, and removes macros that would keep the preprocessor busy forever. A
// growing macro becomes an undeclared name, so its uses are not understood.
func tamed(name string, text []byte) ([]byte, error) {
	if len(text) > maxFile {
		return nil, &Error{Pos: Pos{File: name}, Why: fmt.Sprintf("more than %d bytes", maxFile)}
	}
	text = continued.ReplaceAll(text, []byte("\\$1"))
	text = errorLine.ReplaceAllFunc(text, func(line []byte) []byte {
		return bytes.ReplaceAll(line,
			[]byte("'"), []byte(" "))
	})
	if m := odd.FindSubmatchIndex(text); m != nil && (text[m[2]] == 'e' || bytes.Contains(text,
		[]byte("__LINE__"))) {
		return nil, &Error{Pos: lineAt(name, text[:m[2]]),
			Why: "this directive is not understood (#line in a file with __LINE__, #elifdef, " +
				"#elifndef)"}
	}
	return defineFn.ReplaceAllFunc(text, func(line []byte) []byte {
		m := defineFn.FindSubmatch(line)
		if !growing(string(m[3]), string(m[4])) {
			return line
		}
		lines := strings.Repeat("\n", bytes.Count(line, []byte("\n")))
		return slices.Concat(bytes.ReplaceAll(m[1], []byte("\n"), nil), []byte(" __growing_"), m[2],
			[]byte(lines))
	}), nil
}

// growing reports whether a macro pastes two arguments or makes a string of one: its tokens can
// grow without bound, and a limit on their number does not help.
func growing(params, body string) bool {
	body = ofPragma.ReplaceAllString(body, "")
	names := append(strings.FieldsFunc(params, func(r rune) bool {
		return strings.ContainsRune(", \t",
			r)
	}), "__VA_ARGS__")
	arguments := 0
	for _, m := range pasted.FindAllStringSubmatch(body, -1) {
		if slices.Contains(names, m[1]+m[2]) {
			arguments++
		}
	}
	return arguments > 1 || strings.Contains(strings.ReplaceAll(body, "##", ""), "#")
}
