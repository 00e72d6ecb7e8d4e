package missmap

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/internal/enginetest"
)

// spanned are arrays that hold what a program refers to, one for each tensor.
func spanned(d enginetest.Draw, p nest.Program) (arrays []nest.Array) {
	low, high := map[string]uint64{}, map[string]uint64{}
	operands := p.Operands()
	for op, addr := range p.Accesses() {
		name := operands[op].Tensor
		if _, known := low[name]; !known {
			low[name] = math.MaxUint64
		}
		low[name], high[name] = min(low[name], addr), max(high[name], addr)
	}
	for _, op := range operands {
		from, known := low[op.Tensor]
		if !known {
			continue
		}
		delete(low, op.Tensor)
		a := nest.Array{Tensor: op.Tensor, Base: from, Element: 1 + d(8)}
		a.Extents = []int{int(high[op.Tensor]-from)/a.Element + 1}
		if row := 1 + d(100); d(2) == 0 {
			a.Extents = []int{(a.Extents[0] + row - 1) / row, row}
		}
		arrays = append(arrays, a)
	}
	return arrays
}

// named is a program whose accesses are to some tensors.
func named(d enginetest.Draw, nodes []nest.Node) (all []nest.Node) {
	for _, node := range nodes {
		switch n := node.(type) {
		case nest.Operand:
			n.Tensor = string(rune('a' + d(3)))
			node = n
		case *nest.Loop:
			n.Body = named(d, n.Body)
		case *nest.If:
			n.Then, n.Else = named(d, n.Then), named(d, n.Else)
		}
		all = append(all, node)
	}
	return all
}

// after is what so many passes count: misses by level, misses by set, and counts by access.
func after(
	t *testing.T, c simcache.Config, passes int, p nest.Program,
) (levels []uint64, sets []uint64, counts []simcache.Counts) {
	t.Helper()
	exact, err := simcache.NewHierarchy(c)
	if err != nil {
		t.Fatal(err)
	}
	if counts, err = exact.RunProgram(passes, p); err != nil {
		t.Fatal(err)
	}
	for _, l := range exact.Levels() {
		levels = append(levels, l.Misses())
	}
	c.Observe = "sets"
	observed, err := simcache.NewHierarchy(c)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := observed.RunProgram(passes, p); err != nil {
		t.Fatal(err)
	}
	return levels, observed.Levels()[0].SetMisses, counts
}

// TestCounts: what a map shows of the last pass is to the last one what the engines count of it:
// in all, by level, by set and by array, of random nests and programs.
func TestCounts(t *testing.T) {
	t.Parallel()
	compared, missed := 0, uint64(0)
	for seed := range uint64(enginetest.Cases(2000)) {
		d := enginetest.Random(seed, 63)
		var c simcache.Config
		specs := d.ProgramLevels()
		for _, l := range specs {
			g := simcache.Geometry{Size: l.Sets * l.Ways << l.Shift, Ways: l.Ways, Line: 1 << l.Shift}
			c.Levels = append(c.Levels, simcache.Level{Geometry: g, Modulo: true})
		}
		p := d.Program(specs)
		if d.One(3) {
			p = nest.Sequence(d.Nest(specs, 2000), d.Nest(specs, 500))
		}
		p = named(d, p)
		n, err := p.Count()
		if c.Check() != nil || p.Check() != nil || err != nil || n == 0 || n > 20_000 {
			continue
		}
		compared++
		passes := 1 + d(3)
		m, err := Of(c, passes, p, spanned(d, p), Most{Rows: 1 + d(40), Cols: 1 + d(40)})
		if err != nil {
			t.Fatal(err)
		}
		levels, sets, counts := after(t, c, passes, p)
		if passes > 1 {
			before, beforeSets, beforeCounts := after(t, c, passes-1, p)
			for i := range levels {
				levels[i] -= before[i]
			}
			for i := range sets {
				sets[i] -= beforeSets[i]
			}
			for i := range counts {
				counts[i] = counts[i].Sub(beforeCounts[i])
			}
		}
		if diff := cmp.Diff(levels, m.All.Missed); diff != "" || int(m.All.Refs) != n {
			t.Fatalf("seed %d: %d of %d references; misses by level: -want +got\n%s",
				seed, m.All.Refs, n, diff)
		}
		if diff := cmp.Diff(sets, m.Sets); diff != "" {
			t.Fatalf("seed %d: misses by set: -want +got\n%s", seed, diff)
		}
		byArray(t, seed, m, p, counts)
		missed += m.All.Missed[0]
	}
	if compared < enginetest.Cases(2000)/4 || missed == 0 {
		t.Errorf("%d programs are compared, of %d misses", compared, missed)
	}
}

