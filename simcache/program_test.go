package simcache

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
	"github.com/stridebench/stridebench/simcache/internal/enginetest"
	"github.com/stridebench/stridebench/simcache/internal/reference"
)

// programConfig draws levels and now and then a TLB.
func programConfig(d enginetest.Draw) Config {
	var c Config
	for _, l := range d.ProgramLevels() {
		c.Levels = append(c.Levels, Level{Geometry: Geometry{Size: l.Sets * l.Ways << l.Shift,
			Ways: l.Ways, Line: 1 << l.Shift}, Modulo: true})
	}
	if d.One(3) {
		c.TLB = []TLB{{Entries: 4, Ways: 2, Page: 4096}, {Entries: 8, Ways: 8, Page: 4096}}
	}
	return c
}

// TestRunProgram runs programs, nests and single accesses one after the other, on a
// hierarchy that decides, on one that looks all up, on one with write-backs and on
// one that observes, and holds the counts of each access to the reference's.
func TestRunProgram(t *testing.T) {
	t.Parallel()
	for seed := range uint64(enginetest.Cases(1500)) {
		d := enginetest.Random(seed, 51)
		c := programConfig(d)
		if c.Check() != nil {
			continue
		}
		configs := []Config{c, c, c, c}
		configs[1].Brute = true
		configs[2].WriteBacks, configs[3].WriteBacks = true, true
		configs[3].Observe = all
		if configs[2].Check() != nil { // levels whose lines differ
			configs = configs[:2]
		}
		var all []*Hierarchy
		for _, c := range configs {
			h, err := NewHierarchy(c)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, h)
		}
		want := reference.New(specsOf(all[0]))
		for range 1 + d(3) {
			if d.One(4) {
				addr, size := uint64(enginetest.At+d(1<<12)), 1+d(8)
				want.Access(addr, uint64(size))
				for _, h := range all {
					h.Access(nest.Read, addr, size)
				}
				continue
			}
			p, passes := d.Program(specsOf(all[0])), 1+d(9)
			if d.One(4) {
				p = nest.Sequence(d.Nest(specsOf(all[0]), 400))
			}
			if n, err := p.Count(); err != nil || n > 5000 {
				continue
			}
			operands := p.Operands()
			wanted := make([]uint64, len(operands)*len(c.Levels))
			for range passes {
				for i, m := range want.Run(operands, p.Accesses()) {
					wanted[i] += m
				}
			}
			for i, h := range all {
				got, err := h.RunProgram(passes, p)
				if err != nil {
					t.Fatal(err)
				}
				// which have write-backs in their order: they are held to each other
				if i == 2 || i == 3 {
					continue
				}
				for r, op := range operands {
					misses := wanted[r*len(c.Levels):][:len(c.Levels)]
					if g, w := got[r], countsOfOperand(op, got[r].Refs(), misses); g != w {
						t.Fatalf("seed %d, hierarchy %d, %d passes, access %d: %+v, want %+v\n%v",
							seed, i, passes, r, g, w, p)
					}
				}
				if visited, rest := h.Work(); i == 0 && rest > visited {
					meet("programs mostly proved", 1)
				}
			}
			if passes > len(c.Levels)+1 {
				meet("programs whose passes are multiplied", 1)
			}
		}
		for _, pair := range [][2]int{{0, 1}, {2, 3}} {
			if pair[1] < len(all) {
				if a, b := stated(all[pair[0]]), stated(all[pair[1]]); a != b {
					t.Fatalf("seed %d: %s\n%s", seed, a, b)
				}
			}
		}
	}
}

// stated are the counts of a hierarchy at all levels, without what is observed.
func stated(h *Hierarchy) string {
	text := fmt.Sprintf("%+v", h.Counts())
	for _, l := range slices.Concat(h.Levels(), h.TLBs()) {
		text += fmt.Sprintf("\n%s %d %d %d %d %d %d %d", l.Name, l.Reads, l.Writes, l.ReadMisses,
			l.WriteMisses, l.BytesIn, l.BytesOut, l.WriteBacks)
	}
	return text
}

// A spot is where an access of a program is made: in which pass, and in which
// iterations of the loops around it.
type spot struct {
	pass  int
	loops []*nest.Loop
	vars  []int
}

