// Package csource reads the affine loops of a C file as a program of package nest: every access to
// an array, in C's order. What it reads is exact. What is not affine is refused with an [Error]
// that has its place and a reason.
//
// How often a function's loops miss takes three steps, which the first example shows:
//
//  1. [Read] reads the text of a file: the body of a function ([Options].Function), or what lies
//     between #pragma scop and #pragma endscop. Options.Defines sets macros and parameters.
//  2. simcache's Hierarchy.RunProgram simulates [File].Program. It returns the counts of each
//     access, by its number.
//  3. [File].Accesses says which reference of the text a number is: its array, statement and place.
//     [File.Source] has the same for package explain, which prints the counts line by line.
//
// # Accesses
//
// The table in docs/exact.md lists what is understood. Accesses and their order:
//
//   - Only references to arrays are accesses. Scalars live in registers.
//   - A statement reads in the order of its text after macro expansion, then it writes. Call
//     arguments are evaluated from the last one, as GCC does on x86-64.
//   - A compound assignment reads its left side first, but last if the right side calls a function
//     that may do more than compute: sqrt may set errno. A reference written twice is two accesses.
//   - A condition on data within an expression counts with both arms, and && and || with all
//     operands. A note says so. A condition on the loops' variables counts with the arm that C
//     takes. An "if" on data is refused.
//   - A pointer is the address that it was assigned, with the subscripts' values of that time.
//   - A call of a function of the file that uses arrays is its body, after the arguments.
//   - An index outside its extent is refused where an access uses it.
//
// # Places
//
// Arrays are placed in declaration order, used or not: the file's, then the parameters and
// variables of the function that is read. The first lies at Options.Origin, each next one at the
// next multiple of Options.Align.
//
// A file is read as far as the function needs it. No compiler is asked, and a file means the same
// on every machine: 64-bit Linux, with an int of 4 bytes and a long of 8.
package csource

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"modernc.org/cc/v4"

	"github.com/stridebench/stridebench/access/given"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/explain"
)

// DefaultAlign is the default alignment of arrays in bytes: a cache line.
const DefaultAlign = 64

// Options say how a file is read. The zero value is valid.
type Options struct {
	// Defines are macros: NAME=VALUE, or NAME for NAME=1. Where the file declares an integer of
	// that name, such as a parameter int n, they set its value. p->n=64 sets a field. x[n*n] says
	// how much a parameter double *x points to.
	Defines     []string
	IncludeDirs []string // folders that #include looks in
	Function    string   // read the body of this function; "" for the region between the pragmas
	// Align is the alignment of arrays in bytes, a power of two; 0 means DefaultAlign.
	Align int
	// Origin is the address of the first array, a multiple of Align; 0 means 1<<32. The address of
	// a[i-c] without i may be below 0 for a large c. The first array then lies at the first
	// multiple of Origin that keeps all such addresses at 0 or above.
	Origin uint64
}

// A File is what Read finds in a C file.
type File struct {
	Function   string // that was read, or that holds the region
	Program    nest.Program
	Accesses   []Access // by their numbers in the program
	Statements []Statement
	Arrays     []Array  // in declaration order, used or not
	Notes      []*Error // what a reader of the counts should know
	Align      int      // of Options
	// Carried is the depth of the outermost loop that carries a scalar's value, or an unknown
	// effect of a call, from one iteration to the next. It exceeds the number of loops if none
	// does.
	Carried int
}

// An Access is a reference to an array, also through a pointer. Where a condition chooses one of
// two bounds or subscripts, the program has an access for each case, at the same place in the text.
type Access struct {
	Array     int // index in File.Arrays
	Statement int // index in File.Statements
	Pos       Pos
	Text      string // as written; after macros if one makes several accesses, or in a header
}

// A Statement is an expression statement, a return, or a declaration with an initial value.
type Statement struct {
	Pos  Pos
	Text string // as written; after macros if one makes several statements, or in a header
}

// An Array is an array of numbers or structs, or a struct that holds arrays, which has no extents.
type Array struct {
	Name    string
	Type    string // of an element
	Element int    // bytes of an element
	Extents []int
	Base    uint64 // address
}

// Source returns the file's text for package explain.
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

// A Pos is a place in a file; columns are bytes, from 1. A macro's expansion is where the macro is
// used.
type Pos struct {
	File         string
	Line, Column int // 0 if unknown
}

// String returns file:line:column, or the file alone if the line is unknown.
func (p Pos) String() string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

// An Error says where and why text is refused, or is a note.
type Error struct {
	Pos  Pos
	Expr string // as written, after macros; may be empty
	Why  string
	// Outside says that an index is outside its array, which no compiler mends.
	Outside bool
	Define  string // the Options.Defines entry that a note says has no effect

	data bool // the reason depends on data
	room bool // the array still takes up its place
}

// Error returns the place, the expression if there is one, and the reason.
func (e *Error) Error() string {
	if e.Expr == "" {
		return fmt.Sprintf("%v: %s", e.Pos, e.Why)
	}
	return fmt.Sprintf("%v: %s: %s", e.Pos, e.Expr, e.Why)
}

const highest = 1 << 62

// maxRounds bounds how often a file is built: again for each strip-mined loop or moved origin.
const maxRounds = 100

// Read reads a C file's text. The file name need not exist. An error about the text is an [*Error].
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
	g, err := given.Parse(text, opts.Defines)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	opts.Defines = g.Macros
	u, ast, err := parse(name, text, opts, sized(g))
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

// A named is a statement or an access, with its text after macros.
type named struct {
	at   Pos
	text *string
	node cc.Node
}

// name replaces texts after macros by the text in the file, unless members of the list with
// different texts share a place.
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

// textBetween returns a line's text from a column to the end of the token at another column. If a
// macro makes the token, the text includes the macro's arguments; it is "" if they continue on
// another line.
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

func (b *builder) unreadable() (notes []*Error) {
	for _, name := range slices.Sorted(maps.Keys(b.unit.leftOut)) {
		e := b.unit.leftOut[name]
		text := fmt.Sprintf("%s is left out: %s; nothing that is counted calls it", name, e.Why)
		notes = append(notes, &Error{Pos: e.Pos, Why: text})
	}
	return notes
}
