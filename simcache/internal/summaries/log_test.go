package summaries

import (
	"slices"
	"testing"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
	"github.com/stridebench/stridebench/simcache/internal/enginetest"
	"github.com/stridebench/stridebench/simcache/internal/reference"
)

// TestSentAgain: a line that hits in the first level where a summary is applied first,
// and has to go from the second then, misses in both where it is applied again.
func TestSentAgain(t *testing.T) {
	levels := []engine.Level{{Sets: 1, Ways: 2, Shift: 5}, {Sets: 1, Ways: 4, Shift: 5}}
	const a, others = 1 << 30, 1<<30 + 1<<10
	op := func(base int, strides ...int) nest.Operand {
		return nest.Operand{Base: uint64(base), Width: 4, Strides: strides}
	}
	loop := func(trips int, body ...nest.Node) nest.Node {
		return &nest.Loop{From: []nest.Affine{nest.Constant(0)}, To: []nest.Affine{nest.Constant(trips)}, Step: 1, Body: body}
	}
	// Around what may straddle lines there are no summaries, though it never runs.
	never := &nest.If{Then: []nest.Node{op(a + 30)}}
	p := nest.Program{op(a), op(others), op(a), op(others + 32), op(a), op(others + 64), loop(3, never, loop(3, op(a, 0, 32)))}
	want := reference.New(levels).Run(p.Operands(), p.Accesses())
	e := New(levels, Options{Threshold: 1})
	if got, err := e.Run(p); err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
	if e.did.Again != 2 {
		t.Errorf("again %d times: %+v", e.did.Again, e.did)
	}
}

// TestWide: programs on a first level of few sets, of more ways than a word has bits, as TLBs
// are, which keeps logs like others.
func TestWide(t *testing.T) {
	t.Parallel()
	did := did{}
	for seed := range uint64(enginetest.Cases(400)) {
		d := enginetest.Random(seed, 48)
		sets := 1 + d(2)
		levels := []engine.Level{{Sets: sets, Ways: 65 + d(20), Shift: 5}, {Sets: sets << (1 + d(3)), Ways: 1 + d(12), Shift: 5}, {Sets: 16, Ways: 3, Shift: 5}}[:2+d(4)/3]
		p := d.Program(levels)
		if accesses(p, 60000) > 60000 {
			continue
		}
		e := New(levels, Options{Threshold: []int{5, 20, 100}[d(3)]})
		asReference(t, seed, e, p)
		did.add(e.did)
	}
	if t.Logf("%+v", did); did.Applied < enginetest.Cases(3000) || did.Logged < enginetest.Cases(3000) {
		t.Errorf("not often enough: %+v", did)
	}
}

// TestRoomy: lines that are added to a row's log after it was weighed count.
func TestRoomy(t *testing.T) {
	levels := []engine.Level{{Sets: 1, Ways: 1, Shift: 5}, {Sets: 4, Ways: 2, Shift: 5}}
	m := &machine{levels: levels, did: &did{}}
	e := newSummary(newState(levels[0], 0, 2))
	e.keepLog(100)
	add := func(op int, lines ...uint32) {
		for _, line := range lines {
			e.log.addOne(0, line, op)
		}
	}
	if add(0, 1, 2, 3); !m.roomy(e, 0) {
		t.Error("three sets have no room for a line each")
	}
	if add(0, 5); !m.roomy(e, 0) {
		t.Error("no room for two lines in a set")
	}
	if add(1, 8); m.roomy(e, 0) {
		t.Error("room for a line that may move to where two are")
	}
}

// TestSteps: trips that go up and down again, so that an entry stands for a step of
// them, and begins as a shorter one: nussinov in a small cache.
func TestSteps(t *testing.T) {
	t.Parallel()
	levels := []engine.Level{{Sets: 4, Ways: 4, Shift: 6}, {Sets: 16, Ways: 16, Shift: 6}}
	for _, k := range kernels {
		if k.name != "nussinov" {
			continue
		}
		p := k.parse(13)
		want := reference.New(levels).Run(p.Operands(), p.Accesses())
		e := New(levels, Options{Threshold: 20, owed: 1 << 60})
		if got, err := e.Run(p); err != nil || !slices.Equal(got, want) {
			t.Errorf("%v, %v, want %v", got, err, want)
		}
		if e.did.Classed < 10000 || e.did.Restored < 1000 {
			t.Errorf("not often enough: %+v", e.did)
		}
	}
}