// byArray compares the sums of an array's cells with the counts of its accesses.
func byArray(t *testing.T, seed uint64, m Map, p nest.Program, counts []simcache.Counts) {
	t.Helper()
	want, got := map[string][3]uint64{}, map[string][3]uint64{}
	for i, op := range p.Operands() {
		w, c := want[op.Tensor], counts[i]
		want[op.Tensor] = [3]uint64{w[0] + c.Refs(), w[1] + c.D1Misses(), w[2] + c.LLMisses()}
		if want[op.Tensor] == [3]uint64{} {
			delete(want, op.Tensor)
		}
	}
	for _, a := range m.Arrays {
		sum := [3]uint64{}
		for _, cell := range a.Cells {
			last := len(cell.Missed) - 1
			sum = [3]uint64{sum[0] + cell.Refs, sum[1] + cell.Missed[0], sum[2] + cell.Missed[last]}
		}
		got[a.Tensor] = sum
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("seed %d: references, and misses of D1 and LL, by array: -want +got\n%s", seed, diff)
	}
}

// small are caches of two sets of two lines of 16 B, and of one set of eight.
var small = simcache.Config{Levels: []simcache.Level{
	{Geometry: simcache.Geometry{Size: 64, Ways: 2, Line: 16}},
	{Geometry: simcache.Geometry{Size: 128, Ways: 8, Line: 16}},
}}

// matrix is a sum over 6x8 elements of 4 B, by columns or by rows.
func matrix(column bool) (nest.Program, []nest.Array) {
	a := nest.Array{Tensor: "x", Base: 0x1000, Element: 4, Extents: []int{6, 8}}
	n := nest.Nest{Trips: []int{6, 8}, Operands: []nest.Operand{
		{Tensor: "x", Base: a.Base, Width: 4, Strides: []int{32, 4}}}}
	if column {
		n = n.Permute(1, 0)
	}
	return nest.Sequence(n), []nest.Array{a}
}

// TestWrite: a map in letters, with the ends of lines.
func TestWrite(t *testing.T) {
	p, arrays := matrix(true)
	m, err := Of(small, 1, p, arrays, InText)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := m.Write(&b, false); err != nil {
		t.Fatal(err)
	}
	want := `48 references: 48 miss D1 (100.00%), 12 miss LL (25.00%)

x[6][8]
  |XOOO|XOOO
  |XOOO|XOOO
  |XOOO|XOOO
  |XOOO|XOOO
  |XOOO|XOOO
  |XOOO|XOOO

. hit, o some miss D1, O half or more, x some miss LL, X half or more
Lines that missed, by set of D1: 0-1: 24
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if text := m.cell(m.Arrays[0].At(0, 0), true); text != "\x1b[31mX\x1b[0m" {
		t.Errorf("in colour %q", text)
	}
}

// TestWriteSteps: each reference with its line, its set, what became of it, and what it evicted; a
// reference in two lines has a row for each.
func TestWriteSteps(t *testing.T) {
	p, arrays := matrix(true)
	p = append(nest.Program{nest.Operand{Tensor: "y", Kind: nest.Write, Base: 0x200c, Width: 8}}, p...)
	var b strings.Builder
	if err := WriteSteps(&b, small, p, arrays, 5); err != nil {
		t.Fatal(err)
	}
	want := `
step        access  address  line  set    D1    LL  evicts
1          write y   0x200c   512    0  miss  miss
                              513    1  miss
2     read x[0][0]   0x1000   256    0  miss  miss
3     read x[1][0]   0x1020   258    0  miss  miss     512
4     read x[2][0]   0x1040   260    0  miss  miss     256
5     read x[3][0]   0x1060   262    0  miss  miss     258
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// TestWideAccess: the elements that a wide access covers are of its cell.
func TestWideAccess(t *testing.T) {
	arrays := []nest.Array{{Tensor: "x", Base: 0x1000, Element: 4, Extents: []int{8}}}
	p := nest.Sequence(nest.Nest{Trips: []int{1}, Operands: []nest.Operand{
		{Tensor: "x", Base: 0x1004, Width: 12, Strides: []int{12}}}})
	m, err := Of(small, 1, p, arrays, InText)
	if err != nil {
		t.Fatal(err)
	}
	var seen []uint64
	for col := range m.Arrays[0].Cols {
		seen = append(seen, m.Arrays[0].At(0, col).Refs)
	}
	if !slices.Equal(seen, []uint64{0, 1, 1, 1, 0, 0, 0, 0}) {
		t.Errorf("seen %v", seen)
	}
}

// TestRefuses: levels of other kinds are not watched.
func TestRefuses(t *testing.T) {
	p, arrays := matrix(false)
	for name, change := range map[string]func(c *simcache.Config){
		"policy":      func(c *simcache.Config) { c.Levels[0].Policy = "fifo" },
		"write-backs": func(c *simcache.Config) { c.WriteBacks = true },
	} {
		c := simcache.Config{Levels: slices.Clone(small.Levels)}
		change(&c)
		_, err := Of(c, 1, p, arrays, InText)
		if err == nil || !strings.Contains(err.Error(), "LRU levels") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
