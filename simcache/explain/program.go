package explain

import (
	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache"
)

// A Source is the text of a program.
type Source struct {
	Function   string // that holds the statements, for cg_annotate
	Statements []Statement
	Accesses   []Access // by their numbers in the program
	Arrays     []nest.Array
	Align      int // bytes; arrays begin at multiples of it
	// depth of the outermost loop that may carry a scalar's value between iterations
	Carried int
}

// A Statement is a statement of a source file.
type Statement struct {
	File         string
	Line, Column int
	Text         string
}

// An Access is a reference to an array in a statement.
type Access struct {
	Statement int // index in Source.Statements
	Text      string
}

// RunOfProgram returns the counts of passes over a program with a source. The counts are by access,
// as Hierarchy.RunProgram returns them.
func RunOfProgram(h *simcache.Hierarchy, c simcache.Config, p nest.Program, source Source,
	counts []simcache.Counts, passes int) Run {
	operands := p.Operands()
	tensors := ByTensor([]nest.Nest{{Operands: operands}}, [][]simcache.Counts{counts})
	r := RunOf(h, c, tensors, nil, passes)
	r.program = &program{p, operands, p.Around(), source, counts}
	r.Arrays, r.Align = source.Arrays, source.Align
	return r
}

// A program is the simulated program of a Run without nests.
type program struct {
	nest.Program
	operands []nest.Operand
	around   [][]*nest.Loop
	source   Source
	counts   []simcache.Counts // by access
}

// statement returns the one that an access is in.
func (p *program) statement(op int) Statement {
	return p.source.Statements[p.source.Accesses[op].Statement]
}

// Lines returns the counts by line of the source, for WriteOut.
func (r Run) Lines() []Line {
	switch {
	case r.Code != nil:
		return r.Code
	case r.program == nil:
		return r.Tensors
	}
	var lines []Line
	for i, c := range r.statements() {
		s := r.program.source.Statements[i]
		lines = append(lines, Line{Function: r.program.source.Function, File: s.File,
			Number: s.Line, Counts: c})
	}
	return lines
}

func (r Run) statements() []simcache.Counts {
	sums := make([]simcache.Counts, len(r.program.source.Statements))
	for op, a := range r.program.source.Accesses {
		sums[a.Statement] = sums[a.Statement].Add(r.program.counts[op])
	}
	return sums
}

func (r Run) statementTable() Table {
	if r.program == nil || r.Counts.Refs() == 0 {
		return nil
	}
	t := r.head("statement")
	for i, c := range r.statements() {
		if c.Refs() == 0 {
			continue
		}
		t = append(t, r.misses(r.place(i), c))
	}
	return t
}
