package access

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/layouts/nest"
)

func strided(t testing.TB, shape, strides []int, offset int) layouts.Layout {
	t.Helper()
	l, err := layouts.New(shape, strides, offset)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// randomLayout is dense in a random order of its dims, with a gap now and then.
func randomLayout(t *testing.T, r *rand.Rand, shape []int) layouts.Layout {
	strides, step := make([]int, len(shape)), 1
	for _, d := range r.Perm(len(shape)) {
		strides[d] = step
		step *= max(shape[d], 1)
		if r.IntN(4) == 0 {
			step += r.IntN(3)
		}
	}
	return strided(t, shape, strides, r.IntN(2000))
}

// TestTorchNative: what PyTorch's order walks natively is what the operation
// means, whatever the operands, and each operand is touched once at each of its
// places.
func TestTorchNative(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 1))
	dtypes := []layouts.DType{layouts.Float32, layouts.Int64, layouts.Uint8, layouts.Complex128}
	cases := 400
	if testing.Short() {
		cases = 60
	}
	for range cases {
		shape := make([]int, r.IntN(5))
		for d := range shape {
			shape[d] = 1 + r.IntN(9)
		}
		if r.IntN(3) == 0 {
			shape = []int{60 + r.IntN(70), 60 + r.IntN(70)}
		}
		dtype := dtypes[r.IntN(len(dtypes))]
		some := func(kind nest.Kind) Value {
			return Value{Layout: randomLayout(t, r, shape), DType: dtype, Kind: kind}
		}
		s := Spec{Op: Op(r.IntN(4)), Order: Torch}
		switch s.Op {
		case Sum:
			s.Operands = []Value{some(nest.Read)}
			if n := len(shape); n > 0 && r.IntN(2) == 0 {
				s.Dims = r.Perm(n)[:1+r.IntN(n)]
			}
		case Fill:
			s.Operands = []Value{some(nest.Write)}
		case Copy:
			s.Operands = []Value{some(nest.Write), some(nest.Read)}
			if len(shape) == 2 && r.IntN(2) == 0 {
				s.Operands[0].Layout, _ = layouts.Contiguous(shape...)
				s.Operands[1].Layout = strided(t, shape, []int{1, shape[0]}, 0)
			}
		case Add:
			s.Operands = [][]Value{{some(nest.Read)}, {some(nest.Read), some(nest.Read)},
				{some(nest.Modify), some(nest.Read)}, {some(nest.Modify)},
				{some(nest.Read), some(nest.Read), some(nest.Write)}}[r.IntN(5)]
			if in := s.Operands[len(s.Operands)-1]; in.Kind == nest.Read && len(s.Operands) > 1 &&
				len(shape) > 0 && r.IntN(2) == 0 {
				small := slices.Clone(shape)
				small[r.IntN(len(small))] = 1
				s.Operands[len(s.Operands)-1].Layout = randomLayout(t, r, small)
			}
			if slices.ContainsFunc(s.Operands, func(o Value) bool {
				return o.Kind != nest.Read
			}) && r.IntN(2) == 0 {
				s.Dims = r.Perm(len(shape))[:r.IntN(len(shape)+1)]
			}
		}
		p := pattern(t, s)
		if err := Measurable(p, 0); err != nil {
			t.Fatalf("%s: %v", s.Name(), err)
		}
		checked(t, p)
		checkBytes(t, p)
	}
}

// TestTorchOrder: the loops are PyTorch's. The first column of numbers are the
// trips, then the strides in bytes of each operand.
func TestTorchOrder(t *testing.T) {
	for text, want := range table(t, "testdata/torch.txt") {
		var got []string
		for _, n := range pattern(t, specOf(text+" order=torch")).Nests {
			nest := fmt.Sprint(n.Trips)
			for _, op := range n.Operands {
				nest += fmt.Sprintf(" %s%v", op.Tensor, op.Strides)
			}
			got = append(got, nest)
		}
		if got := strings.Join(got, "; "); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// TestTorchPlaces: an operand keeps its place in its page, and memory before it is
// not there.
func TestTorchPlaces(t *testing.T) {
	p := pattern(t, specOf("sum - float64 order=torch input=4x8[16,1]+1099511627800"))
	if base := p.Nests[0].Operands[0].Base; base != Origin+24*8 || p.Memory > alignment {
		t.Errorf("base %#x, %d B of memory", base, p.Memory)
	}
	half := pattern(t, specOf("copy - float32 order=torch output=4x8:float16 input=4x8"))
	if ops := half.Nests[0].Operands; ops[0].Width != 4 || ops[1].Width != 2 {
		t.Errorf("a conversion is %+v", ops)
	}
	if err := Measurable(half, 0); err == nil ||
		!strings.Contains(err.Error(), "no native loop converts") {
		t.Errorf("a conversion can be timed: %v", err)
	}
}

// TestAtOnce: of slices as many columns are summed at once as leave nothing over, unless that is
// less than half of what vectors take.
func TestAtOnce(t *testing.T) {
	for _, c := range []struct {
		count  int
		sliced bool
		want   int
	}{{64, true, 32}, {56, true, 28}, {48, true, 24}, {100, true, 25}, {57, true, 19},
		{59, true, 32}, {34, true, 17}, {16, true, 16}, {56, false, 32}} {
		if got := atOnce(c.count, 32, c.sliced); got != c.want {
			t.Errorf("of %d, sliced %t: %d, want %d", c.count, c.sliced, got, c.want)
		}
	}
}
