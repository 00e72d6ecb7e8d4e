package summaries

import (
	"math"
	"slices"
	"testing"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
	"github.com/stridebench/stridebench/simcache/internal/enginetest"
)

// TestDriftBehind compares misses and contents of two levels with what caches are, for columns and rows that
// go through the first in each pass of a loop, and are where they were or go on; the second is often so small that
// passes flood it, or what goes on again is too much for it.
func TestDriftBehind(t *testing.T) {
	t.Parallel()
	programs, did := enginetest.Cases(2000), did{}
	for seed := range uint64(programs) {
		d := enginetest.Random(seed, 57)
		l := engine.Level{Sets: []int{2, 4, 8}[d(3)], Ways: []int{4, 5, 6, 8}[d(4)], Shift: 5}
		second := engine.Level{Sets: l.Sets * []int{1, 2, 3, 4, 5}[d(5)], Ways: []int{4, 6, 8, 11, 12, 16}[d(6)], Shift: 5}
		loop := func(to int, body ...nest.Node) nest.Node {
			return &nest.Loop{From: []nest.Affine{nest.Constant(0)}, To: []nest.Affine{nest.Constant(to)}, Step: 1, Body: body}
		}
		const line = 32
		trips := (l.Ways+1+d(4))*l.Sets + d(9)
		var inner []nest.Node
		op := func(own, stride int) {
			base := uint64(1<<32 + len(inner)<<24 + d(64)*line + 4*d(8))
			inner = append(inner, nest.Operand{Base: base, Width: 4, Strides: []int{own, stride}})
		}
		column := func() {
			stride := line * []int{129, 131, 255, 67, -129, 133, 258}[d(7)]
			if d.One(3) { // by other than whole lines
				stride = []int{line*129 + 16, line*131 + 8, line*67 + 4, -line*67 + 16, line*20 + 8, line*41 + 16, line*15 + 16, line*3 + 16, line*2 + 16, line + 16, line*2 - 8}[d(11)]
			}
			op([]int{0, 4, 4, 8, -4, 16}[d(6)], stride)
		}
		column()
		switch d(5) {
		case 0, 1:
			column()
		case 2: // a row
			trips *= 2
			op([]int{0, 4 * trips, 4*trips + line*d(3)}[d(3)], 4)
		}
		if d.One(2) {
			op([]int{0, 4, 8}[d(3)], 0)
		}
		for i := range inner {
			k := i + d(len(inner)-i)
			inner[i], inner[k] = inner[k], inner[i]
		}
		body := []nest.Node{loop(trips, inner...)}
		if d.One(4) {
			body = append(body, loop(trips, inner...))
		}
		p := nest.Program{loop(80+d(400), body...)}
		switch last := 80 + d(400); d(4) {
		case 0: // again, where the lines of the first are
			p = append(p, loop(last, body...))
		case 1, 2: // back, from where the first ended
			last = p[0].(*nest.Loop).To[0].Const
			p = append(p, &nest.Loop{From: []nest.Affine{nest.Constant(last - 1)}, To: []nest.Affine{nest.Constant(-1)}, Step: -1, Body: body})
		}
		if accesses(p, 150000) > 150000 {
			continue
		}
		e := New([]engine.Level{l, second}, Options{Threshold: 20})
		asReference(t, seed, e, p)
		did.add(e.did)
	}
	if t.Logf("%+v", did); did.Beyond < programs/10 || did.Parted < programs/60 {
		t.Errorf("not often enough: %+v", did)
	}
}

