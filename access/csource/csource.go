// Package csource reads the loops of a C file as a program of package nest:
// every access to an array, in the order in which C makes them.
//
// What is read lies between #pragma scop and #pragma endscop, or is the body of a
// function. Understood are arrays of constant extents, "for" loops whose bounds
// are affine functions of the variables of the loops around them (also the least
// or the greatest of several), "if" on affine conditions, assignments, and
// expressions of any kind, also by pointers, by pointers and integers that steps change (*p++,
// k += 2), that are swapped, or that conditions on the loops' variables choose (t % 2 ? a : b),
// and in functions of the file that are called. Loops may also count by such variables
// (p < end, i < j), as may "while" (n--) and "do". The rest is refused with its place in the
// file and a reason ([Error]): what is read is exact or it is not read.
//
// What counts as an access, and in which order:
//
//   - Only references to arrays are accesses. Scalars live in registers.
//   - In a statement the reads come first, in the order of the text after macros
//     are expanded, then the write; but of the arguments of a call those of the last one come first, as GCC (x86-64) has it
//     (isless and the like are operators for it).
//     A compound assignment reads its left side before the right one, unless that changes something, reads what is
//     volatile or calls a function that is not known to do no more than compute (fabs is, sqrt may set errno);
//     A[i]++ reads, then writes. A reference that is written twice is two accesses.
//   - Of a condition on data within an expression the condition and both arms are
//     counted, and all operands of && and ||; a [Note] says so. Of a condition on
//     the loops' variables the arm that C takes is counted, and the operand of &&
//     or || behind it where C comes to it: of i > 0 && a[i-1] > 0 ? b[i-1] : 0,
//     a[i-1] and b[i-1] where i > 0.
//   - An "if" on data is refused.
//   - A parameter that is a pointer points to an array of its own where a define says how much it points to, and one that is
//     an integer begins with the value that a define gives it; steps may change both.
//   - What a pointer points to is accessed as the array that it was made of, with the
//     subscripts that it had then and those that move it. Making one is no access.
//   - A call of a function of the file that uses arrays is its body, behind the arguments. Beside
//     other accesses of an expression it is read where it stands, in arguments, and in sums and products
//     that GCC evaluates in the order of the text, as f(a) * b[i]; elsewhere it is refused.
//   - Where a condition on the loops' variables chooses what a pointer points to, or where it
//     points to one of several in turn, what depends on it is in the program once for each.
//     What is no affine function (products of variables, shifts by them, steps that differ) is
//     read one iteration at a time where loops are short.
//   - What counts is what executes: an index out of its extent is refused only
//     where an access is made with it, and every index has to lie within its own
//     extent.
//   - An array of constant integers is read where it is a subscript, in front of what it is
//     a subscript of, and has its values there. A loop that chooses of it is unrolled.
//   - Constants are computed as C computes them, in their types, and so are quotients
//     and remainders of the loops' variables by constants, and what goes round as a remainder does
//     (r = r == n - 1 ? 0 : r + 1). A loop in which one begins again and again is two in the program.
//   - Arrays and functions that are not understood are refused where they are used;
//     where they are not, a [Note] says what is wrong with them. OpenMP's pragmas are
//     ignored, with a note.
//
// Arrays lie in the order of their declarations, used or not, the first at
// Options.Origin and each next at the next multiple of Options.Align: those of
// the file, and the parameters and variables of the function that is read.
//
// The preprocessor knows the language's headers by itself and reads others only
// in folders that it is told. No compiler is asked, and a file means the same on
// every machine: that of 64-bit Linux, where an int has 4 bytes and a long 8.
package csource

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"modernc.org/cc/v4"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/explain"
)

// DefaultAlign is the bytes to whose multiples arrays are aligned that nothing else is
// asked for: those of a cache line.
const DefaultAlign = 64

// Options say how a file is read. The zero value will do.
type Options struct {
	// Defines are macros, NAME=VALUE, or NAME for NAME=1; and the values of variables,
	// where the file declares an integer of the name, such as a parameter int n; and of parameters of
	// the function that is read how much they point to, x[n*n] of a double *x.
	Defines     []string
	IncludeDirs []string // folders that #include looks in
	Function    string   // read the body of this function; "" for the region between the pragmas
	Align       int      // bytes, a power of two; arrays start at multiples of it. 0 for DefaultAlign
	// Origin is the address of the first array, a multiple of Align; 0 for 1<<32. Where an address without its variables would be
	// below 0, as of a[i-c] for a large c, it is the first multiple of Origin for which none is.
	Origin uint64
}

// A File is what a C file does.
type File struct {
	Function   string // that was read, or that the region is in
	Program    nest.Program
	Accesses   []Access // by their numbers in the program
	Statements []Statement
	Arrays     []Array // in the order of their declaration, used or not
	Notes      []Note
	Align      int // of Options
	// Carried is the depth of the outermost loop from whose one iteration to the next a scalar may keep a
	// value, or a call something that is not known; more than there are loops if none does.
	Carried int
}

