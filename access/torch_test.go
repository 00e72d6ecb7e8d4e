package access

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stridebench/stridebench/layouts"
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
		some := func(role Role) Operand { return Operand{Layout: randomLayout(t, r, shape), DType: dtype, Role: role} }
		s := Spec{Op: Op(r.IntN(4)), Order: Torch}
		switch s.Op {
		case Sum:
			s.Operands = []Operand{some(Input)}
			if n := len(shape); n > 0 && r.IntN(2) == 0 {
				s.Dims = r.Perm(n)[:1+r.IntN(n)]
			}
		case Fill:
			s.Operands = []Operand{some(Output)}
		case Copy:
			s.Operands = []Operand{some(Output), some(Input)}
			if len(shape) == 2 && r.IntN(2) == 0 {
				s.Operands[0].Layout, _ = layouts.Contiguous(shape...)
				s.Operands[1].Layout = strided(t, shape, []int{1, shape[0]}, 0)
			}
		case Add:
			s.Operands = [][]Operand{{some(Input)}, {some(Input), some(Input)}, {some(InPlace), some(Input)}, {some(InPlace)},
				{some(Input), some(Input), some(Output)}}[r.IntN(5)]
			if in := s.Operands[len(s.Operands)-1]; in.Role == Input && len(s.Operands) > 1 && len(shape) > 0 && r.IntN(2) == 0 {
				small := slices.Clone(shape)
				small[r.IntN(len(small))] = 1
				s.Operands[len(s.Operands)-1].Layout = randomLayout(t, r, small)
			}
			if slices.ContainsFunc(s.Operands, func(o Operand) bool { return o.Role != Input }) && r.IntN(2) == 0 {
				s.Dims = r.Perm(len(shape))[:r.IntN(len(shape)+1)]
			}
		}
		p := pattern(t, s)
		if err := Measurable(p, 0); err != nil {
			t.Fatalf("%s: %v", s.Name(), err)
		}
		checked(t, p)
		checkTouched(t, p)
	}
}

// checkTouched compares the addresses of the nests with those of the views.
func checkTouched(t *testing.T, p Pattern) {
	want, got := map[string]int{}, map[string]int{}
	size := p.Spec.DType.Size()
	for _, op := range p.operands {
		for at := range op.view.Offsets() {
			want[fmt.Sprint(op.tensor, op.kind, op.base+uint64(at*size))] += size
		}
	}
	for _, n := range p.Nests {
		for r, addr := range n.Accesses() {
			if op := n.Operands[r]; op.Tensor != Buffers {
				if op.Width < size { // a half: its element is where the address is cut to
					addr = addr &^ uint64(size-1)
				}
				got[fmt.Sprint(op.Tensor, op.Kind, addr)] += op.Width
			}
		}
	}
	if !maps.Equal(want, got) {
		t.Errorf("%s: the nests touch other places than the views", p.Spec.Name())
	}
}

// TestTorchOrder: the loops are PyTorch's. The first column of numbers are the
// trips, then the strides in bytes of each operand.
func TestTorchOrder(t *testing.T) {
	for text, want := range map[string]string{
		// A sum goes as the elements lie.
		"sum 30x40 float32 view=t()": "[1200] x[4]",
		// A copy goes along what it writes, from 3600 elements on by blocks.
		"copy 30x40 float32 view=t()":  "[40 30] x[4 160] y[120 4]",
		"copy 120x60 float32 view=t()": "[1 2 60 60] x[240 14400 240 4] buffers[0 0 240 4] buffers[0 0 240 4] buffers[0 0 240 4] y[28800 240 480 4]",
		// The first input rules the result, in place the destination does.
		"add - float32 input=3x4[1,3] input=3x4":    "[4 3] in[12 4] in2[4 16] out[12 4]",
		"add - float32 in-place=3x4 input=3x4[1,3]": "[3 4] self[16 4] in[4 12] self[16 4]",
		// Rows are summed one by one.
		"sum - float32 dims=1 input=64x100 output=64": "[64 100] in[400 4]; [64] out[4]",
		// Columns 32 at a time, or what four vectors leave over by one, then one by one.
		"sum - float32 dims=0 input=64x100": "[3 64 32] in[128 400 4]; [4 64] in[4 400]",
		"sum - float32 dims=0 input=64x51":  "[1 64 32] in[128 204 4]; [2 64 8] in[32 204 4]; [3 64] in[4 204]",
		"sum - float32 dims=0 input=64x6":   "[1 64 4] in[16 24 4]; [2 64] in[4 24]",
		// An add goes through its operands for each element of the dims that are named.
		"add - float32 dims=2 input=4x5x6 output=4x5x6":   "[6 20] in[4 24] out[4 24]",
		"add - float32 dims=1 input=4x5x6 output=4x5x6":   "[5 4 6] in[24 120 4] out[24 120 4]",
		"add - float32 dims=2,0 input=4x5x6 output=4x5x6": "[6 4 5] in[4 120 24] out[4 120 24]",
		"copy - float32 output=0x4 input=0x4[1,0]":        "[0] in[0] out[0]",
	} {
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
	if err := Measurable(half, 0); err == nil || !strings.Contains(err.Error(), "no native loop converts") {
		t.Errorf("a conversion can be timed: %v", err)
	}
}

// TestRoles: roles are written as they are read.
func TestRoles(t *testing.T) {
	for _, r := range []Role{Input, Output, InPlace} {
		if back, err := ParseRole(r.String()); back != r || err != nil {
			t.Error(r, back, err)
		}
	}
}

// TestAtOnce: of slices as many columns are summed at once as leave nothing over, unless that is less than half of what
// vectors take.
func TestAtOnce(t *testing.T) {
	for _, c := range []struct {
		count  int
		sliced bool
		want   int
	}{{64, true, 32}, {56, true, 28}, {48, true, 24}, {100, true, 25}, {57, true, 19}, {59, true, 32}, {34, true, 17}, {56, false, 32}} {
		if got := atOnce(c.count, 32, c.sliced); got != c.want {
			t.Errorf("of %d, sliced %t: %d, want %d", c.count, c.sliced, got, c.want)
		}
	}
}