// since is how a spot comes after another, by the definition of Since.
func (p spot) since(before *spot) (engine.Since, int) {
	switch {
	case before == nil:
		return engine.Never, 0
	case before.pass != p.pass:
		return engine.EarlierPass, 0
	}
	for d := range p.loops {
		if d == len(before.loops) || before.loops[d] != p.loops[d] {
			return engine.ThisPass, d
		}
		if before.vars[d] != p.vars[d] {
			return engine.ThisLoop, d
		}
	}
	return engine.ThisIteration, 0
}

// TestReusesOfPrograms holds the counts of one level of LRU to what a list of all
// touches says.
func TestReusesOfPrograms(t *testing.T) {
	t.Parallel()
	type key struct {
		op    int
		since engine.Since
		loop  int
	}
	type sum struct{ refs, misses, lines uint64 }
	for seed := range uint64(enginetest.Cases(600)) {
		d := enginetest.Random(seed, 52)
		c := Config{Observe: "classes", Levels: []Level{{Geometry: Geometry{Size: 2048, Ways: 2,
			Line: 32}}}}
		h, err := NewHierarchy(c)
		if err != nil {
			t.Fatal(err)
		}
		p, passes := d.Program(specsOf(h)), 1+d(6)
		if n, err := p.Count(); err != nil || n > 3000 {
			continue
		}
		if _, err := h.RunProgram(passes, p); err != nil {
			t.Fatal(err)
		}
		want, caches := map[key]sum{}, reference.New(specsOf(h))
		operands, around := p.Operands(), p.Around()
		last, touched, after := map[uint64]*spot{}, []uint64{}, map[uint64]int{}
		for pass := range passes {
			for run := range p.Runs() {
				for i := range run.Trips {
					for k := range run.Addrs {
						op, addr := run.First+k, run.Addrs[k]+uint64(i*run.Strides[k])
						here := &spot{pass, around[op], slices.Clone(run.Vars)}
						if i > 0 {
							here.vars[len(here.vars)-1] += i * here.loops[len(here.loops)-1].Step
						}
						block, end := addr/32, (addr+uint64(operands[op].Width)-1)/32
						lost := block
						for b := end; b >= block; b-- {
							if !slices.Contains(caches.Contents(0, int(b%32)), b) {
								lost = b
							}
						}
						since, loop := here.since(last[lost])
						meet("programs: "+string(since), 1)
						missed := uint64(caches.Access(addr, uint64(operands[op].Width)))
						touched = append(touched, block)
						if end > block {
							touched = append(touched, end)
						}
						s := want[key{op, since, loop}]
						if since != engine.Never && (s.refs == 0 || s.misses == 0 && missed > 0) {
							lines := map[uint64]bool{}
							for _, b := range touched[after[lost]:] {
								lines[b] = true
							}
							s.lines = uint64(len(lines))
						}
						s.refs, s.misses = s.refs+1, s.misses+missed
						want[key{op, since, loop}] = s
						for b := block; b <= end; b++ {
							last[b], after[b] = here, len(touched)
						}
					}
				}
			}
		}
		got := map[key]sum{}
		for _, r := range h.Levels()[0].Reuses {
			got[key{r.Operand, r.Since, r.Loop}] = sum{r.Refs, r.Misses(), r.Lines}
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("seed %d, %d passes:\n got %v\nwant %v\n%v", seed, passes, got, want, p)
		}
	}
}

// TestRunProgramRefuses: too many references for 64 bits, programs that Check refuses.
func TestRunProgramRefuses(t *testing.T) {
	loop := func(trips int, body ...nest.Node) *nest.Loop {
		return &nest.Loop{From: []nest.Affine{nest.Constant(0)},
			To: []nest.Affine{nest.Constant(trips)}, Step: 1, Body: body}
	}
	read := nest.Operand{Tensor: "A", Base: 1 << 32, Width: 8}
	for _, c := range []struct {
		passes  int
		program nest.Program
		want    string
	}{
		{1 << 62, nest.Program{loop(3, read), loop(2, read)},
			"passes 4611686018427387904: with 5 references each, 64 bits do not count them"},
		{-1, nest.Program{loop(3, read), read}, "passes -1"},
		{1, nest.Program{&nest.Loop{Name: "i"}}, "loop i"},
	} {
		h, err := NewHierarchy(Config{Levels: TwoLevels(Geometry{32768, 8, 64},
			Geometry{1 << 20, 16, 64})})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := h.RunProgram(c.passes, c.program); err == nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}
