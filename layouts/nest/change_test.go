package nest_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	. "github.com/stridebench/stridebench/layouts/nest"
)

// someOrder draws an order of so many loops.
func someOrder(t *rapid.T, loops int) []int {
	return rapid.Permutation(UpTo(loops)).Draw(t, "order")
}

// TestReorder: loops of a perfect nest in another order make the same accesses; back again, in the
// same order; and what is written keeps its order if and only if that is said.
func TestReorder(t *testing.T) {
	verdicts := map[string]int{}
	checkOften(t, func(t *rapid.T) {
		p := somePerfect(t)
		for _, chain := range p.Chains() {
			order := someOrder(t, len(chain))
			q, loops, ok := p.Reorder(chain, order)
			if !ok {
				continue
			}
			sameAccesses(t, p, q)
			back := make([]int, len(order))
			for i, l := range order {
				back[l] = i
			}
			again, _, ok := q.Reorder(loops, back)
			if d := cmp.Diff(walked(p), walked(again), cmp.AllowUnexported(access{})); !ok ||
				d != "" {
				t.Fatalf("not back: %v\n%v", p, again)
			}
			verdict := p.Keeps(arraysOf(t), chain, order)
			verdicts[verdict]++
			if keeps := keepsOrder(p, q); verdict != "unproved" && keeps != (verdict == "kept") {
				t.Fatalf("%v of %v: %v, and it is %v\n%v", order, p, verdict, keeps, q)
			}
		}
	})
	wantVerdicts(t, verdicts)
}

// checkOften is rapid.Check, ten times over in a whole run: wantVerdicts bounds a share of 1%, which
// one case of a hundred would exceed by chance.
func checkOften(t *testing.T, property func(*rapid.T)) {
	t.Helper()
	rounds := 10
	if testing.Short() {
		rounds = 1
	}
	for range rounds {
		rapid.Check(t, property)
	}
}

// wantVerdicts checks that most cases were decided, both ways. A short run has too few for that.
func wantVerdicts(t *testing.T, verdicts map[string]int) {
	t.Helper()
	few := verdicts["kept"] == 0 || verdicts["broken"] == 0 ||
		100*verdicts["unproved"] > verdicts["kept"]
	if few && !testing.Short() {
		t.Errorf("verdicts %v", verdicts)
	}
}

// TestTile: tiles make the same accesses, and where that is said, what is written keeps its order.
func TestTile(t *testing.T) {
	verdicts := map[string]int{}
	checkOften(t, func(t *rapid.T) {
		p := somePerfect(t)
		for _, chain := range p.Chains() {
			sizes := make([]int, len(chain))
			for i := range sizes {
				sizes[i] = rapid.IntRange(0, 3).Draw(t, "size")
			}
			q, ok := p.Tile(chain, sizes)
			if !ok {
				continue
			}
			sameAccesses(t, p, q)
			verdict := p.Keeps(arraysOf(t), chain, nil)
			verdicts[verdict]++
			if verdict == "kept" && !keepsOrder(p, q) {
				t.Fatalf("tiles %v of %v:\n%v", sizes, p, q)
			}
		}
	})
	wantVerdicts(t, verdicts)
}

// arraysOf are the arrays of somePerfect, or none, so that they are compared by bytes.
func arraysOf(t *rapid.T) []Array {
	if rapid.Bool().Draw(t, "by bytes") {
		return nil
	}
	extents := []int{100, 4, 4}
	return []Array{{Tensor: "a", Base: 1<<20 - 256, Element: 4, Extents: extents},
		{Tensor: "b", Base: 1<<21 - 256, Element: 4, Extents: extents}}
}

func sameAccesses(t *rapid.T, p, q Program) {
	count := func(list []access) map[access]int {
		counts := map[access]int{}
		for _, a := range list {
			counts[a]++
		}
		return counts
	}
	d := cmp.Diff(count(walked(p)), count(walked(q)), cmp.AllowUnexported(access{}))
	if d != "" {
		t.Fatalf("%v\n%v\n%s", p, q, d)
	}
}

// keepsOrder compares, of any two accesses to a byte of which one writes, which is first. What an
// execution is in both programs is told by the variables of p's loops.
func keepsOrder(p, q Program) bool {
	histories := func(of Program) (map[uint64][]string, []Operand) {
		all, operands, around := map[uint64][]string{}, of.Operands(), of.Around()
		for _, e := range plainly(of, 0, nil) {
			var name []string
			for d, l := range around[e.op] {
				if len(l.Name) == 1 || l.Name == "more" { // else it is of tiles
					name = append(name, fmt.Sprint(l.Name, e.vars[d]))
				}
			}
			slices.Sort(name)
			for b := range uint64(operands[e.op].Width) {
				all[e.addr+b] = append(all[e.addr+b], fmt.Sprint(e.op, name))
			}
		}
		return all, operands
	}
	before, operands := histories(p)
	after, _ := histories(q)
	writes := func(name string) bool {
		var op int
		fmt.Sscan(name, &op)
		return operands[op].Kind != Read
	}
	for b, list := range before {
		place := map[string]int{}
		for i, name := range after[b] {
			place[name] = i
		}
		for i, x := range list {
			for _, y := range list[i+1:] {
				if (writes(x) || writes(y)) && place[x] > place[y] {
					return false
				}
			}
		}
	}
	return true
}

