package nest

import (
	"math/rand/v2"
	"testing"
)

// TestTurn: where a part of a condition turns is where it holds, or does not, for the first time.
func TestTurn(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	turned := 0
	for range 5000 {
		c := counter{vars: []int{r.IntN(9) - 4}}
		a := Affine{Const: r.IntN(31) - 15, Coef: []int{r.IntN(5) - 2, r.IntN(7) - 3}}
		first, step, trips := r.IntN(9)-4, []int{-2, -1, 1, 3}[r.IntN(4)], 1+r.IntN(12)
		var body []Node = []Node{&If{When: Condition{{a}}}}
		switch r.IntN(3) {
		case 0:
			body = []Node{&If{Then: body}}
		case 1:
			body = []Node{&If{Else: body}}
		}
		holds := func(i int) bool { return a.At([]int{c.vars[0], first + i*step}) >= 0 }
		want := 0
		for i := 1; i < trips && want == 0; i++ {
			if holds(i) != holds(0) {
				want = i
				turned++
			}
		}
		if got := c.turn(body, first, step, trips); got != want {
			t.Fatalf("%v turns in %d of %d from %d by %d, want %d", a, got, trips, first, step, want)
		}
	}
	if turned < 500 {
		t.Errorf("only %d turned", turned)
	}
}