// An Access is a reference to an array in the text, be it by a pointer. Where a loop's bound is one
// of two that a condition chooses, or a subscript, the program has an access for
// each case, with the same place in the text.
type Access struct {
	Array     int // its place in File.Arrays
	Statement int // its place in File.Statements
	Pos       Pos
	Text      string // as written; after macros where one makes several accesses, or in a header
}

// A Statement is an expression statement, a return, or a declaration with an
// initial value.
type Statement struct {
	Pos  Pos
	Text string // as written; after macros where one makes several, or in a header, or in a function that is called more than once
}

// An Array is an array of numbers or structs, or a struct that holds arrays, which has no extents.
type Array struct {
	Name    string
	Type    string // of an element
	Element int    // bytes of one
	Extents []int
	Base    uint64 // address
}

// Source is the file's text for who says what was counted.
func (f *File) Source() explain.Source {
	s := explain.Source{Function: f.Function, Align: f.Align, Carried: f.Carried}
	for _, a := range f.Arrays {
		s.Arrays = append(s.Arrays, nest.Array{Tensor: a.Name, Base: a.Base, Element: a.Element, Extents: a.Extents})
	}
	for _, one := range f.Statements {
		s.Statements = append(s.Statements, explain.Statement{File: one.Pos.File, Line: one.Pos.Line, Column: one.Pos.Column, Text: one.Text})
	}
	for _, a := range f.Accesses {
		s.Accesses = append(s.Accesses, explain.Access{Statement: a.Statement, Text: a.Text})
	}
	return s
}

// A Note is something that a reader of counts should know.
type Note struct {
	Pos    Pos
	Text   string
	Define string // of Options.Defines, where the note says that it has no effect
}

// String is the place and the text.
func (n Note) String() string { return fmt.Sprintf("%v: %s", n.Pos, n.Text) }

// A Pos is a place in a file; columns are bytes, from 1. What comes from a macro
// is where the macro is used.
type Pos struct {
	File         string
	Line, Column int // 0 where there is none
}

// String is file:line:column, or the file where that is all that is known.
func (p Pos) String() string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

// An Error is what is refused, where, and why.
type Error struct {
	Pos  Pos
	Expr string // as written, after macros; may be empty
	Why  string

	data  bool    // it depends on data
	below uint64  // how far below 0 an address without its variables is, in bytes
	apart []apart // the loops that would have to be read one iteration at a time
	fork  *fork   // it is no error where whoever builds can build twice
}

// Error is the place, the expression where there is one, and why.
func (e *Error) Error() string {
	if e.Expr == "" {
		return fmt.Sprintf("%v: %s", e.Pos, e.Why)
	}
	return fmt.Sprintf("%v: %s: %s", e.Pos, e.Expr, e.Why)
}

// Most is how many bytes of a file are read at most.
const Most = maxFile

// Read reads a C file of a name, which need not exist. An error about the file is
// an [*Error].
func Read(name string, text []byte, opts Options) (*File, error) {
	if opts.Align == 0 {
		opts.Align = DefaultAlign
	}
	if opts.Origin == 0 {
		opts.Origin = 1 << 32
	}
	for first := opts.Origin; ; {
		file, err := readAt(name, text, opts)
		low, is := errors.AsType[*Error](err)
		if !is || low.below == 0 {
			return file, err
		}
		more := (low.below + first - 1) / first * first
		if opts.Origin+more >= highest {
			return nil, err
		}
		opts.Origin += more
	}
}

// highest is below what arrays begin at most.
const highest = 1 << 62

// readAt is Read with the arrays at Origin.
func readAt(name string, text []byte, opts Options) (*File, error) {
	if opts.Align < 0 || opts.Align&(opts.Align-1) != 0 || opts.Origin%uint64(opts.Align) != 0 || opts.Origin >= highest {
		return nil, fmt.Errorf("arrays at multiples of %d from %#x: want a power of two, and the first at a multiple of it below 2^62", opts.Align, opts.Origin)
	}
	if name == "" {
		name = "<input>"
	}
	if bytes.HasPrefix(text, []byte{0x1F, 0x8B}) {
		return nil, &Error{Pos: Pos{File: name}, Why: "it is packed by gzip: unpack it first (gunzip)"}
	}
	text = withoutMark(text)
	var values map[string]int
	var err error
	var sizes map[string]string
	if i := slices.IndexFunc(opts.Defines, compiledOnly); i >= 0 {
		return nil, &Error{Pos: Pos{File: name}, Why: fmt.Sprintf("-D '%s': only what is compiled has that", opts.Defines[i])}
	}
	if opts.Defines, sizes, err = partSizes(opts.Defines); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if opts.Defines, values, err = partDefines(text, opts.Defines); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	ast, read, err := parse(name, text, opts)
	if err != nil {
		return nil, err
	}
	lines := strings.Split(string(text), "\n")
	b, err := newBuilder(name, ast, read.leftOut, values, sizes, packing(append(read.texts, text)), opts)
	if err != nil {
		return nil, err
	}
	if err := b.build(lines); err != nil {
		return nil, err
	}
	b.file.Function = b.main.Declarator.Name()
	asWritten(b.file.Statements, name, lines)
	b.file.Notes = slices.Concat(overridden(ast, opts.Defines), unused(name, append(read.texts, text), opts.Defines), b.unreadable(), untold(read.asking, opts.Defines), b.concerning(read.notes), b.file.Notes)
	return b.file, nil
}

