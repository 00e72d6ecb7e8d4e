package csource

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"modernc.org/cc/v4"
)

// Limits of what is read: a file of C says what it says in much less, and a
// parser that calls itself for each bracket must not run out of stack.
const (
	maxFile     = 256 << 10 // bytes of one file, the headers included
	maxText     = 4 << 20   // bytes after the preprocessor
	maxWork     = 150_000   // tokens that the preprocessor handles, see cc.Config.ExpansionLimit
	maxNesting  = 2000      // tokens that one token can be inside of
	maxElse     = 1000      // each "else if" is inside of the one before
	builtinPath = "<built-in>"

	predefinedName = "<predefined>" // as the parser calls it
	trailerName    = "<end>"
)

// Where the region begins and ends, the text has these statements in place of
// the pragmas: the parser keeps no pragma, and a place in the tree is what is
// wanted.
const (
	beginMark = "__stridebench_scop_begin"
	endMark   = "__stridebench_scop_end"
)

// trailer is read behind the file. Where a declaration is not complete, the parser
// looks for its rest and has errors without end to tell if it finds none. The file may have macros of the name of a keyword.
var trailer = "#undef extern\n#undef int\n" + strings.Repeat("; extern int __predefined_declarator;\n", 4)

var (
	pragma      = regexp.MustCompile(`(?m)^[ \t]*#[ \t]*pragma[ \t]+(scop|endscop)[ \t\r]*(//.*|/\*[^*\n]*\*/[ \t\r]*)?$`)
	defineShape = regexp.MustCompile(`^[A-Za-z_][A-Za-z_0-9]*$`)
	lastWord    = regexp.MustCompile(`([A-Za-z_]\w*)\s+$`)
	position    = regexp.MustCompile(`(?s)^(.*?):(\d+):(\d+): (.*)$`)
	conflict    = regexp.MustCompile(`(?m)^<<<<<<< `)
	internals   = regexp.MustCompile(` \([a-z0-9_]+\.go:\d+:[^)]*\)`)
)

// parse preprocesses, parses and type checks a file. A function that is not to be read
// may be left out.
func parse(name string, text []byte, opts Options) (ast *cc.AST, read *files, err error) {
	u, err := newUnit(name, text, opts)
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if r := recover(); r != nil {
			ast, read, err = nil, nil, u.files.first(&Error{Pos: Pos{File: name}, Why: fmt.Sprintf("the parser fails: %v", r)})
		}
	}()
	if err = u.preprocess(); err == nil {
		ast, err = u.translate(opts.Function)
	}
	if _, ofFile := errors.AsType[*Error](err); ofFile {
		return nil, nil, cmp.Or[error](unresolved(name, text), err)
	}
	return ast, u.files, err
}

// unresolved is the error of a file that has the lines that git writes around the sides of a merge, nil if it has none.
// The parser finds shifts in them.
func unresolved(name string, text []byte) error {
	at := conflict.FindIndex(blank(text, false))
	if at == nil {
		return nil
	}
	line, _, _ := bytes.Cut(text[at[0]:], []byte("\n"))
	return &Error{Pos: Pos{File: name, Line: 1 + bytes.Count(text[:at[0]], []byte("\n")), Column: 1},
		Why: fmt.Sprintf("the line %q is of a merge that is not resolved: keep one side", bytes.TrimRight(line, "\r"))}
}

// A unit is what the parser is given of a file.
type unit struct {
	name       string
	text       []byte // of the file
	marked     []byte // what of it is parsed
	predefined string
	files      *files
	cfg        *cc.Config
}

