package access

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/layouts/blocked"
	"github.com/stridebench/stridebench/layouts/nest"
)

// TestReordersTouchWhatTheyShould: the nests of a reorder read each element once,
// write it where the other format has it, and write all of the padding once.
func TestReordersTouchWhatTheyShould(t *testing.T) {
	tags := []blocked.Tag{tag("abc"), tag("cab"), tag("aBc4b"), tag("ABc2b4a2b"), tag("CBa16c8b"),
		tag("Abc8a")}
	orders := []Order{Row, Col, asFrom, asTo, order("2,0,1"), order("-1,0,1")}
	padded, parts := 0, 0
	seeds := uint64(400)
	if testing.Short() {
		seeds /= 10
	}
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 5))
		s := Spec{Op: Reorder, DType: layouts.Int16, From: tags[r.IntN(len(tags))],
			To: tags[r.IntN(len(tags))], Order: orders[r.IntN(len(orders))]}
		for range 3 {
			s.Shape = append(s.Shape, r.IntN(20))
		}
		p := pattern(t, s)
		want := map[[2]uint64]int{} // accesses by the addresses read and written, 0 of nothing
		from := slices.Collect(must(s.From.Layout(s.Shape...)).Offsets())
		to := slices.Collect(must(s.To.Layout(s.Shape...)).Offsets())
		written := map[uint64]bool{}
		for i := range from {
			at := p.operands[1].base + 2*uint64(to[i])
			want[[2]uint64{Origin + 2*uint64(from[i]), at}]++
			written[at] = true
		}
		for i := range p.operands[1].size / 2 {
			if at := p.operands[1].base + 2*uint64(i); !written[at] {
				want[[2]uint64{0, at}]++
				padded++
			}
		}
		got := map[[2]uint64]int{}
		for _, n := range p.Nests {
			parts++
			var read uint64
			for _, a := range touches([]nest.Nest{n}) {
				if a.kind == nest.Read {
					read = a.addr
					continue
				}
				got[[2]uint64{read, a.addr}]++
			}
		}
		if !maps.Equal(want, got) {
			t.Fatalf("%s touches %v, want %v", s.Name(), got, want)
		}
		if bytes := 2*len(from) + p.operands[1].size; p.Bytes != bytes || p.Elems != len(from) {
			t.Errorf("%s: %d B and %d elements, want %d and %d", s.Name(), p.Bytes, p.Elems,
				bytes, len(from))
		}
	}
	if padded < 100 || parts < 50 {
		t.Errorf("only %d elements of padding and %d nests", padded, parts)
	}
}

// TestReorderInMemoryOrder: the orders from and to go through one of the tensors
// from its first place to its last.
func TestReorderInMemoryOrder(t *testing.T) {
	for o, kind := range map[Order]nest.Kind{asFrom: nest.Read, asTo: nest.Write} {
		p := pattern(t, specOf("reorder 32x64x3 float32 from=cAB16a4b to=ABc16b16a2b order="+o.String()))
		last := uint64(0)
		for _, a := range touches(p.Nests) {
			if a.kind != kind {
				continue
			}
			if last != 0 && a.addr != last+4 {
				t.Fatalf("order %v goes from %#x to %#x", o, last, a.addr)
			}
			last = a.addr
		}
	}
}
