package missmap

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/explain"
)

// InText is the size that fits a terminal of 80 columns.
var InText = Most{Rows: 40, Cols: 72}

// letters mark the last level that a cell misses. The last level of a machine is always x.
const letters = "ovwx"

func (m Map) letter(level int) string {
	if level == len(m.Levels)-1 {
		return letters[len(letters)-1:]
	}
	return letters[level : level+1]
}

// Write writes the map in letters, with ANSI colours if they are wanted.
func (m Map) Write(w io.Writer, colours bool) error {
	var b strings.Builder
	fmt.Fprintln(&b, m)
	for i := range m.Arrays {
		a := &m.Arrays[i]
		fmt.Fprintf(&b, "\n%s", a.words())
		lines := a.bars(m.Line)
		for row := range a.Rows {
			b.WriteString("\n  ")
			for col := range a.Cols {
				if lines && a.Splits(row, col, m.Line) {
					b.WriteByte('|')
				}
				b.WriteString(m.cell(a.At(row, col), colours))
			}
		}
		b.WriteByte('\n')
	}
	b.WriteString("\n. hit")
	for i, name := range m.Levels {
		letter := m.letter(i)
		fmt.Fprintf(&b, ", %s some miss %s, %s half or more", letter, name, strings.ToUpper(letter))
	}
	fmt.Fprintf(&b, "\n%s\n", m.sets())
	_, err := io.WriteString(w, b.String())
	return err
}

// Name returns the array's name with its extents: x[64][64].
func (a *Array) Name() string {
	if len(a.Extents) == 0 {
		return a.Tensor
	}
	return a.Tensor + strings.ReplaceAll(fmt.Sprint(a.Extents), " ", "][")
}

func (a *Array) words() string {
	text := a.Name()
	if !a.Whole() {
		text += fmt.Sprintf(", a letter is %d x %d elements", a.High, a.Wide)
	}
	return text
}

// bars reports whether the ends of lines fit into a row.
func (a *Array) bars(line int) bool {
	ends := 0
	for col := range a.Cols {
		if a.Splits(0, col, line) {
			ends++
		}
	}
	return a.Whole() && ends < a.Cols && a.Cols+ends <= InText.Cols+4
}

func (m Map) cell(c Cell, colours bool) string {
	if c.Refs == 0 {
		return " "
	}
	text, colour := ".", ""
	for i := range m.Levels {
		if c.Missed[i] == 0 {
			break
		}
		text, colour = m.letter(i), "33"
		if i == len(m.Levels)-1 {
			colour = "31"
		}
		if 2*c.Missed[i] >= c.Refs {
			text = strings.ToUpper(text)
		}
	}
	if colours && colour != "" {
		return "\x1b[" + colour + "m" + text + "\x1b[0m"
	}
	return text
}

// sets joins neighbouring sets of equal counts.
func (m Map) sets() string {
	const most = 12 // runs
	var runs []string
	for from := 0; from < len(m.Sets); {
		to := from
		for to < len(m.Sets) && m.Sets[to] == m.Sets[from] {
			to++
		}
		name := strconv.Itoa(from)
		if to > from+1 {
			name += fmt.Sprintf("-%d", to-1)
		}
		if runs = append(runs, explain.Say("%s: %d", name, m.Sets[from])); len(runs) > most {
			least, highest := m.Sets[0], m.Sets[0]
			for _, n := range m.Sets {
				least, highest = min(least, n), max(highest, n)
			}
			runs = []string{explain.Say("%d to %d in each of %d", least, highest, len(m.Sets))}
			break
		}
		from = to
	}
	return explain.Fold("Lines that missed, by set of "+m.Levels[0]+": "+strings.Join(runs, ", "),
		80)
}

// WriteSteps writes a table of the first references, one by one.
func WriteSteps(
	w io.Writer, c simcache.Config, p nest.Program, arrays []nest.Array, steps int,
) error {
	table := explain.Table{{"step", "access", "address", "line", "set"}}
	table[0] = append(append(table[0], c.LevelNames()...), "evicts")
	operands, of := p.Operands(), map[string]nest.Array{}
	for _, a := range arrays {
		of[a.Tensor] = a
	}
	done := 0
	err := watch(c, 1, p, func(l outcome) bool {
		if done++; done > steps {
			return false
		}
		op := operands[l.operand]
		access := op.Tensor
		if a, known := of[op.Tensor]; known {
			access = element(a, l.addr)
		}
		for i, line := range l.lines { // a reference may lie in several lines
			row := []string{strconv.Itoa(done), fmt.Sprintf("%v %s", op.Kind, access),
				fmt.Sprintf("%#x", l.addr)}
			if i > 0 {
				row = []string{"", "", ""}
			}
			row = append(row, strconv.FormatUint(line.line, 10), strconv.FormatUint(line.set, 10))
			table = append(table, append(row, outcomes(c, l, line, i)...))
		}
		return true
	})
	if err != nil {
		return err
	}
	return table.WriteWithin(w, 0)
}

// outcomes returns hit or miss at each level, and the line that the first level evicts. Only the
// first line of a reference has outcomes beyond the first level.
func outcomes(c simcache.Config, l outcome, line found, at int) []string {
	hit := map[bool]string{true: "miss", false: "hit"}
	cells := make([]string, len(c.Levels)+1)
	cells[0] = hit[line.missed]
	for level := 1; level < len(c.Levels) && level <= l.missed && at == 0; level++ {
		cells[level] = hit[l.missed > level]
	}
	if line.evicts {
		cells[len(c.Levels)] = strconv.FormatUint(line.evicted, 10)
	}
	return cells
}