// TestParts compares how often columns come to the sets of both levels with where their addresses are.
func TestParts(t *testing.T) {
	t.Parallel()
	for seed := range uint64(500) {
		d := enginetest.Random(seed, 58)
		levels := []engine.Level{{Sets: 8, Ways: 4, Shift: 5}, {Sets: 8 * []int{1, 3, 4, 5}[d(4)], Ways: 8, Shift: 5}}
		m, err := New(levels, Options{}).machine(nest.Program{nest.Operand{Base: 1 << 20, Width: 4}})
		if err != nil {
			t.Fatal(err)
		}
		r := moving{stride: (64 + 4*d(200)) * (1 - 2*d(2))}
		s, is := m.drifting(&node{}, &r)
		if !is {
			continue // whole lines, of which the sets are a multiple
		}
		s.start, s.trips, s.oftenOff = 1<<20+4*d(1000), 1+d(300), -1
		l := &drift{streams: []drifting{s}, behind: make([]int, levels[1].Sets)}
		l.forget()
		l.look(m, 0, 1, 1)
		near, far := make([]int, levels[0].Sets), make([]int, levels[1].Sets)
		for k := range s.trips {
			line := (s.start + s.stride*k) >> 5
			near[line%len(near)]++
			far[line%len(far)]++
		}
		one := &l.streams[0]
		one.fill(&one.is)
		for set, n := range near {
			if got := int(one.is.visits[set]); got != min(n, math.MaxUint8) {
				t.Fatalf("seed %d, %+v: %d in set %d of the first level, want %d", seed, s, got, set, n)
			}
		}
		if l.putBehind(one, 0, 5); !slices.Equal(l.behind, far) {
			t.Fatalf("seed %d, %+v: %v in the second level, want %v", seed, s, l.behind, far)
		}
	}
}

// TestDriftBeside: as TestDriftBehind, for columns of one array, of which one may be where it was, and accesses ahead of the loop or behind
// that are on another line in each pass.
func TestDriftBeside(t *testing.T) {
	t.Parallel()
	programs, did := enginetest.Cases(3000), did{}
	for seed := range uint64(programs) {
		d := enginetest.Random(seed, 61)
		l := engine.Level{Sets: []int{2, 4}[d(2)], Ways: []int{6, 8, 9}[d(3)], Shift: 5}
		second := engine.Level{Sets: l.Sets * []int{1, 2, 3, 4}[d(4)], Ways: []int{8, 12, 16, 20}[d(4)], Shift: 5}
		const line = 32
		passes, trips := 60+d(100), (l.Ways+1+d(4))*l.Sets+d(4)
		stride := line * []int{129, 131, 67, -67, 21, 9, 65, 66}[d(8)]
		column := func(base uint64, own int) nest.Node {
			return nest.Operand{Base: base, Width: 4, Strides: []int{own, stride}}
		}
		at := uint64(1<<32 + 4*d(16))
		inner := []nest.Node{column(at, []int{4, 4, 8, -4, 0}[d(5)])}
		switch d(4) {
		case 0:
			inner = append(inner, column(at+1<<24, []int{0, 4}[d(2)]))
		case 1, 2: // next to the first, or where it comes to
			inner = append(inner, column(at+uint64(4*d(8*[]int{2, 4, 60}[d(3)]))-uint64(line*d(2)), []int{0, 0, 4, 8}[d(4)]))
			if o := inner[1].(nest.Operand); d.One(5) { // by other lines
				o.Strides[1] += line * (1 + d(2))
			}
		}
		rest := nest.Operand{Base: uint64(1<<32 + 2<<24 + 4*d(16)), Width: 4, Strides: []int{[]int{0, 4, 8}[d(3)], 0}}
		if d.One(2) {
			inner = append(inner, rest)
		}
		for i := range inner {
			k := i + d(len(inner)-i)
			inner[i], inner[k] = inner[k], inner[i]
		}
		one := nest.Operand{Base: uint64(1<<32 + (3+d(4)/3)<<24 + d(8)*line + 4*d(8)), Width: 4, Strides: []int{line*[]int{1, 1, 2, -3, 130, 0}[d(6)] + 4*d(3)}}
		body := []nest.Node{nestOf([]int{trips}, inner)}
		if d.One(5) { // where what rests is
			one.Base = rest.Base + uint64(d(8)*line)
		}
		switch d(7) {
		case 0, 1:
			body = append([]nest.Node{one}, body...)
		case 2, 3:
			body = append(body, one, one)
		case 4:
			body = append([]nest.Node{one}, append(body, one)...)
		case 5:
			other := one
			other.Base += 1 << 23
			body = append([]nest.Node{one}, append(body, other)...)
		}
		p := nest.Program{nestOf([]int{passes}, body)}
		if d.One(3) {
			p = append(p, nestOf([]int{60 + d(100)}, body))
		}
		e := New([]engine.Level{l, second}, Options{Threshold: 20})
		asReference(t, seed, e, p)
		did.add(e.did)
	}
	if t.Logf("%+v", did); did.Beyond < programs/30 || did.Singles < programs/60 || did.Among < programs/400 {
		t.Errorf("not often enough: %+v", did)
	}
}
