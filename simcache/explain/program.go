package explain

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache"
)

// A Source is the text that a program was read from.
type Source struct {
	Function   string // that the statements are in, for cg_annotate
	Statements []Statement
	Accesses   []Access // by their numbers in the program
	Arrays     []nest.Array
	Align      int // bytes to whose multiples arrays are aligned
	Carried    int // depth of the outermost loop from whose one iteration to the next a scalar may keep a value
}

// A Statement is one of a source file.
type Statement struct {
	File         string
	Line, Column int
	Text         string
}

// An Access is a reference to an array in a statement.
type Access struct {
	Statement int // its place in Source.Statements
	Text      string
}

// RunOfProgram returns what a hierarchy with this configuration counted of passes over
// a program that was read from a text. The counts are those of each access, as
// Hierarchy.RunProgram returns them.
func RunOfProgram(h *simcache.Hierarchy, c simcache.Config, p nest.Program, source Source, counts []simcache.Counts, passes int) Run {
	operands := p.Operands()
	tensors := simcache.ByTensor([]nest.Nest{{Operands: operands}}, [][]simcache.Counts{counts})
	r := RunOf(h, c, tensors, nil, passes)
	r.program = &program{p, operands, p.Around(), source, counts}
	return r
}

// A program is what was simulated, where that is no list of nests.
type program struct {
	nest.Program
	operands []nest.Operand
	around   [][]*nest.Loop
	source   Source
	counts   []simcache.Counts // by access
}

// Lines are the counts by line of the source, for simcache.WriteOut.
func (r Run) Lines() []simcache.Line {
	if r.program == nil {
		return r.Tensors
	}
	var lines []simcache.Line
	for i, c := range r.statements() {
		s := r.program.source.Statements[i]
		lines = append(lines, simcache.Line{Function: r.program.source.Function, File: s.File, Number: s.Line, Counts: c})
	}
	return lines
}

// statements are the counts by statement.
func (r Run) statements() []simcache.Counts {
	sums := make([]simcache.Counts, len(r.program.source.Statements))
	for op, a := range r.program.source.Accesses {
		sums[a.Statement] = sums[a.Statement].Add(r.program.counts[op])
	}
	return sums
}

// statementTable has a row for each statement that refers to an array.
func (r Run) statementTable() Table {
	if r.program == nil {
		return nil
	}
	if r.Counts.Refs() == 0 {
		return nil
	}
	t := r.missesOf("statement")
	for i, c := range r.statements() {
		if c.Refs() == 0 {
			continue
		}
		t = append(t, r.misses(r.place(i), c))
	}
	return t
}

// wide is how many characters of a statement a table shows.
const wide = 48

// place is a statement's file, line and text.
func (r Run) place(i int) string {
	s := r.program.source.Statements[i]
	text := []rune(strings.Join(strings.Fields(s.Text), " "))
	if len(text) > wide {
		text = append(text[:wide-3], []rune("...")...)
	}
	return fmt.Sprintf("%s:%d  %s", filepath.Base(s.File), s.Line, string(text))
}

// sources are the paragraphs about a program: for the statements that miss most in the
// first level, which access misses and why.
func (r Run) sources() []string {
	if r.program == nil {
		return nil
	}
	const most = 5
	sums := r.statements()
	order := nest.UpTo(len(sums))
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(sums[b].D1Misses(), sums[a].D1Misses()) })
	var text []string
	for n, i := range order {
		if sums[i].D1Misses() == 0 {
			break
		}
		if n == most {
			text = append(text, Say("The other statements that miss: %d.", missing(sums)-most))
			break
		}
		text = append(text, r.statement(i, sums[i]))
	}
	return text
}

func missing(sums []simcache.Counts) (n int) {
	for _, c := range sums {
		if c.D1Misses() > 0 {
			n++
		}
	}
	return n
}

// statement says what a statement misses, and which of its accesses.
func (r Run) statement(i int, c simcache.Counts) string {
	first, last := r.Levels[0], r.Levels[len(r.Levels)-1]
	text := Say("%s misses %s in %s (%s of its %s", strings.Replace(r.place(i), "  ", ": ", 1), times(c.D1Misses()), first.Name,
		percent(c.D1Misses(), c.Refs()), Counted(int(c.Refs()), "reference"))
	if missing(r.statements()) > 1 {
		text += Say(", %s of all misses", percent(c.D1Misses(), first.Misses()))
	}
	text += ")"
	if len(r.Levels) > 1 {
		text += Say(", %s in %s", times(c.LLMisses()), last.Name)
	}
	all := []string{text + "."}
	for op, a := range r.program.source.Accesses {
		if a.Statement == i && r.program.counts[op].D1Misses()*10 >= c.D1Misses() {
			all = append(all, r.access(op))
		}
	}
	return sentences(all...)
}

// access says why an access misses in the first level, and what became of it below.
func (r Run) access(op int) string {
	c := r.program.counts[op]
	name := r.program.source.Accesses[op].Text
	if c.Dw > 0 {
		name = "The write of " + name
	}
	all := []string{Say("%s misses %d of %d times.", name, c.D1Misses(), c.Refs())}
	for _, u := range r.Levels[0].Reuses {
		if u.Operand != op || u.Misses() == 0 {
			continue
		}
		if u.Since == simcache.Never {
			all = append(all, Say("%d of these %s the first touch of a line.", u.Misses(), agree(u.Misses(), "is", "are")))
			continue
		}
		all = append(all, r.returns(u))
	}
	return sentences(all...)
}

// returns follows references that come back to a line down the levels.
func (r Run) returns(first simcache.Reuse) string {
	text := Say("%s it comes back to a line %s", agree(first.Refs, "Once", times(first.Refs)), r.whenOf(first))
	if first.Lines > 0 {
		text += Say(", %s on (%s)", Counted(int(first.Lines), "line"), size(first.Lines*uint64(r.Config.Levels[0].Line)))
	}
	var fates []string
	for level, l := range r.Levels {
		for _, u := range l.Reuses {
			if u.Operand != first.Operand || u.Since != first.Since || u.Loop != first.Loop {
				continue
			}
			name := Say("%s (%s)", l.Name, Counted(r.lines(level), "line"))
			switch {
			case u.Misses() == 0:
				fates = append(fates, name+" still has it")
			case u.Conflict > u.Misses()/2:
				fates = append(fates, Say("%s has lost it %s, mostly for want of room in its sets", name, times(u.Misses())))
			case u.Compulsory > u.Misses()/2:
				fates = append(fates, Say("%s does not have it %s, since no reference had brought it in", name, times(u.Misses())))
			default:
				fates = append(fates, Say("%s has lost it %s, mostly for want of lines", name, times(u.Misses())))
			}
		}
	}
	return text + ": " + List(fates) + "."
}

// whenOf says which step of the program it is that returns.
func (r Run) whenOf(u simcache.Reuse) string {
	loop := ""
	if around := r.program.around[u.Operand]; u.Loop < len(around) {
		loop = around[u.Loop].Name
	}
	switch {
	case u.Since == simcache.ThisIteration:
		return "that the same iteration has touched"
	case u.Since == simcache.ThisLoop:
		return Say("in a later iteration of loop %s", loop)
	case u.Since == simcache.ThisPass && u.Loop == 0:
		return "that the loops before have touched"
	case u.Since == simcache.ThisPass:
		return Say("that was touched before loop %s began, in the same iteration of loop %s", loop, r.program.around[u.Operand][u.Loop-1].Name)
	}
	return "in the next pass"
}
