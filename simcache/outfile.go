package simcache

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/stridebench/stridebench/layouts/nest"
)

// A Line is one line of a cachegrind.out file: what happened at a place in the
// source. For patterns, the place is a tensor's name; cg_annotate shows it as a
// function of no file.
type Line struct {
	Function string
	File     string // "" if there is none
	Number   int    // of the line in the file
	Counts   Counts
}

// ByTensor adds up the counts of operands by tensor. The counts are as
// Hierarchy.RunPasses returns them.
func ByTensor(nests []nest.Nest, counts [][]Counts) []Line {
	var lines []Line
	for k, n := range nests {
		for r, op := range n.Operands {
			i := slices.IndexFunc(lines, func(l Line) bool { return l.Function == op.Tensor })
			if i < 0 {
				i, lines = len(lines), append(lines, Line{Function: op.Tensor})
			}
			lines[i].Counts = lines[i].Counts.Add(counts[k][r])
		}
	}
	return lines
}

// SumLines adds up the counts of lines of one place: the same function, file and number. The
// places that miss the first level most come first, of these those with the most references.
func SumLines(lines []Line) []Line {
	var sums []Line
	index := map[Line]int{}
	for _, l := range lines {
		place := l
		place.Counts = Counts{}
		i, known := index[place]
		if !known {
			i, index[place] = len(sums), len(sums)
			sums = append(sums, place)
		}
		sums[i].Counts = sums[i].Counts.Add(l.Counts)
	}
	slices.SortStableFunc(sums, func(a, b Line) int {
		return cmp.Or(cmp.Compare(b.Counts.D1Misses(), a.Counts.D1Misses()),
			cmp.Compare(b.Counts.Refs(), a.Counts.Refs()))
	})
	return sums
}

// WriteOut writes a file that cg_annotate reads (Cachegrind's manual, "Cachegrind
// Output File Format"): the caches, the command, a line for each place, and the sum
// of them. Functions of no file lie in "???", at line 0. It refuses caches that
// Cachegrind cannot simulate.
func WriteOut(w io.Writer, c Config, command string, lines ...Line) error {
	if err := c.byCachegrind(); err != nil {
		return err
	}
	var b strings.Builder
	for _, n := range []struct {
		name string
		g    Geometry
	}{{"I1", c.I1}, {"D1", c.Levels[0].Geometry}, {"LL", c.Levels[len(c.Levels)-1].Geometry}} {
		fmt.Fprintf(&b, "desc: %s cache:         %d B, %d B, %s\n", n.name, n.g.Size,
			n.g.Line, ways(n.g))
	}
	fmt.Fprintf(&b, "cmd: %s\n", strings.Join(strings.Fields(command), " "))
	b.WriteString("events: Ir I1mr ILmr Dr D1mr DLmr Dw D1mw DLmw \n")
	var total Counts
	file := ""
	for _, l := range lines {
		if l.File == "" {
			l.File = "???"
		}
		if l.File != file {
			file = l.File
			fmt.Fprintf(&b, "fl=%s\n", file)
		}
		fmt.Fprintf(&b, "fn=%s\n%d %s\n", l.Function, l.Number, l.Counts.events())
		total = total.Add(l.Counts)
	}
	fmt.Fprintf(&b, "summary: %s\n", total.events())
	_, err := io.WriteString(w, b.String())
	return err
}

// ways is Cachegrind's word for an associativity.
func ways(g Geometry) string {
	if g.Ways == 1 {
		return "direct-mapped"
	}
	return fmt.Sprintf("%d-way associative", g.Ways)
}

// events lists the counts in Cachegrind's order.
func (c Counts) events() string {
	return strings.Trim(fmt.Sprint([]uint64{c.Ir, c.I1mr, c.ILmr, c.Dr, c.D1mr, c.DLmr, c.Dw,
		c.D1mw, c.DLmw}), "[]")
}
