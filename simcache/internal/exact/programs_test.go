package exact

import (
	"cmp"
	"slices"
	"testing"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
	"github.com/stridebench/stridebench/simcache/internal/enginetest"
	"github.com/stridebench/stridebench/simcache/internal/reference"
)

// mostAccesses is how many accesses a program may make that is compared.
const mostAccesses = 200_000

// accesses is how many accesses a program makes, up to one more than a limit.
func accesses(p nest.Program, limit int) int {
	n := 0
	for range p.Accesses() {
		if n++; n > limit {
			break
		}
	}
	return n
}

// asReference runs programs on an engine, one after the other, and compares the counts and what
// the levels hold with those of a reference that ran the same before.
func asReference(t *testing.T, e *regions, want *reference.Caches, programs ...nest.Program) {
	t.Helper()
	for _, p := range programs {
		wanted := want.Run(p.Operands(), p.Accesses())
		if got, err := e.Run(p); err != nil || !slices.Equal(got, wanted) {
			t.Fatalf("%+v, %+v,\n%v: %v, %v, want %v", e.levels, e.options, p, got, err, wanted)
		}
	}
	if wrong := enginetest.Contents(e.levels, held{e}, want); wrong != "" {
		t.Fatalf("%+v, %+v,\n%v: %s", e.levels, e.options, programs, wrong)
	}
}

// held is an engine whose contents are compared.
type held struct{ *regions }

func (h held) Contents(_ []uint64, level, set int) []uint64 {
	return h.regions.Contents(level,
		set)
}

// run compares so many cases of a generator with the reference.
func (g generator) run(t *testing.T, cases int) {
	for seed := range uint64(cases) {
		d := enginetest.Random(seed, uint64(len(g.name))<<8|uint64(g.name[0]))
		levels, p := g.draw(d)
		most := cmp.Or(g.most, mostAccesses)
		if testing.Short() {
			most = min(most, 30_000)
		}
		if p == nil || accesses(p, most) > most {
			continue
		}
		thresholds := g.thresholds
		if thresholds == nil {
			thresholds = usual
		}
		e := newRegions(levels, options{Brute: d.One(40), Threshold: d.Of(thresholds...)})
		asReference(t, e, reference.New(levels), p)
	}
}

// TestPrograms compares misses and contents with what a cache is, on the programs of all
// generators.
func TestPrograms(t *testing.T) {
	t.Parallel()
	for _, g := range generators {
		t.Run(g.name, func(t *testing.T) {
			t.Parallel()
			g.run(t, enginetest.Cases(g.cases))
		})
	}
}

// TestSequences compares programs that run one after the other, where the last levels may have
// room for all that is touched, and where summaries may take little memory.
func TestSequences(t *testing.T) {
	t.Parallel()
	for seed := range uint64(enginetest.Cases(7000)) {
		d := enginetest.Random(seed, 61)
		levels := d.ProgramLevels()
		if d.One(2) {
			shift := levels[len(levels)-1].Shift
			if shift > 4 && d.One(8) {
				shift-- // as the lines in front may be the longer ones
			}
			large := engine.Level{Sets: d.Of(1<<d(12), 1+d(3000)), Ways: 1 + d(24), Shift: shift}
			levels = append(levels[:d(len(levels)+1)], large)
		}
		o := options{Threshold: d.Of(1, 10, 30, 100, 300), Fitting: !d.One(3),
			kept: d.Of(0, 0, 20_000)}
		e, want := newRegions(levels, o), reference.New(levels)
		apart := 8 * d.Of(d(2000), 1<<19)
		var p nest.Program
		for range 1 + d(3) {
			if p == nil || !d.One(3) {
				p = closer(d.Program(levels), apart)
			}
			if accesses(p, 60_000) > 60_000 {
				continue
			}
			if d.One(3) { // what the levels hold is asked for now and then
				asReference(t, e, want, p)
				continue
			}
			wanted := want.Run(p.Operands(), p.Accesses())
			if got, err := e.Run(p); err != nil || !slices.Equal(got, wanted) {
				t.Fatalf("seed %d, %+v, %+v,\n%v: %v, %v, want %v",
					seed, levels, o, p, got, err, wanted)
			}
		}
		asReference(t, e, want)
	}
}

// closer moves the accesses of drawn programs, whose arrays lie far apart, so many bytes apart.
func closer(list []nest.Node, apart int) (moved []nest.Node) {
	for _, n := range list {
		switch m := n.(type) {
		case nest.Operand:
			array := (m.Base - 1<<30) >> 22
			m.Base -= array<<22 - array*uint64(apart)
			n = m
		case *nest.Loop:
			l := *m
			l.Body = closer(m.Body, apart)
			n = &l
		case *nest.If:
			n = When(m.When, closer(m.Then, apart), closer(m.Else, apart))
		}
		moved = append(moved, n)
	}
	return moved
}

// TestHeld: levels that hold everything are filled when that is asked for, after programs that
// touch nothing, with lines far from address 0, and with sets of more ways than summaries number.
func TestHeld(t *testing.T) {
	x := Times(3, Times(4, Access(1<<40, 0, 4)))
	for _, l := range []engine.Level{{Sets: 4, Ways: 8}, {Sets: 1, Ways: 1 << 16, Shift: 6}} {
		l.Shift = max(l.Shift, 2)
		levels := []engine.Level{l}
		e, want := New(levels, 1), reference.New(levels)
		e.Eager()
		for _, p := range []nest.Program{{x}, {Times(0, x)}, {Access(1<<40 + 64)}} {
			e.RunProgram(p)
			want.Run(p.Operands(), p.Accesses())
		}
		if wrong := enginetest.Contents(levels, e, want); wrong != "" {
			t.Errorf("%+v: %s", l, wrong)
		}
	}
}
