package summaries

import (
	"testing"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
	"github.com/stridebench/stridebench/simcache/internal/enginetest"
)

// TestEven compares misses and contents with what a cache is, for columns that flood sets for
// long, and go on evenly, or nearly so: they may come to lines of each other, or of what is
// accessed beside them, or bring too few lines, after a while.
func TestEven(t *testing.T) {
	t.Parallel()
	programs, did := enginetest.Cases(4000), did{}
	for seed := range uint64(programs) {
		d := enginetest.Random(seed, 48)
		l := engine.Level{Sets: []int{4, 8, 16}[d(3)], Ways: []int{4, 6, 8, 8, 3}[d(5)], Shift: 5}
		line, constant, iterations := 32, nest.Constant, 26+d(90)
		loop := func(to int, body ...nest.Node) nest.Node {
			return &nest.Loop{From: []nest.Affine{constant(0)}, To: []nest.Affine{constant(to)}, Step: 1, Body: body}
		}
		step := []int{13, 21, 5, -13, 52, 101, 3, 26, 103, -101, 105}[d(11)] * line
		trips := (l.Ways+1)*l.Sets + d(4)
		if d.One(4) {
			trips -= d(2 * l.Sets)
		}
		if d.One(6) {
			trips = trips/2 + d(2)
		}
		if d.One(12) { // along lines
			step, trips = 4, 8*trips
		}
		rows := max(step, -step) * trips
		// Arrays lie apart, or one's rows next to another's, or ahead of it, or among them.
		place := func(i int) uint64 {
			at := 1<<32 + i<<24
			switch d(8) {
			case 0:
				at = 1<<32 + d(3*l.Sets)*line
			case 1:
				at = 1<<32 + rows + d(8)*line - 4*line
			case 2:
				at = 1<<32 - d(40)*line
			}
			return uint64(at + d(8)*4)
		}
		away := func() int { return []int{0, 4, 8, 4, -4, line, 2 * line, 3 * line, -line}[d(9)] }
		var columns, body []nest.Node
		for i := range 1 + d(5)/2 {
			s, base := step, place(i)
			if i > 0 && d.One(3) {
				s = []int{step + line, 2 * step, -step, 4, 3 * line}[d(5)]
				if d.One(2) { // among the lines of the first
					base = 1<<32 + uint64(d(trips)*max(step, -step)+d(3)*line)
				}
			}
			columns = append(columns, nest.Operand{Base: base, Width: 4, Strides: []int{[]int{0, 4, line}[d(3)], []int{0, 4, 4, 8, -4, away(), step * l.Sets}[d(7)], s}})
		}
		single := func(strides ...int) nest.Node {
			return nest.Operand{Base: place(3 + d(3)), Width: 4, Strides: strides}
		}
		outer, own := []int{0, line, step}[d(3)], away()
		rest := single(outer, own, 0).(nest.Operand)
		same := nest.Operand{Base: rest.Base, Width: 4, Strides: []int{outer, own}}
		if d.One(2) {
			columns = append(columns, rest)
		}
		beside := func() {
			switch d(6) {
			case 0:
				body = append(body, same)
			case 1:
				body = append(body, single([]int{0, line}[d(2)], away()))
			case 2:
				body = append(body, single(0, []int{line, step}[d(2)]))
			}
		}
		beside()
		body = append(body, loop(trips, columns...))
		beside()
		p := nest.Program{loop(1+d(3), loop(iterations, body...))}
		if accesses(p, 120000) > 120000 {
			continue
		}
		e := New([]engine.Level{l}, Options{Threshold: []int{20, 100, 500}[d(3)], floods: true})
		asReference(t, seed, e, p)
		did.add(e.did)
	}
	if t.Logf("%+v", did); did.Ahead < programs {
		t.Errorf("not often enough: %+v", did)
	}
}
