package explain

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache"
)

// A Line is one line of a cachegrind.out file: the counts at a place. For patterns, the place is a
// tensor's name, which cg_annotate shows as a function without a file.
type Line struct {
	File     string          `json:"file"` // "" if there is none
	Number   int             `json:"line"` // in the file
	Function string          `json:"function"`
	Counts   simcache.Counts `json:"counts"`
}

// ByTensor sums operands' counts, from Hierarchy.Run, by tensor.
func ByTensor(nests []nest.Nest, counts [][]simcache.Counts) []Line {
	var lines []Line
	for k, n := range nests {
		for r, op := range n.Operands {
			lines = append(lines, Line{Function: op.Tensor, Counts: counts[k][r]})
		}
	}
	return merged(lines)
}

// SumLines sums the counts by file, number and function. Most first-level misses come first, then
// most references.
func SumLines(lines []Line) []Line {
	sums := merged(lines)
	slices.SortStableFunc(sums, func(a, b Line) int {
		return cmp.Or(cmp.Compare(b.Counts.D1Misses(), a.Counts.D1Misses()),
			cmp.Compare(b.Counts.Refs(), a.Counts.Refs()))
	})
	return sums
}

func merged(lines []Line) (sums []Line) {
	index := map[Line]int{}
	for _, l := range lines {
		place := l
		place.Counts = simcache.Counts{}
		i, known := index[place]
		if !known {
			i, index[place] = len(sums), len(sums)
			sums = append(sums, place)
		}
		sums[i].Counts = sums[i].Counts.Add(l.Counts)
	}
	return sums
}

// WriteOut writes a file for cg_annotate (Cachegrind's manual, "Cachegrind Output File Format").
// Functions without a file are put in "???", at line 0.
func WriteOut(w io.Writer, c simcache.Config, command string, lines ...Line) error {
	var b strings.Builder
	for _, n := range []struct {
		name string
		g    simcache.Geometry
	}{{"I1", c.I1}, {"D1", c.First().Geometry}, {"LL", c.Last().Geometry}} {
		fmt.Fprintf(&b, "desc: %s cache:         %d B, %d B, %s\n", n.name, n.g.Size,
			n.g.Line, ways(n.g))
	}
	fmt.Fprintf(&b, "cmd: %s\n", strings.Join(strings.Fields(command), " "))
	b.WriteString("events: Ir I1mr ILmr Dr D1mr DLmr Dw D1mw DLmw \n")
	var total simcache.Counts
	file := ""
	for _, l := range lines {
		if l.File == "" {
			l.File = "???"
		}
		if l.File != file {
			file = l.File
			fmt.Fprintf(&b, "fl=%s\n", file)
		}
		fmt.Fprintf(&b, "fn=%s\n%d %s\n", l.Function, l.Number, events(l.Counts))
		total = total.Add(l.Counts)
	}
	fmt.Fprintf(&b, "summary: %s\n", events(total))
	_, err := io.WriteString(w, b.String())
	return err
}

func ways(g simcache.Geometry) string {
	if g.Ways == 1 {
		return "direct-mapped"
	}
	return fmt.Sprintf("%d-way associative", g.Ways)
}

func events(c simcache.Counts) string {
	return strings.Trim(fmt.Sprint([]uint64{c.Ir, c.I1mr, c.ILmr, c.Dr, c.D1mr, c.DLmr, c.Dw,
		c.D1mw, c.DLmw}), "[]")
}
