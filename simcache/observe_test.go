package simcache

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/enginetest"
)

// TestRunsEqualBrute compares what counts iterations that stay in their lines in bulk with what
// looks up all of them: all counts, on levels of any kind, of nests and programs, one after the
// other, so that the last depend on all that is known of every line.
func TestRunsEqualBrute(t *testing.T) {
	t.Parallel()
	for seed := range uint64(enginetest.Cases(4000)) {
		r := rand.New(rand.NewPCG(seed, 71))
		c := randomConfig(r)
		c.Observe = someOf(r.IntN(8))
		if r.IntN(2) == 0 { // else another engine counts it
			for i := range c.Levels {
				c.Levels[i] = Level{Geometry: c.Levels[i].Geometry, Modulo: c.Levels[i].Modulo}
			}
			c.Observe = someOf(1 + r.IntN(7))
		}
		got := newOf(t, c)
		c.Brute = true
		want := newOf(t, c)
		for range 1 + r.IntN(3) {
			n := shortStrides(r, c.Levels[0].Line)
			run := func(h *Hierarchy) (any, error) { return h.Run(1, n) }
			if r.IntN(2) == 0 {
				p := nest.Sequence(n, shortStrides(r, c.Levels[0].Line))
				run = func(h *Hierarchy) (any, error) { return h.RunProgram(1, p) }
			}
			have, err := run(got)
			wanted, _ := run(want)
			if err != nil || !reflect.DeepEqual(have, wanted) {
				t.Fatalf("seed %d, %v: %v counts %v (%v), want %v", seed, describe(c), n, have, err, wanted)
			}
			if have, wanted := got.Levels(), want.Levels(); !reflect.DeepEqual(have, wanted) {
				t.Fatalf("seed %d, %v, %v:\n got %+v\nwant %+v", seed, describe(c), n, have, wanted)
			}
		}
		_, left := got.Work()
		meet("runs: references that were not looked up", left)
	}
}

// shortStrides is a nest whose innermost loop is long, and whose accesses mostly stay in their
// lines for a while.
func shortStrides(r *rand.Rand, line int) (n nest.Nest) {
	for range r.IntN(3) {
		n.Trips = append(n.Trips, 1+r.IntN(6))
	}
	n.Trips = append(n.Trips, 1+r.IntN(60))
	for range 1 + r.IntN(4) {
		op := nest.Operand{Kind: nest.Kind(r.IntN(3)), Width: 1 + r.IntN(8)}
		op.Base = uint64(1<<20 + r.IntN(3)<<12 + r.IntN(6*line))
		for range n.Trips {
			strides := []int{0, 0, 1, -1, 2, 4, -8, line, -line, r.IntN(5 * line)}
			op.Strides = append(op.Strides, strides[r.IntN(len(strides))])
		}
		n.Operands = append(n.Operands, op)
	}
	return n
}

// all is everything that can be observed.
const all = "classes,sets,bytes"

// someOf returns the observations of a number's bits.
func someOf(bits int) string {
	var names []string
	for i, name := range strings.Split(all, ",") {
		if bits>>i&1 == 1 {
			names = append(names, name)
		}
	}
	return strings.Join(names, ",")
}
