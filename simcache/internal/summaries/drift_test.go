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
	programs, did := enginetest.Cases(4000), did{}
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
		away := []int{0, 4, 8, -4, 16, -8, 28, 2}[d(8)] // of columns, from pass to pass
		faster := min(4*l.Sets, 28)                     // is there again, in a set, when another goes on
		if d.One(24) {                                  // a line or more
			away, faster = []int{line, -line, line + 4}[d(3)], 2*line
		}
		if l.Sets <= 4 && d.One(8) { // often in a set
			trips *= 4
		}
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
				inner = append(inner, op(place(i), []int{0, line, 4}[d(3)], []int{0, away, 0, away, 0, away, faster}[d(7)], step))
			}
		}
		columns := len(inner)
		var ahead, behind []nest.Node
		for i := range d(3) {
			rest := op(place(4+i), 0, []int{0, 4, 4, 8, 0, 4, away}[d(7)], 0)
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

// TestDriftWas: of columns that are on the same lines, modulo the sets, whether one was there in the pass
// before decides what misses, too.
func TestDriftWas(t *testing.T) {
	t.Parallel()
	loop := func(to int, body ...nest.Node) nest.Node {
		return &nest.Loop{From: []nest.Affine{nest.Constant(0)}, To: []nest.Affine{nest.Constant(to)}, Step: 1, Body: body}
	}
	op := func(base uint64, strides ...int) nest.Node {
		return nest.Operand{Base: base, Width: 4, Strides: strides}
	}
	for _, c := range []struct {
		level engine.Level
		p     nest.Node
	}{
		{engine.Level{Sets: 16, Ways: 4, Shift: 5}, loop(2, loop(125, loop(41, op(0x101000234, 32, 0, -672), op(0x1000003b0, 32, -8, 1344))))},
		{engine.Level{Sets: 2, Ways: 3, Shift: 5}, loop(2, loop(26, loop(6,
			op(0x10000003c, 32, -8, 288), op(0x104000064, 0, 0, 0), op(0x10000003c, 32, -8, 288))))},
	} {
		e := New([]engine.Level{c.level}, Options{Threshold: 20})
		if asReference(t, 0, e, nest.Program{c.p}); e.did.Drifted == 0 {
			t.Errorf("%v does not drift", c.p)
		}
	}
}

// TestDriftRoom: in a level that all passes of a loop do not fill, none is looked at, in any instance of it.
func TestDriftRoom(t *testing.T) {
	loop := func(trips int, body ...nest.Node) nest.Node {
		return &nest.Loop{From: []nest.Affine{nest.Constant(0)}, To: []nest.Affine{nest.Constant(trips)}, Step: 1, Body: body}
	}
	const row = 100 * 8
	p := nest.Program{loop(30, loop(100, loop(100,
		nest.Operand{Base: 1 << 30, Width: 8, Strides: []int{row, 0, 8}},
		nest.Operand{Base: 1 << 31, Width: 8, Strides: []int{0, row, 8}})))}
	for sets, looked := range map[int]bool{8: true, 1 << 12: false} {
		e := New([]engine.Level{{Sets: sets, Ways: 8, Shift: 6}}, Options{})
		if asReference(t, 0, e, p); e.did.Looked > 0 != looked {
			t.Errorf("%d sets: %d passes were looked at", sets, e.did.Looked)
		}
	}
}
