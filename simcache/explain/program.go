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
	tensors := simcache.ByTensor([]nest.Nest{{Operands: operands}}, [][]simcache.Counts{counts})
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

// Lines returns the counts by line of the source, for simcache.WriteOut.
func (r Run) Lines() []simcache.Line {
	switch {
	case r.Code != nil:
		return r.Code
	case r.program == nil:
		return r.Tensors
	}
	var lines []simcache.Line
	for i, c := range r.statements() {
		s := r.program.source.Statements[i]
		lines = append(lines, simcache.Line{Function: r.program.source.Function, File: s.File,
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

const wide = 48

func (r Run) place(i int) string {
	s := r.program.source.Statements[i]
	text := []rune(strings.Join(strings.Fields(s.Text), " "))
	if len(text) > wide {
		text = append(text[:wide-3], []rune("...")...)
	}
	return fmt.Sprintf("%s:%d  %s", filepath.Base(s.File), s.Line, string(text))
}

// sources returns the paragraphs about the accesses that miss most.
func (r Run) sources() (text []string) {
	if r.program == nil {
		return nil
	}
	const most = 3
	order := nest.UpTo(len(r.program.counts))
	misses := func(op int) uint64 { return r.program.counts[op].D1Misses() }
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(misses(b), misses(a)) })
	for n, op := range order {
		if misses(op) == 0 || n > 0 && misses(op)*10 < r.Counts.D1Misses() {
			break
		}
		if n == most {
			text = append(text, Say("Other accesses miss too: see the table, or --json for each."))
			break
		}
		text = append(text, r.access(op))
	}
	return text
}

func (r Run) access(op int) string {
	c, a := r.program.counts[op], r.program.source.Accesses[op]
	s := r.program.source.Statements[a.Statement]
	verb := map[bool]string{false: "read", true: "written"}[c.Dw > 0]
	all := []string{Say("%s:%d: %s is %s %s and misses %s in %s.", filepath.Base(s.File), s.Line,
		a.Text, verb, times(c.Refs()), times(c.D1Misses()), r.Levels[0].Name)}
	for _, u := range r.Levels[0].Reuses {
		if u.Operand != op || u.Misses()*10 < c.D1Misses() || u.Misses() == 0 {
			continue
		}
		if u.Since == simcache.Never {
			all = append(all, Say("%d of these %s compulsory.", u.Misses(),
				agree(u.Misses(), "is", "are")))
			continue
		}
		all = append(all, r.returns(u))
	}
	return sentences(all...)
}

// returns follows reuses down the levels, to the first that nearly always hits.
func (r Run) returns(first simcache.Reuse) string {
	text := Say("%s it returns to a line %s", agree(first.Refs, "Once", times(first.Refs)),
		r.whenOf(first))
	if first.Lines > 0 {
		text += Say(", after %s (%s)", Counted(int(first.Lines), "line"),
			size(first.Lines*uint64(r.Config.Levels[0].Line)))
	}
	var fates []string
	for _, l := range r.Levels {
		for _, u := range l.Reuses {
			if u.Operand != first.Operand || u.Since != first.Since || u.Loop != first.Loop {
				continue
			}
			switch {
			case u.Misses() == 0:
				return text + ". " + strings.Join(append(fates, l.Name+" still has it."), " ")
			case u.Misses()*100 < first.Refs:
				return text + ". " + strings.Join(append(fates,
					Say("%s has it, except %s.", l.Name, times(u.Misses()))), " ")
			case u.Compulsory > u.Misses()/2:
				fates = append(fates, Say("%s does not have it %s, since no reference had "+
					"fetched it.", l.Name, times(u.Misses())))
			default:
				fates = append(fates, Say("%s has evicted it %s, mostly for lack of %s.", l.Name,
					times(u.Misses()), lack(u.Conflict > u.Misses()/2)))
			}
		}
	}
	return text + ". " + strings.Join(fates, " ")
}

func lack(conflict bool) string {
	if conflict {
		return "ways in its sets"
	}
	return "capacity"
}

func (r Run) whenOf(u simcache.Reuse) string {
	loop := ""
	if around := r.program.around[u.Operand]; u.Loop < len(around) {
		loop = around[u.Loop].Name
	}
	switch {
	case u.Since == simcache.ThisIteration:
		return "of the same iteration"
	case u.Since == simcache.ThisLoop:
		return Say("in a later iteration of loop %s", loop)
	case u.Since == simcache.ThisPass && u.Loop == 0:
		return "of the loops before"
	case u.Since == simcache.ThisPass:
		return Say("from before loop %s, in the same iteration of loop %s", loop,
			r.program.around[u.Operand][u.Loop-1].Name)
	}
	return "in the next pass"
}