var packs = regexp.MustCompile(`\b(_Alignas|alignas|__attribute__|__attribute|__declspec)\b|#\s*pragma\s+pack\b|_Pragma\s*\(\s*"pack`)

// packing is what in some of the texts may change how structs are laid out, "" for nothing:
// what the parser makes of it is not what every compiler does.
func packing(texts [][]byte) string {
	for _, text := range texts {
		if found := packs.Find(text); found != nil {
			return string(found)
		}
	}
	return ""
}

// asWritten gives statements of a file that macros have changed the text that the file has.
func asWritten(statements []Statement, name string, lines []string) {
	at := map[Pos]int{}
	for _, s := range statements {
		at[s.Pos]++
	}
	for i, s := range statements {
		if at[s.Pos] > 1 || s.Pos.File != name || s.Pos.Line < 1 || s.Pos.Line > len(lines) {
			continue
		}
		line := lines[s.Pos.Line-1]
		if s.Pos.Column < 1 || s.Pos.Column > len(line) {
			continue
		}
		written, _, ends := strings.Cut(line[s.Pos.Column-1:], ";")
		if n := comma(written); n < len(written) && comma(s.Text) == len(s.Text) { // one variable of several
			written, ends = written[:n], true
		}
		if ends && strings.Count(written, "(") == strings.Count(written, ")") && !strings.ContainsAny(written, "\"'{}") && !strings.Contains(written, "/*") && withoutSpace(written) != withoutSpace(s.Text) {
			statements[i].Text = strings.Join(strings.Fields(written), " ")
		}
	}
}

// comma is where the first one is outside of brackets, or the length of the text.
func comma(text string) int {
	depth := 0
	for i, c := range text {
		switch {
		case strings.ContainsRune("([{", c):
			depth++
		case strings.ContainsRune(")]}", c):
			depth--
		case c == ',' && depth == 0:
			return i
		}
	}
	return len(text)
}

// named gives accesses of a file that macros have changed the text that the file has, unless
// accesses of different texts have the same.
func (b *builder) named(accesses []access, lines []string) {
	written, different := make([]string, len(accesses)), map[Pos]map[string]bool{}
	for i, a := range accesses {
		if a.Pos.File == b.name && a.end.Line == a.Pos.Line && a.Pos.Line > 0 && a.Pos.Line <= len(lines) {
			written[i] = textBetween(lines[a.Pos.Line-1], a.Pos.Column-1, a.end.Column-1, a.last)
		}
		if different[a.Pos] == nil {
			different[a.Pos] = map[string]bool{}
		}
		different[a.Pos][a.Text] = true
	}
	for i, a := range accesses {
		text := withoutSpace(a.Text)
		if written[i] != "" && len(different[a.Pos]) == 1 && !strings.Contains(withoutSpace(written[i]), text) {
			accesses[i].Text = strings.Join(strings.Fields(written[i]), " ")
		}
	}
}

// textBetween is the text of a line from a column up to a token that begins at another, or, where a macro makes the
// token, up to the end of the macro and its arguments; "" if it has no end.
func textBetween(line string, from, to int, token string) string {
	if from < 0 || to < from || to >= len(line) {
		return ""
	}
	if strings.HasPrefix(line[to:], token) {
		return line[from : to+len(token)]
	}
	for to < len(line) && word(line[to]) {
		to++
	}
	if to == len(line) || line[to] != '(' {
		return line[from:to]
	}
	depth := 0
	for i := to; i < len(line); i++ {
		switch line[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return line[from : i+1]
			}
		}
	}
	return ""
}

func withoutSpace(text string) string { return strings.Join(strings.Fields(text), "") }

// unreadable are notes on the functions that are not understood, and not called.
func (b *builder) unreadable() (notes []Note) {
	for _, name := range slices.Sorted(maps.Keys(b.leftOut)) {
		e := b.leftOut[name]
		notes = append(notes, Note{Pos: e.Pos, Text: fmt.Sprintf("%s is left out: %s; nothing that is counted calls it", name, e.Why)})
	}
	return notes
}

// concerning are the notes on pragmas in the function that is read, and in those that it calls, or of which the place is not known.
func (b *builder) concerning(notes []Note) (kept []Note) {
	for _, n := range notes {
		if n.Pos.Line == 0 || slices.ContainsFunc(append(slices.Collect(maps.Keys(b.inlined)), b.main), func(f *cc.FunctionDefinition) bool {
			tokens := cc.NodeTokens(f)
			first, last := place(f), tokens[len(tokens)-1].Position()
			return n.Pos.File == first.File && n.Pos.Line >= first.Line && n.Pos.Line <= last.Line
		}) {
			kept = append(kept, n)
		}
	}
	return kept
}
