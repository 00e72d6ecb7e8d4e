package summaries

import (
	"slices"
	"testing"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
)

// TestGivesUp has summaries given up that take more than they spare, those of a product with a triangle whose columns
// begin at ever other places in their lines, and kept that pay late.
func TestGivesUp(t *testing.T) {
	t.Parallel()
	loop := func(from, to nest.Affine, body ...nest.Node) nest.Node {
		return &nest.Loop{From: []nest.Affine{from}, To: []nest.Affine{to}, Step: 1, Body: body}
	}
	at, zero := nest.Constant, nest.Constant(0)
	op := func(array int, strides ...int) nest.Node {
		return nest.Operand{Base: uint64(1<<30 + array<<24), Width: 8, Strides: strides}
	}
	const n, m = 87, 75
	triangle := loop(zero, at(n), loop(zero, at(m), loop(nest.Affine{Const: 1, Coef: []int{1}}, at(n), op(0, 8, 0, 8*n), op(1, 0, 8, 8*m), op(1, 8*m, 8, 0))))
	square := loop(zero, at(40), loop(zero, at(80), loop(zero, at(320), op(0, 8*320, 0, 8), op(1, 0, 8, 640), op(2, 640, 8, 0))))
	levels := []engine.Level{{Sets: 64, Ways: 8, Shift: 6}, {Sets: 1024, Ways: 16, Shift: 6}}
	for _, c := range []struct {
		p     nest.Node
		owed  int
		gives bool
	}{{triangle, 1 << 18, true}, {square, 1 << 18, false}} {
		var did [2]did
		var misses [2][]uint64
		for i, owed := range []int{c.owed, 1 << 60} {
			e := New(levels, Options{Threshold: 30, owed: owed})
			got, err := e.Run(nest.Program{c.p})
			if err != nil {
				t.Fatal(err)
			}
			misses[i], did[i] = got, e.did
		}
		if !slices.Equal(misses[0], misses[1]) {
			t.Errorf("%v misses, and %v where nothing is given up", misses[0], misses[1])
		}
		if given := 2*did[0].Recorded < did[1].Recorded; given != c.gives || given != (did[0].GivenUp > 0) {
			t.Errorf("given up %d times, %d summaries of %d: want %v", did[0].GivenUp, did[0].Recorded, did[1].Recorded, c.gives)
		}
	}
}

// TestBook has units in debt given up once they owe too much together, but for those of few keys, and then sooner.
func TestBook(t *testing.T) {
	t.Parallel()
	first, second, third, few := &unit{}, &unit{}, &unit{}, &unit{few: true}
	m := &machine{did: &did{}, mayOwe: 100, tabled: []*unit{first, second, third, few}}
	m.book(few, -1000)
	m.book(third, 500)
	m.book(first, -60)
	m.book(third, -400)
	if m.book(second, -40); m.did.GivenUp > 0 || m.owed != 100 {
		t.Fatalf("%d owed, given up %d times", m.owed, m.did.GivenUp)
	}
	if m.book(second, -1); m.did.GivenUp != 1 || m.owed != 0 || m.mayOwe != 50 || !first.off || !second.off || third.off || few.off {
		t.Errorf("%+v", m)
	}
	if m.book(third, -151); !third.off {
		t.Errorf("a unit that owes %d is kept", -third.account)
	}
}
