package summaries

import (
	"slices"
	"testing"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
	"github.com/stridebench/stridebench/simcache/internal/enginetest"
	"github.com/stridebench/stridebench/simcache/internal/reference"
)

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
			l := *m
			l.Then, l.Else = closer(m.Then, apart), closer(m.Else, apart)
			n = &l
		}
		moved = append(moved, n)
	}
	return moved
}

// TestAmple compares misses, and what the levels hold, with what a cache is, where the last levels may have room for
// all that is touched: of one program after the other, or the same again.
func TestAmple(t *testing.T) {
	t.Parallel()
	did, after, refilled, alone := did{}, 0, 0, 0
	programs := 2000 / enginetest.Share
	for seed := range uint64(programs) {
		d := enginetest.Random(seed, 61)
		levels := d.ProgramLevels()
		shift := levels[len(levels)-1].Shift
		if shift > 4 && d.One(8) {
			shift-- // as the lines in front may be the longer ones
		}
		levels = append(levels[:d(len(levels)+1)], engine.Level{Sets: []int{1 << d(12), 1 + d(3000)}[d(2)], Ways: 1 + d(24), Shift: shift})
		if d.One(4) {
			levels = append(levels, engine.Level{Sets: 2 * levels[len(levels)-1].Sets, Ways: 1 + d(24), Shift: shift + uint(d(8)/7)})
		}
		e := New(levels, Options{Threshold: []int{1, 10, 100}[d(3)], Ample: true})
		want := reference.New(levels)
		apart := 8 * d(2000)
		var p nest.Program
		for i := range 1 + d(3) {
			if p == nil || !d.One(3) {
				p = closer(d.Program(levels), apart)
			}
			if accesses(p, 40000) > 40000 {
				continue
			}
			wanted := want.Run(p.Operands(), p.Accesses())
			ran := e.ample
			if got, err := e.Run(p); err != nil || !slices.Equal(got, wanted) {
				t.Fatalf("seed %d, program %d, %+v,\n%v: %v, %v, want %v", seed, i, levels, p, got, err, wanted)
			}
			switch {
			case ran != nil && e.ample != nil:
				after++
			case ran != nil:
				refilled++
			case e.ample != nil && e.ample.near == nil:
				alone++
			}
		}
		did.add(e.did)
		if !d.One(4) {
			continue
		}
		for level, l := range levels {
			for set := range l.Sets {
				if have := e.Contents(level, set); !slices.Equal(have, want.Contents(level, set)) {
					t.Fatalf("seed %d, %+v,\n%v, level %d, set %d: %v, want %v", seed, levels, p, level, set, have, want.Contents(level, set))
				}
			}
		}
	}
	t.Logf("%d of %d; %d after others, %d not; %d in all levels", did.Ample, programs, after, refilled, alone)
	if did.Ample < programs/2 || after < programs/10 || refilled < programs/30 || alone < programs/10 {
		t.Error("not often enough")
	}
}
