// Package csource reads the affine loops of a C file as a program of package nest: every access
// to an array, in the order in which C makes them. What is not affine is refused ([Error]), with
// its place and a reason: what is read is exact or it is not read.
//
// What is read lies between #pragma scop and #pragma endscop, or is the body of a function. The
// table in docs/exact.md says what is understood. What counts as an access, and in which order:
//
//   - Only references to arrays are accesses. Scalars live in registers.
//   - A statement reads in the order of its text, after macros are expanded, then it writes. Of
//     the arguments of a call the last one comes first, as GCC (x86-64) has it.
//   - A compound assignment reads its left side first, but last if the right one calls a function
//     that may do more than compute (sqrt may set errno). A reference that is written twice is two
//     accesses.
//   - Of a condition on data within an expression the condition and both arms are counted, and
//     all operands of && and ||; a [Note] says so. Of a condition on the loops' variables the
//     arm that C takes is counted. An "if" on data is refused.
//   - A pointer is what it was made of, with the subscripts that it had then.
//   - A call of a function of the file that uses arrays is its body, behind the arguments.
//   - An index out of its extent is refused where an access is made with it.
//
// Arrays lie in the order of their declarations, used or not, the first at
// Options.Origin and each next at the next multiple of Options.Align: those of
// the file, and the parameters and variables of the function that is read.
//
// A file is read as far as the function needs it. No compiler is asked, and a file means the
// same on every machine: that of 64-bit Linux, where an int has 4 bytes and a long 8.
package csource

import (
	"errors"
	"fmt"
	"maps"
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
	// Defines are macros, NAME=VALUE, or NAME for NAME=1; the values of variables, where the file
	// declares an integer of the name, such as a parameter int n; the values of fields, p->n=64;
	// and of parameters that are pointers how much they point to, x[n*n] of a double *x.
	Defines     []string
	IncludeDirs []string // folders that #include looks in
	Function    string   // read the body of this function; "" for the region between the pragmas
	// bytes, a power of two; arrays start at multiples of it. 0 for DefaultAlign
	Align int
	// Origin is the address of the first array, a multiple of Align; 0 for 1<<32. Where an address
	// without its variables would be below 0, as of a[i-c] for a large c, it is the first multiple
	// of Origin for which none is.
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
	// Carried is the depth of the outermost loop from whose one iteration to the next a scalar may
	// keep a value, or a call something that is not known; more than there are loops if none does.
	Carried int
}

// An Access is a reference to an array in the text, be it by a pointer. Where a loop's bound is
// one of two that a condition chooses, or a subscript, the program has an access for each case,
// with the same place in the text.
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
	Text string // as written; after macros where one makes several, or in a header
}

// An Array is an array of numbers or structs, or a struct that holds arrays, which has no
// extents.
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
		s.Arrays = append(s.Arrays, nest.Array{Tensor: a.Name, Base: a.Base, Element: a.Element,
			Extents: a.Extents})
	}
	for _, one := range f.Statements {
		s.Statements = append(s.Statements, explain.Statement{File: one.Pos.File,
			Line:   one.Pos.Line,
			Column: one.Pos.Column, Text: one.Text})
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
	// Outside says that an index is outside of its array, which no compiler mends.
	Outside bool

	data bool // it depends on data
	room bool // of an array that takes its place all the same
}

// Error is the place, the expression where there is one, and why.
func (e *Error) Error() string {
	if e.Expr == "" {
		return fmt.Sprintf("%v: %s", e.Pos, e.Why)
	}
	return fmt.Sprintf("%v: %s: %s", e.Pos, e.Expr, e.Why)
}

// highest is below what arrays begin at most.
const highest = 1 << 62

// maxRounds is how often a file is built, once more for each loop that is read in turns.
const maxRounds = 100

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
	if opts.Align < 0 || opts.Align&(opts.Align-1) != 0 || opts.Origin%uint64(opts.Align) != 0 ||
		opts.Origin >= highest {
		return nil, fmt.Errorf(
			"arrays at multiples of %d from %#x: want a power of two, and a multiple below 2^62",
			opts.Align,
			opts.Origin)
	}
	if name == "" {
		name = "<input>"
	}
	text = withoutMark(text)
	g, err := Parts(text, opts.Defines)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	opts.Defines = g.Macros
	u, ast, err := parse(name, text, opts, g.sized())
	if err != nil {
		return nil, err
	}
	lines := strings.Split(string(text), "\n")
	turns, first := map[cc.Node]int{}, opts.Origin
	for range maxRounds {
		b, err := newBuilder(u, ast, g, opts, turns)
		if err == nil {
			err = b.build(lines)
		}
		if err != nil {
			if _, ofFile := errors.AsType[*Error](err); !ofFile {
				err = fmt.Errorf("%s: %w", name, err)
			}
			return nil, err
		}
		if b.again {
			opts.Origin += (uint64(b.below) + first - 1) / first * first
			continue
		}
		b.file.Function = b.main.Declarator.Name()
		b.file.Notes = slices.Concat(overridden(ast, g.Macros), u.unused(g.Macros), b.unreadable(),
			u.files.missed, u.files.notes, b.file.Notes)
		return b.file, nil
	}
	return nil, &Error{Pos: Pos{File: name}, Why: "too many loops would have to be read in turns"}
}

// A named is a statement or an access, its text after macros, and the part of the parser's tree
// that it is.
type named struct {
	at   Pos
	text *string
	node cc.Node
}

// name gives those of a list that macros have changed the text that the file has, unless others
// of another text are at the same place.
func (b *builder) name(list []named, lines []string) {
	texts, several := map[Pos]string{}, map[Pos]bool{}
	for _, n := range list {
		before, again := texts[n.at]
		texts[n.at], several[n.at] = *n.text, several[n.at] || again && before != *n.text
	}
	for _, n := range list {
		tokens := cc.NodeTokens(n.node)
		last := tokens[len(tokens)-1]
		if end := place(last); several[n.at] || n.at.File != b.unit.name || end.Line != n.at.Line ||
			n.at.Line > len(lines) || n.at.Line < 1 {
			continue
		}
		written := textBetween(lines[n.at.Line-1], n.at.Column-1, last.Position().Column-1,
			last.SrcStr())
		if !strings.Contains(withoutSpace(written), withoutSpace(*n.text)) && written != "" {
			*n.text = strings.Join(strings.Fields(written), " ")
		}
	}
}

// textBetween is the text of a line from a column up to a token that begins at another, or, where
// a macro makes the token, up to the end of the macro and its arguments; "" if it has no end.
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

// unreadable are notes on the functions that are not understood, and not called.
func (b *builder) unreadable() (notes []Note) {
	for _, name := range slices.Sorted(maps.Keys(b.unit.leftOut)) {
		e := b.unit.leftOut[name]
		text := fmt.Sprintf("%s is left out: %s; nothing that is counted calls it", name, e.Why)
		notes = append(notes, Note{Pos: e.Pos, Text: text})
	}
	return notes
}
