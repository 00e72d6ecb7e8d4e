package nest_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	. "github.com/stridebench/stridebench/layouts/nest"
)

// TestInterchange: two loops of a perfect nest that change places make the same accesses; twice,
// in the same order; and where that is proved to keep what is written, each byte has its accesses
// in the order that it had.
func TestInterchange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := somePerfect(t)
		for _, chain := range p.Chains() {
			for b := range chain {
				for a := range b {
					q, ok := p.Interchange(chain[a], chain[b])
					if !ok {
						continue
					}
					count := func(list []access) map[access]int {
						counts := map[access]int{}
						for _, a := range list {
							counts[a]++
						}
						return counts
					}
					if d := cmp.Diff(count(walked(p)), count(walked(q)), cmp.AllowUnexported(access{})); d != "" {
						t.Fatalf("%v\n%v\n%s", p, q, d)
					}
					inner := loopsOf(q.Chains(), chain[b].Name)
					back, ok := q.Interchange(inner, loopsOf(q.Chains(), chain[a].Name))
					if d := cmp.Diff(walked(p), walked(back), cmp.AllowUnexported(access{})); !ok || d != "" {
						t.Fatalf("not back: %v\n%v", p, back)
					}
					if p.Exchangeable(chain[a], chain[b]) {
						if d := cmp.Diff(histories(p), histories(q)); d != "" {
							t.Fatalf("of %v and %v: %v\n%s", chain[a].Name, chain[b].Name, p, d)
						}
					}
				}
			}
		}
	})
}

func loopsOf(chains [][]*Loop, name string) *Loop {
	for _, l := range slices.Concat(chains...) {
		if l.Name == name {
			return l
		}
	}
	return nil
}

// histories are, of each byte that is written, the numbers of its accesses, in order.
func histories(p Program) map[uint64][]int {
	operands, all, written := p.Operands(), map[uint64][]int{}, map[uint64]bool{}
	for op, addr := range p.Accesses() {
		for b := range uint64(operands[op].Width) {
			all[addr+b] = append(all[addr+b], op)
			written[addr+b] = written[addr+b] || operands[op].Kind != Read
		}
	}
	maps.DeleteFunc(all, func(b uint64, _ []int) bool { return !written[b] })
	return all
}

// somePerfect draws a perfect nest around accesses, and now and then a loop of more of them.
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
				op.Strides = append(op.Strides, rapid.SampledFrom([]int{0, 4, 16, 64}).Draw(t, "stride"))
			}
			body = append(body, op)
		}
		return body
	}
	body := accesses(depth)
	if small.Draw(t, "more") == 0 {
		body = append(body, &Loop{Name: "more", From: []Affine{Constant(1)}, To: []Affine{Constant(3)},
			Step: 1, Body: accesses(depth + 1)})
	}
	for d := depth - 1; d >= 0; d-- {
		to := Constant(small.Draw(t, "to"))
		if d > 0 && small.Draw(t, "triangle") == 0 {
			to.Coef = Variable(d - 1).Coef
		}
		body = []Node{&Loop{Name: string(rune('i' + d)), From: []Affine{Constant(-1)}, To: []Affine{to},
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

// TestExchangeable: all loops of a matrix product are.
func TestExchangeable(t *testing.T) {
	const n = 8
	element := func(tensor string, kind Kind, strides ...int) Operand {
		return Operand{Tensor: tensor, Kind: kind, Width: 8, Base: 1 << 20 * uint64(tensor[0]),
			Strides: strides}
	}
	product := Program{loop(affine(0), affine(n), 1,
		loop(affine(0), affine(n), 1, loop(affine(0), affine(n), 1,
			element("c", Read, 8*n, 8), element("b", Read, 0, 8, 8*n), element("c", Write, 8*n, 8))))}
	chain := product.Chains()[0]
	for _, pair := range [][2]int{{1, 2}, {0, 1}, {0, 2}} {
		if !product.Exchangeable(chain[pair[0]], chain[pair[1]]) {
			t.Errorf("loops %v of a matrix product are not exchangeable", pair)
		}
	}
}