func newUnit(name string, text []byte, opts Options) (*unit, error) {
	u := &unit{name: name, text: text, predefined: predefinedMacros, files: &files{dirs: opts.IncludeDirs}}
	for _, define := range opts.Defines {
		macro, value, given := strings.Cut(define, "=")
		if !given {
			value = "1"
		}
		if !defineShape.MatchString(macro) || strings.ContainsAny(value, "\n\r\\") {
			return nil, fmt.Errorf("-D %q: want NAME=VALUE, or NAME", define)
		}
		if slices.Contains([]string{"defined", "__LINE__", "__FILE__", "__DATE__", "__TIME__", "__COUNTER__"}, macro) {
			return nil, fmt.Errorf("-D %q: the preprocessor keeps %s to itself", define, macro)
		}
		u.predefined += fmt.Sprintf("#define %s %s\n", macro, value)
	}
	if err := checkFolders(opts.IncludeDirs); err != nil {
		return nil, err
	}
	bounded, err := u.files.bounded(name, text)
	if err != nil {
		return nil, err
	}
	u.marked = pragma.ReplaceAllFunc(bounded, func(line []byte) []byte {
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

// sources are what the parser reads, from the start.
func (u *unit) sources() []cc.Source {
	u.files.start()
	return []cc.Source{
		{Name: predefinedName, Value: u.predefined + "extern int " + beginMark + ", " + endMark + ";\nint __predefined_declarator;\n"},
		{Name: u.name, Value: framed(u.marked)},
		{Name: trailerName, Value: trailer},
	}
}

// preprocess finds what the preprocessor and the parser would stumble over.
func (u *unit) preprocess() error {
	var expanded limited
	if err := cc.Preprocess(u.cfg, u.sources(), &expanded); err != nil {
		failed := parserError(u.name, err)
		if lines := strings.Split(u.predefined, "\n"); failed.Pos.File == predefinedName && failed.Pos.Line <= len(lines) {
			macro, value, _ := strings.Cut(strings.TrimPrefix(lines[max(failed.Pos.Line, 1)-1], "#define "), " ")
			return fmt.Errorf("-D %q: %s", macro+"="+value, failed.Why)
		}
		if at := unclosed(u.name, u.text); failed.Why == "expected #endif" && at.Line > 0 {
			failed = &Error{Pos: at, Why: "no #endif ends this"}
		}
		return u.files.first(failed)
	}
	if u.files.failed != nil {
		return u.files.failed
	}
	switch why := unparsable(expanded.text); why {
	case "":
	case utf8Text:
		return &Error{Pos: lineOf(u.name, u.text, `u8"`), Why: why}
	default:
		return &Error{Pos: unmatched(u.name, u.text), Why: why}
	}
	if at := renumbered(u.name, u.text); at.Line > 0 && bytes.Contains(u.text, []byte("__LINE__")) {
		return &Error{Pos: at, Why: "a line directive of this form is not understood in a file with __LINE__: write #line NUMBER, or leave it out"}
	}
	if m := otherwise.FindSubmatch(blank(expanded.text, false)); m != nil {
		return &Error{Pos: lineOf(u.name, u.text, string(m[1])), Why: fmt.Sprintf("__attribute__((%s(...))) is not understood", m[1])}
	}
	if m := renamed.FindSubmatch(expanded.text); m != nil {
		return &Error{Pos: lineOf(u.name, u.text, string(m[1])), Why: "another name of an array is not understood: write the array"}
	}
	return nil
}

// utf8Text refuses text of which the parser has another length than C.
const utf8Text = `a text in u8"..." is not understood: leave u8 out`

// lineForm is a line directive, and that which the parser has as C has it.
var (
	lineForm  = regexp.MustCompile(`^\s*#\s*(line\b|\d)`)
	plainLine = regexp.MustCompile(`^\s*#\s*line\s+\d+\s*("[^"]*"\s*)?$`)
)

// renumbered is the first line directive that the parser passes over; no line if none is.
func renumbered(name string, text []byte) Pos {
	for _, line := range logicalLines(text) {
		if lineForm.MatchString(line.text) && !plainLine.MatchString(line.text) {
			return Pos{File: name, Line: line.number, Column: 1}
		}
	}
	return Pos{File: name}
}

// otherwise are the attributes that make another type of what is declared, give it the place of something else, or call a function.
var otherwise = regexp.MustCompile(`\b__attribute(?:__)?\s*\(\s*\((?:[^()]|\([^()]*\))*?\b(?:__)?(mode|vector_size|alias|weakref|cleanup)(?:__)?\s*\(`)

// renamed is an array that has another's name for the linker.
var renamed = regexp.MustCompile(`\]\s*(asm|__asm|__asm__)\b`)

// lineOf is the first line of a text that says something; no line if none does.
func lineOf(name string, text []byte, says string) Pos {
	for _, line := range logicalLines(text) {
		if at := strings.Index(line.text, says); at >= 0 {
			return Pos{File: name, Line: line.number, Column: at + 1}
		}
	}
	return Pos{File: name}
}

// translate parses and checks types, without the bodies of functions but one if that needs be.
func (u *unit) translate(function string) (*cc.AST, error) {
	ast, err := cc.Translate(u.cfg, u.sources())
	if err != nil && u.files.failed == nil {
		if u.marked, u.files.leftOut = withoutBodies(u.name, u.marked, function, u.placed(err)); len(u.files.leftOut) > 0 {
			ast, err = cc.Translate(u.cfg, u.sources())
		}
	}
	if err != nil {
		e := parserError(u.name, u.placed(err))
		if e.Pos.File == trailerName { // what the parser misses is not there
			_, want, _ := strings.Cut(e.Why, ", ")
			e = &Error{Pos: endOf(u.name, u.text), Why: fmt.Sprintf("the file ends before this declaration does (%s)", want)}
		}
		if before := wordBefore(u.text, e.Pos); e.Pos.File == u.name && strings.HasPrefix(e.Why, "unexpected identifier") && before != "" {
			e.Why = before + " is not known here as a type: include its header, or write a typedef"
		}
		return nil, u.files.first(e)
	}
	return ast, nil
}

// placed has the errors about types that the parser does not have, such as _Float16, once for each place
// where the file says the type: they have none.
func (u *unit) placed(failed error) error {
	var lines []string
	code := blank(u.marked, false)
	for line := range strings.SplitSeq(failed.Error(), "\n") {
		kind, _, lacks := strings.Cut(line, " not supported on ")
		var places [][]int
		if lacks && defineShape.MatchString(kind) {
			places = regexp.MustCompile(`\b`+kind+`\b`).FindAllIndex(code, -1)
		}
		if len(places) == 0 {
			lines = append(lines, line)
		}
		for _, at := range places {
			before := code[:at[0]]
			row, column := 1+bytes.Count(before, []byte("\n")), len(before)-bytes.LastIndexByte(before, '\n')
			lines = append(lines, fmt.Sprintf("%s:%d:%d: the type %s is not understood", u.name, row, column, kind))
		}
	}
	return errors.New(strings.Join(lines, "\n"))
}

// endOf is the place of the last character of a text that is no white space.
func endOf(name string, text []byte) Pos {
	lines := bytes.Split(bytes.TrimRight(text, " \t\r\n"), []byte("\n"))
	return Pos{File: name, Line: len(lines), Column: max(len(lines[len(lines)-1]), 1)}
}

// overridden notes which macros from outside the file defines anew.
func overridden(ast *cc.AST, defines []string) (notes []Note) {
	for _, define := range defines {
		name, _, _ := strings.Cut(define, "=")
		m := ast.Macros[name]
		if m == nil || m.IsConst || place(m.Name).File == predefinedName {
			continue
		}
		notes = append(notes, Note{Define: define, Pos: place(m.Name), Text: fmt.Sprintf("%s is redefined here, and -D %s has no effect from here on (#ifndef %s around this line lets it have one)", name, define, name)})
	}
	return notes
}

// unused notes which macros from outside no text that was read has in it: a name that is spelt wrong
// leaves everything as it was.
func unused(name string, texts [][]byte, defines []string) (notes []Note) {
	if slices.ContainsFunc(texts, func(text []byte) bool { return bytes.Contains(text, []byte("##")) }) {
		return nil // which makes names
	}
	for _, define := range defines {
		macro, _, _ := strings.Cut(define, "=")
		word := regexp.MustCompile(`\b` + macro + `\b`)
		builtIn := func(header string) bool { return word.MatchString(headers[header]) }
		ofAnother := func(other string) bool {
			_, value, _ := strings.Cut(other, "=")
			return word.MatchString(value)
		}
		if slices.ContainsFunc(texts, word.Match) || slices.ContainsFunc(headerNames(), builtIn) || slices.ContainsFunc(defines, ofAnother) || strings.HasPrefix(macro, "_") {
			continue // what begins so is for headers that are not read
		}
		notes = append(notes, Note{Define: define, Pos: Pos{File: name}, Text: fmt.Sprintf("-D %s has no effect: nothing in it is called %s", define, macro)})
	}
	return notes
}

// number is what Go says of text that is none, or too large.
var number = regexp.MustCompile(`strconv\.Parse[A-Za-z]+: parsing ("[^"]*"): (invalid syntax|value out of range)`)

// parserError is the first of the parser's errors.
func parserError(name string, err error) *Error {
	line, _, _ := strings.Cut(err.Error(), "\n")
	line = internals.ReplaceAllString(line, "")
	m := position.FindStringSubmatch(line)
	if m == nil {
		return &Error{Pos: Pos{File: name}, Why: strings.TrimSuffix(strings.TrimPrefix(line, name+": "), ":")}
	}
	e := &Error{Pos: Pos{File: m[1]}, Why: strings.TrimSuffix(m[4], ":")}
	e.Pos.Line, _ = strconv.Atoi(m[2])
	e.Pos.Column, _ = strconv.Atoi(m[3])
	if n := number.FindStringSubmatch(e.Why); n != nil {
		e.Why = map[string]string{"invalid syntax": n[1] + " is not a number in C", "value out of range": n[1] + " is larger than any integer of C"}[n[2]]
	}
	e.Why = ofGrowing.ReplaceAllString(e.Why, "$1 is a macro that makes a string of an argument, or pastes two, which is not understood")
	switch {
	case strings.Contains(e.Why, "include file not found"):
		e.Why += " (only folders that -I names are looked in, "
		if strings.Contains(e.Why, "../") {
			e.Why += "which no name with .. leads out of, "
		}
		e.Why += "and the headers " + strings.Join(headerNames(), " ") + " are built in"
		if strings.Contains(e.Why, `not found: "`) {
			e.Why += "; -I " + cmp.Or(filepath.Dir(e.Pos.File), ".") + " looks in the file's"
		} else {
			e.Why += "; if the loops need nothing of it, an empty file of that name in a folder of -I will do"
		}
		e.Why += ")"
	case e.Why == "internal error":
		e.Why = "the condition has something that is not a number"
	case strings.HasPrefix(e.Why, "unexpected '@'"):
		e.Why = "a character or text constant is not closed on its line, or there is an @, which is not C"
	case strings.Contains(e.Why, "*cc."): // types of the parser, where it meets what it does not know
		e.Why = "the parser does not know what this declares or computes: write it otherwise, such as the type's name instead of typeof"
	case strings.Contains(e.Why, "macro expansion limit"):
		e.Why = fmt.Sprintf("it has more than %d tokens, with its macros expanded", maxWork)
	}
	return e
}

// wordBefore is the name, or the keyword, that stands before a place, "" if there is none.
func wordBefore(text []byte, at Pos) string {
	lines := bytes.Split(text, []byte("\n"))
	if at.Line < 1 || at.Line > len(lines) || at.Column < 1 || at.Column > len(lines[at.Line-1]) {
		return ""
	}
	m := lastWord.FindSubmatch(lines[at.Line-1][:at.Column-1])
	if m == nil {
		return ""
	}
	return string(m[1])
}

// limited is text up to a limit.
type limited struct{ text []byte }

func (l *limited) Write(p []byte) (int, error) {
	if len(l.text)+len(p) > maxText {
		return 0, fmt.Errorf("after its macros are expanded, it has more than %d bytes", maxText)
	}
	l.text = append(l.text, p...)
	return len(p), nil
}

// unparsable says why a text without comments and macros is none for the parser,
// if it is not. It may be nested too deeply, where a token is inside of all before
// it, but for brackets that are closed and what ends with a comma or a semicolon.
// And its brackets may not match, with which the parser runs into the end.
func unparsable(text []byte) string {
	const mismatch = "its brackets ( [ { } ] ) do not match"
	var open []bracket
	inside, elses := 0, 0
	for at := 0; at < len(text); {
		c := text[at]
		switch {
		case c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\v' || c == '\f':
			at++
			continue
		case c == '"' || c == '\'':
			at = quoted(text, at)
		case word(c):
			start := at
			for at < len(text) && word(text[at]) {
				at++
			}
			switch string(text[start:at]) {
			case "else":
				elses++
			case "u8":
				if at < len(text) && text[at] == '"' {
					return utf8Text
				}
			}
		default:
			at++
		}
		inside++
		switch c {
		case '(', '[', '{':
			open = append(open, bracket{closes[c], inside})
		case ')', ']', '}':
			if len(open) == 0 || open[len(open)-1].end != c {
				return mismatch
			}
			inside, open = open[len(open)-1].inside, open[:len(open)-1]
		}
		if c == ';' || c == ',' || c == '}' {
			if inside = 0; len(open) > 0 {
				inside = open[len(open)-1].inside
			}
		}
		if inside > maxNesting {
			return fmt.Sprintf("more than %d tokens inside of each other", maxNesting)
		}
	}
	switch {
	case len(open) > 0:
		return mismatch
	case elses > maxElse:
		return fmt.Sprintf("more than %d times else", maxElse)
	}
	return ""
}

// unmatched is the line of a bracket that is not closed or not opened in the text
// of the file; no line if they match there.
func unmatched(name string, text []byte) Pos {
	var open []bracket // inside is the line
	for _, line := range logicalLines(text) {
		if strings.HasPrefix(strings.TrimSpace(line.text), "#") {
			continue
		}
		for at := 0; at < len(line.text); at++ {
			switch c := line.text[at]; c {
			case '"', '\'':
				at = quoted([]byte(line.text), at) - 1
			case '(', '[', '{':
				open = append(open, bracket{closes[c], line.number})
			case ')', ']', '}':
				if len(open) == 0 || open[len(open)-1].end != c {
					return Pos{File: name, Line: line.number, Column: at + 1}
				}
				open = open[:len(open)-1]
			}
		}
	}
	if len(open) > 0 {
		return Pos{File: name, Line: open[len(open)-1].inside, Column: 1}
	}
	return Pos{File: name}
}

var conditional = regexp.MustCompile(`^\s*#\s*(if|ifdef|ifndef|endif)\b`)

// unclosed is the line of the innermost #if of the text of the file that no #endif ends;
// no line if there is none.
func unclosed(name string, text []byte) Pos {
	var open []int // lines
	for _, line := range logicalLines(text) {
		switch m := conditional.FindStringSubmatch(line.text); {
		case m == nil:
		case m[1] != "endif":
			open = append(open, line.number)
		case len(open) > 0:
			open = open[:len(open)-1]
		}
	}
	if len(open) == 0 {
		return Pos{File: name}
	}
	return Pos{File: name, Line: open[len(open)-1], Column: 1}
}

// A bracket is one that is open: what closes it, and how deep its inside is.
type bracket struct {
	end    byte
	inside int
}

var closes = map[byte]byte{'(': ')', '[': ']', '{': '}'}

func word(c byte) bool {
	return c == '_' || c == '.' || c >= 0x80 || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// quoted is the place behind a string or character constant.
func quoted(text []byte, at int) int {
	quote := text[at]
	for at++; at < len(text) && text[at] != quote && text[at] != '\n'; at++ {
		if text[at] == '\\' {
			at++
		}
	}
	return at + 1
}

// bounded is a text without what would take the preprocessor without end: macros that are growing stand for a name
// that nothing declares, so that what uses one is not understood. It refuses a text that is too long.
func (f *files) bounded(name string, text []byte) ([]byte, error) {
	if len(text) > maxFile {
		return nil, &Error{Pos: Pos{File: name}, Why: fmt.Sprintf("more than %d bytes", maxFile)}
	}
	text = continued.ReplaceAll(text, []byte("\\$1"))
	text = closed(text)
	raw := slices.Collect(bytes.Lines(text))
	for _, line := range logicalLines(text) {
		f.asks(name, line)
		if elseDefined.MatchString(line.text) {
			first := &raw[line.number-1]
			*first = bytes.Replace(bytes.Replace(*first, []byte("elifdef"), []byte("elif defined "), 1), []byte("elifndef"), []byte("elif !defined "), 1)
		}
		if !growing(line.text) {
			continue
		}
		m := defineFn.FindStringSubmatch(line.text)
		raw[line.number-1] = []byte(strings.TrimSuffix(line.text, m[3]) + " " + growingMark + m[1] + "\n")
		for k := line.number; k < line.end; k++ {
			raw[k] = []byte("\n")
		}
	}
	return slices.Concat(raw...), nil
}

// elseDefined are conditions that the parser takes for text: C23 has them, and GCC in every standard.
var elseDefined = regexp.MustCompile(`^\s*#\s*elifn?def\b`)

// closed is a text without quotes that are open at the end of their line where compilers take them: in an #error, and between
// conditions of the preprocessor that may leave them out. There they and what follows are a character that no C has.
func closed(text []byte) []byte {
	var out []byte
	depth, start := 0, 0 // start is that of the line in out
	for at := 0; at < len(text); at++ {
		rest := text[at:]
		switch c := text[at]; {
		case bytes.HasPrefix(rest, []byte("//")):
			end := lineEnd(text, at)
			out, at = append(out, text[at:end]...), end-1
		case bytes.HasPrefix(rest, []byte("/*")):
			_, behind, _ := bytes.Cut(rest[2:], []byte("*/"))
			inside := rest[:len(rest)-len(behind)]
			out, at = append(out, inside...), at+len(inside)-1
		case c == '"' || c == '\'':
			end := quoted(text, at)
			if end <= len(text) && text[end-1] == c {
				out, at = append(out, text[at:end]...), end-1
				continue
			}
			end = lineEnd(text, at)
			switch {
			case errorLine.Match(out[start:]):
				out = append(out, quotes.Replace(string(text[at:end]))...)
			case depth > 0:
				out = append(out, '@')
			default:
				out = append(out, text[at:end]...)
			}
			at = end - 1
		case c == '\n':
			if m := conditional.FindSubmatch(out[start:]); m != nil && string(m[1]) == "endif" {
				depth--
			} else if m != nil {
				depth++
			}
			out = append(out, c)
			start = len(out)
		default:
			out = append(out, c)
		}
	}
	return out
}

var quotes = strings.NewReplacer("'", "’", `"`, "’")

var errorLine = regexp.MustCompile(`^\s*#\s*(error|warning)\b`)

// lineEnd is where the line ends that a place is in.
func lineEnd(text []byte, at int) int {
	if n := bytes.IndexByte(text[at:], '\n'); n >= 0 {
		return at + n
	}
	return len(text)
}

// tellers are macros that GCC has and others have not, or not with this value, or that it has for some CPUs.
var tellers = regexp.MustCompile(`^\s*#\s*(?:if|ifdef|ifndef|elif)\b.*?\b(__GNUC__|__GNUC_MINOR__|__GNUC_PATCHLEVEL__|__GNUC_STDC_INLINE__|__NO_INLINE__|__VERSION__|__has_attribute|__has_c_attribute|__has_builtin|__SSE\w*__|__AVX\w*__|__FMA__|__ARM\w*)\b`)

// ofCPU are those of them that say which vectors there are, whose intrinsics are not read.
var ofCPU = regexp.MustCompile(`^__(SSE|AVX|FMA|ARM)`)

// asks keeps what a condition of the preprocessor asks for that tells one compiler from another.
func (f *files) asks(name string, line logicalLine) {
	m := tellers.FindStringSubmatch(line.text)
	if m == nil || f.asked[m[1]] {
		return
	}
	if f.asked == nil {
		f.asked = map[string]bool{}
	}
	f.asked[m[1]] = true
	what := "compiler"
	if ofCPU.MatchString(m[1]) {
		what = "CPU"
	}
	f.asking = append(f.asking, Note{Pos: Pos{File: name, Line: line.number, Column: 1}, Define: m[1], Text: fmt.Sprintf("%s is asked for here and not defined, as it tells one %s from another", m[1], what)})
}

// untold are the notes on what is asked for and not defined.
func untold(asking []Note, defines []string) (notes []Note) {
	for _, n := range asking {
		macro := n.Define
		if slices.ContainsFunc(defines, func(d string) bool { name, _, _ := strings.Cut(d, "="); return name == macro }) {
			continue
		}
		if n.Define = ""; !strings.HasPrefix(macro, "__has") {
			n.Text += fmt.Sprintf(" (-D %s=VALUE defines it)", macro)
		}
		notes = append(notes, n)
	}
	return notes
}

// continued is the end of a line that goes on in the next one: compilers pass over spaces behind the backslash.
var continued = regexp.MustCompile(`\\[ \t\v\f]+(\r?\n)`)

// growingMark is what the name begins with that a growing macro stands for.
const growingMark = "__growing_"

var (
	defineFn  = regexp.MustCompile(`^[ \t]*#[ \t]*define[ \t]+(\w+)\(([^)]*)\)(.*)$`)
	ofGrowing = regexp.MustCompile(`undefined: ` + growingMark + `(\w+)`)
	paste     = regexp.MustCompile(`(\w+)\s*##\s*(\w+)`)
	hash      = regexp.MustCompile(`##?`)
	ofPragma  = regexp.MustCompile(`\b_Pragma\s*\(\s*#\s*\w+\s*\)`) // the string goes no further
)

// growing tells whether a line defines a macro that can make tokens grow without bound, which
// the number of tokens does not tell: one that pastes two arguments or makes a
// string of one.
func growing(line string) bool {
	m := defineFn.FindStringSubmatch(line)
	if m == nil {
		return false
	}
	params := strings.FieldsFunc(m[2], func(r rune) bool { return r == ',' || r == ' ' || r == '\t' })
	params = append(params, "__VA_ARGS__")
	body := ofPragma.ReplaceAllString(m[3], "")
	for {
		at := paste.FindStringSubmatchIndex(body)
		if at == nil {
			return hash.MatchString(body)
		}
		if slices.Contains(params, body[at[2]:at[3]]) && slices.Contains(params, body[at[4]:at[5]]) {
			return true
		}
		// What is pasted to the result is pasted to an argument as well.
		whole := "x"
		if slices.Contains(params, body[at[2]:at[3]]) || slices.Contains(params, body[at[4]:at[5]]) {
			whole = params[0]
		}
		body = body[:at[0]] + whole + body[at[1]:]
	}
}

// A logicalLine is a line without comments, with those that it goes on in, and
// the numbers of the first and the last of them.
type logicalLine struct {
	number, end int
	text        string
}

func logicalLines(text []byte) []logicalLine {
	var lines []logicalLine
	var line []byte
	number, next := 1, 1
	add := func() {
		lines = append(lines, logicalLine{number, next, string(line)})
		line, number = nil, next+1
	}
	for at := 0; at < len(text); at++ {
		rest := text[at:]
		switch c := text[at]; {
		case bytes.HasPrefix(rest, []byte("\\\n")):
			at, next = at+1, next+1
		case bytes.HasPrefix(rest, []byte("\\\r\n")):
			at, next = at+2, next+1
		case bytes.HasPrefix(rest, []byte("//")):
			for at+1 < len(text) && text[at+1] != '\n' {
				at++
			}
		case bytes.HasPrefix(rest, []byte("/*")):
			_, behind, _ := bytes.Cut(rest[2:], []byte("*/"))
			inside := rest[:len(rest)-len(behind)]
			next += bytes.Count(inside, []byte("\n"))
			at += len(inside) - 1
			line = append(line, ' ')
		case c == '"' || c == '\'':
			end := min(quoted(text, at), len(text))
			line = append(line, text[at:end]...)
			next += bytes.Count(text[at:end], []byte("\n"))
			at = end - 1
		case c == '\n':
			add()
			next++
		default:
			line = append(line, c)
		}
	}
	add()
	return lines
}