// somePerfect draws a perfect nest around accesses, now and then a loop of more of them, and a
// condition.
func somePerfect(t *rapid.T) Program {
	small := rapid.IntRange(0, 3)
	depth := rapid.IntRange(2, 4).Draw(t, "loops")
	accesses := func(depth int) (body []Node) {
		for range rapid.IntRange(1, 2).Draw(t, "accesses") {
			op := Operand{Tensor: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "tensor"),
				Kind: Kind(small.Draw(t, "kind") % 3), Width: 4}
			op.Base = map[string]uint64{"a": 1 << 20,
				"b": 1 << 21}[op.Tensor] + uint64(4*(small.Draw(t, "base")/3))
			for range depth {
				op.Strides = append(op.Strides,
					rapid.SampledFrom([]int{0, 4, 16, 64}).Draw(t, "stride"))
			}
			body = append(body, op)
		}
		return body
	}
	body := accesses(depth)
	if small.Draw(t, "more") == 0 {
		body = append(body, &Loop{Name: "more", From: []Affine{Constant(1)},
			To:   []Affine{Constant(3)},
			Step: 1, Body: accesses(depth + 1)})
	}
	if small.Draw(t, "condition") == 0 {
		arm := &If{When: Condition{{affine(small.Draw(t, "least"), -1, 1)}}, Then: body[:1],
			Else: body[1:]}
		body = []Node{arm}
	}
	for d := depth - 1; d >= 0; d-- {
		to := Constant(small.Draw(t, "to"))
		if d > 0 && small.Draw(t, "triangle") == 0 {
			to.Coef = Variable(d - 1).Coef
		}
		body = []Node{&Loop{Name: string(rune('i' + d)), From: []Affine{Constant(-1)},
			To:   []Affine{to},
			Step: 1 + small.Draw(t, "step")/3, Body: body}}
	}
	return body
}

// TestRestride: what is at some indices of an array is where its other strides say, and nothing
// else moves.
func TestRestride(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := somePerfect(t)
		a := Array{Tensor: "a", Base: 1<<20 - 256, Element: 4,
			Extents: []int{100, rapid.SampledFrom([]int{4, 16}).Draw(t, "plane"),
				rapid.SampledFrom([]int{4, 16}).Draw(t, "row")}}
		strides := []int{4, 4096, 128}
		const base = 1 << 30
		q, ok := p.Restride(a, base, strides)
		if !ok {
			return
		}
		for i, a := range walked(p.Moved("b", 64)) {
			if was := walked(p)[i]; p.Operands()[a.op].Tensor == "b" && a.addr != was.addr+64 ||
				p.Operands()[a.op].Tensor == "a" && a != was {
				t.Fatalf("access %d of %v moved to %v", i, was, a)
			}
		}
		operands, after := p.Operands(), walked(q)
		for i, was := range walked(p) {
			want := was.addr
			if operands[was.op].Tensor == "a" {
				rest := int(was.addr - a.Base)
				want = base
				for d, s := range a.Strides() {
					want += uint64(rest / s * strides[d])
					rest %= s
				}
				want += uint64(rest)
			}
			if after[i] != (access{was.op, want}) {
				t.Fatalf("access %d of %v at %#x, want %#x\n%v", i, was, after[i].addr, want, p)
			}
		}
	})
}

// TestKeeps: what is proved of loops of a size at which nobody tries all of their iterations.
func TestKeeps(t *testing.T) {
	const n = 5000
	a := func(name string) Array {
		base := 1 << 40 * uint64(name[0]-'a'+1)
		return Array{Tensor: name, Base: base, Element: 8, Extents: []int{n, n}}
	}
	arrays := []Array{a("a"), a("b"), a("c")}
	element := func(tensor string, kind Kind, by int, strides ...int) Operand {
		base := arrays[tensor[0]-'a'].Base + uint64(8*by)
		return Operand{Tensor: tensor, Kind: kind, Width: 8, Base: base, Strides: strides}
	}
	square := func(body ...Node) Program {
		return Program{loop(affine(1), affine(n-1), 1, loop(affine(1), affine(n-1), 1, body...))}
	}
	product := Program{loop(affine(0), affine(n), 1, loop(affine(0), affine(n), 1,
		loop(affine(0), affine(n), 1, element("c", Read, 0, 8*n, 8),
			element("b", Read, 0, 0, 8, 8*n),
			element("c", Write, 0, 8*n, 8))))}
	stencil := square(element("a", Read, -n, 8*n, 8), element("a", Read, 1, 8*n, 8),
		element("a", Write, 0, 8*n, 8))
	slanted := square(element("a", Read, 1-n, 8*n, 8), element("a", Write, 0, 8*n, 8))
	apart := square(element("a", Read, 1-n, 8*n, 8), element("b", Write, 0, 8*n, 8))
	for _, c := range []struct {
		name         string
		p            Program
		order        []int
		keeps, tiles string
	}{
		{"product", product, []int{2, 0, 1}, "kept", "kept"},
		{"stencil", stencil, []int{1, 0}, "kept", "kept"},
		{"slanted", slanted, []int{1, 0}, "broken", "broken"},
		{"other arrays", apart, []int{1, 0}, "kept", "kept"},
		{"nothing", slanted, []int{0, 1}, "kept", "broken"},
	} {
		chain := c.p.Chains()[0]
		if got := c.p.Keeps(arrays, chain, c.order); got != c.keeps {
			t.Errorf("%s: %v, want %v", c.name, got, c.keeps)
		}
		if got := c.p.Keeps(arrays, chain, nil); got != c.tiles {
			t.Errorf("%s in tiles: %v, want %v", c.name, got, c.tiles)
		}
	}
}
