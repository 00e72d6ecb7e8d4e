package summaries

import (
	"testing"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
	"github.com/stridebench/stridebench/simcache/internal/enginetest"
)

// TestDrift compares misses and contents with what a cache is, for columns and rows that are
// where they were from pass to pass, or go on, in one innermost loop or two. Others rest there, or are
// accessed ahead or behind, maybe on lines of what moves.
func TestDrift(t *testing.T) {
	t.Parallel()
	programs, did := 4000/min(enginetest.Share, 4), did{}
	if testing.Short() {
		programs = min(programs, 400)
	}
	for seed := range uint64(programs) {
		d := enginetest.Random(seed, 53)
		l := engine.Level{Sets: []int{4, 8, 16, 2, 8, 16}[d(6)], Ways: []int{4, 6, 8, 8, 3, 12}[d(6)], Shift: 5}
		line, constant, passes := 32, nest.Constant, 26+d(120)
		loop := func(to int, body ...nest.Node) nest.Node {
			return &nest.Loop{From: []nest.Affine{constant(0)}, To: []nest.Affine{constant(to)}, Step: 1, Body: body}
		}
		trips := 4 + d((l.Ways+2)*l.Sets/[]int{1, 2, 4}[d(3)]+1)
		step := []int{1, 3, 5, 2, 6, 4, -3, 9, -2, 12}[d(10)] * line
		if d.One(3) {
			step += line * l.Sets
		}
		// Arrays lie apart, or seldom one among another's lines.
		place := func(i int) uint64 {
			at := 1<<32 + i<<24 + d(2*l.Sets)*line
			if d.One(20) {
				at = 1<<32 + d(trips*line)
			}
			return uint64(at + d(8)*4)
		}
		op := func(base uint64, strides ...int) nest.Operand {
			return nest.Operand{Base: base, Width: 4, Strides: strides}
		}
		away := []int{0, 4, 8, -4}[d(4)] // of columns, from pass to pass
		var inner []nest.Node
		for i := range 1 + d(3) {
			switch d(4) {
			case 0: // a row
				own, stride := []int{0, 0, 0, 1, 2}[d(5)], []int{4, 4, 8, 16}[d(4)]
				trips = max(trips, 2*line/stride+2)
				if own > 0 { // that goes on, to the next line or by more
					own = stride*(trips+d(2)) + (own-1)*line*d(3)
				}
				inner = append(inner, op(place(i), []int{0, 4, line}[d(3)], own, stride))
			case 1:
				inner = append(inner, op(place(i), []int{0, line}[d(2)], []int{0, 4, away}[d(3)], []int{step, -step, 2 * step, line, 5 * line}[d(5)]))
			default:
				inner = append(inner, op(place(i), []int{0, line, 4}[d(3)], []int{0, away, away}[d(3)], step))
			}
		}
		columns := len(inner)
		var ahead, behind []nest.Node
		for i := range d(3) {
			rest := op(place(4+i), 0, []int{0, 4, 4, 8}[d(4)], 0)
			last := inner[d(columns)].(nest.Operand)
			switch d(6) {
			case 0, 1: // on the last line of what moves
				rest = op(last.Base+uint64(last.Strides[2]*(trips-1)), last.Strides[0], last.Strides[1], 0)
			case 2: // on the next
				rest = op(last.Base+uint64(last.Strides[2]*trips), last.Strides[0], last.Strides[1], 0)
			}
			at := op(rest.Base, rest.Strides[:2]...)
			switch d(6) {
			case 0:
				ahead = append(ahead, at)
			case 1, 2:
				behind = append(behind, at)
				continue
			case 3:
				behind = append(behind, at)
			}
			inner = append(inner, rest)
		}
		for i := range inner {
			k := i + d(len(inner)-i)
			inner[i], inner[k] = inner[k], inner[i]
		}
		if d.One(3) { // again, in the same iteration
			inner = append(inner, inner[d(len(inner))])
		}
		body := append(ahead, loop(trips, inner...))
		if d.One(4) { // and in another loop, in another order
			other := append([]nest.Node{}, inner...)
			for i := range other {
				k := i + d(len(other)-i)
				other[i], other[k] = other[k], other[i]
			}
			body = append(body, loop(trips, other...))
		}
		if body = append(body, behind...); d.One(8) {
			body = append(body, op(place(7), 0, []int{0, 4}[d(2)]))
		}
		p := nest.Program{loop(1+d(3), loop(passes, body...))}
		if accesses(p, 200000) > 200000 {
			continue
		}
		e := New([]engine.Level{l}, Options{Threshold: []int{20, 100}[d(2)]})
		asReference(t, seed, e, p)
		did.add(e.did)
	}
	if t.Logf("%+v", did); did.Drifted < 5*programs || did.Evenly < programs/60 {
		t.Errorf("not often enough: %+v", did)
	}
}
