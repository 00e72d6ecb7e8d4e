package summaries

import (
	"slices"
	"testing"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
	"github.com/stridebench/stridebench/simcache/internal/enginetest"
	"github.com/stridebench/stridebench/simcache/internal/reference"
)

// TestTogether: columns and rows of which trips grow, around a line that rests, on first
// levels of 8 ways and second ones of 16, where rows of a summary are composed, counted and
// sent on many at once, with AVX-512 and without. What is restored is rare.
func TestTogether(t *testing.T) {
	defer func(had bool) { hasAVX512 = had }(hasAVX512)
	had, did := hasAVX512, did{}
	for seed := range uint64(enginetest.Cases(400)) {
		d := enginetest.Random(seed, 53)
		hasAVX512 = had && !d.One(3)
		sets := []int{8, 16, 32, 12, 20, 64}[d(6)]
		levels := []engine.Level{{Sets: sets, Ways: 8, Shift: 5}, {Sets: sets << d(3), Ways: 16, Shift: 5}}
		p := growing(d, sets)
		if accesses(p, 100000) > 100000 {
			continue
		}
		want := reference.New(levels).Run(p.Operands(), p.Accesses())
		e := New(levels, Options{Threshold: []int{1, 5, 20, 100}[d(4)]})
		if got, err := e.Run(p); err != nil || !slices.Equal(got, want) {
			t.Fatalf("seed %d, AVX-512 %v, %+v, %+v,\n%v: %v, %v, want %v", seed, hasAVX512, levels, e.options, p, got, err, want)
		}
		did.add(e.did)
	}
	if t.Logf("%+v", did); hasAVX2 && (did.Full < enginetest.Cases(4000) || did.Partly < enginetest.Cases(1000) || did.Whole < enginetest.Cases(20000) ||
		did.Rear < enginetest.Cases(5000) || did.Nothing < enginetest.Cases(3000) || did.Restored < enginetest.Cases(15) || did.Sent < enginetest.Cases(500)) {
		t.Errorf("not often enough: %+v", did)
	}
}

// growing is loops over matrices of elements of 8 B.
func growing(d enginetest.Draw, sets int) nest.Program {
	to := func(trips int, coef ...int) nest.Affine {
		a := nest.Constant(trips)
		a.Coef = coef
		return a
	}
	loop := func(to nest.Affine, body ...nest.Node) nest.Node {
		return &nest.Loop{From: []nest.Affine{nest.Constant(0)}, To: []nest.Affine{to}, Step: 1, Body: body}
	}
	width := 8 * (4*(1+d(3*sets)) + d(2)*d(4)) // of a row
	at := func(matrix int, strides ...int) nest.Operand {
		return nest.Operand{Base: uint64(1<<30 + matrix<<20), Width: 8, Strides: strides}
	}
	matrix := func() int { return d(3) * d(2) }
	inner := to(4*sets + d(12*sets))
	if d.One(2) {
		inner.Coef = []int{d(2), d(3)}
	}
	refs := []nest.Node{at(matrix(), width, 8, 0), at(matrix(), width, 0, 8), at(3, 0, []int{8, 8, 32}[d(3)], width)}
	if d.One(3) {
		refs = append(refs, refs[0])
	}
	refs = refs[d(2):]
	body := []nest.Node{loop(inner, refs...)}
	if d.One(3) {
		body = append(body, at(matrix(), width, 8))
	}
	j := to(4 + d(20))
	if d.One(3) {
		j.Coef = []int{1}
	}
	return nest.Program{loop(to(2+d(8)), loop(j, body...))}
}
