package access

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

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
		p, err := s.Pattern()
		if err != nil {
			t.Fatalf("%s: %v", s.Name(), err)
		}
		if err := Measurable(p, 0); err != nil {
			t.Fatalf("%s: %v", s.Name(), err)
		}
		mem, free, err := mapArena(p.Memory, PagesSmall, nil)
		if err != nil {
			t.Fatal(err)
		}
		run, err := newRunner(p, mem)
		if err != nil {
			t.Fatalf("%s: %v", s.Name(), err)
		}
		if _, err := run.check(); err != nil {
			t.Errorf("%s: %v", s.Name(), err)
		}
		if err := free(); err != nil {
			t.Fatal(err)
		}
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
	float := func(role Role, shape, strides []int) Operand {
		return Operand{Layout: strided(t, shape, strides, 0), DType: layouts.Float32, Role: role}
	}
	for _, tt := range []struct {
		name string
		spec Spec
		want []string
	}{
		{"a sum goes as the elements lie", Spec{Op: Sum, Shape: []int{30, 40}, DType: layouts.Float32, View: layouts.MustParseChain("t()"), Order: Torch},
			[]string{"[1200] x[4]"}},
		{"a copy goes along what it writes", Spec{Op: Copy, Shape: []int{30, 40}, DType: layouts.Float32, View: layouts.MustParseChain("t()"), Order: Torch},
			[]string{"[40 30] x[4 160] y[120 4]"}},
		{"from 3600 elements on by blocks", Spec{Op: Copy, Shape: []int{120, 60}, DType: layouts.Float32, View: layouts.MustParseChain("t()"), Order: Torch},
			[]string{"[1 2 60 60] x[240 14400 240 4] buffers[0 0 240 4] buffers[0 0 240 4] buffers[0 0 240 4] y[28800 240 480 4]"}},
		{"the first input rules the result", Spec{Op: Add, Operands: []Operand{float(Input, []int{3, 4}, []int{1, 3}), float(Input, []int{3, 4}, []int{4, 1})}, Order: Torch},
			[]string{"[4 3] in[12 4] in2[4 16] out[12 4]"}},
		{"in place the destination does", Spec{Op: Add, Operands: []Operand{float(InPlace, []int{3, 4}, []int{4, 1}), float(Input, []int{3, 4}, []int{1, 3})}, Order: Torch},
			[]string{"[3 4] self[16 4] in[4 12] self[16 4]"}},
		{"rows are summed one by one", Spec{Op: Sum, Dims: []int{1}, Operands: []Operand{float(Input, []int{64, 100}, []int{100, 1}), float(Output, []int{64}, []int{1})}, Order: Torch},
			[]string{"[64 100] in[400 4]", "[64] out[4]"}},
		{"columns 32 at a time, then one by one", Spec{Op: Sum, Dims: []int{0}, Operands: []Operand{float(Input, []int{64, 100}, []int{100, 1})}, Order: Torch},
			[]string{"[3 64 32] in[128 400 4]", "[4 64] in[4 400]"}},
		{"columns that four vectors leave over by one", Spec{Op: Sum, Dims: []int{0}, Operands: []Operand{float(Input, []int{64, 51}, []int{51, 1})}, Order: Torch},
			[]string{"[1 64 32] in[128 204 4]", "[2 64 8] in[32 204 4]", "[3 64] in[4 204]"}},
		{"columns that fill no vector 4 at a time", Spec{Op: Sum, Dims: []int{0}, Operands: []Operand{float(Input, []int{64, 6}, []int{6, 1})}, Order: Torch},
			[]string{"[1 64 4] in[16 24 4]", "[2 64] in[4 24]"}},
		{"nothing", Spec{Op: Copy, Operands: []Operand{float(Output, []int{0, 4}, []int{4, 1}), float(Input, []int{0, 4}, []int{1, 0})}, Order: Torch},
			[]string{"[0] in[0] out[0]"}},
	} {
		p, err := tt.spec.Pattern()
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		var got []string
		for _, n := range p.Nests {
			text := fmt.Sprint(n.Trips)
			for _, op := range n.Operands {
				text += fmt.Sprintf(" %s%v", op.Tensor, op.Strides)
			}
			got = append(got, text)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestTorchPlaces: an operand keeps its place in its page, and memory before it is
// not there.
func TestTorchPlaces(t *testing.T) {
	x := strided(t, []int{4, 8}, []int{16, 1}, 1<<40+24)
	p, err := Spec{Op: Sum, Operands: []Operand{{Layout: x, DType: layouts.Float64, Role: Input}}, Order: Torch}.Pattern()
	if err != nil {
		t.Fatal(err)
	}
	if base := p.Nests[0].Operands[0].Base; base != Origin+24*8 || p.Memory > alignment {
		t.Errorf("base %#x, %d B of memory", base, p.Memory)
	}
	half, err := Spec{Op: Copy, Operands: []Operand{{Layout: x, DType: layouts.Float16, Role: Output}, {Layout: x, DType: layouts.Float32, Role: Input}}, Order: Torch}.Pattern()
	if err != nil {
		t.Fatal(err)
	}
	var widths []int
	for _, op := range half.Nests[0].Operands {
		widths = append(widths, op.Width)
	}
	if !slices.Equal(widths, []int{4, 2}) {
		t.Errorf("widths %v", widths)
	}
	if err := Measurable(half, 0); err == nil || !strings.Contains(err.Error(), "no native loop converts") {
		t.Errorf("a conversion can be timed: %v", err)
	}
}

// TestTorchMeasured: what is added in place can be timed, pass after pass, beside
// what is not.
func TestTorchMeasured(t *testing.T) {
	x := Operand{Layout: strided(t, []int{40, 30}, []int{1, 40}, 0), DType: layouts.Float32, Role: InPlace}
	y := Operand{Layout: strided(t, []int{1, 30}, []int{30, 1}, 0), DType: layouts.Float32, Role: Input}
	self, err := Spec{Op: Add, Operands: []Operand{x, y}, Order: Torch}.Pattern()
	if err != nil {
		t.Fatal(err)
	}
	x.Role = Input
	fresh, err := Spec{Op: Add, Operands: []Operand{x, y}, Order: Torch}.Pattern()
	if err != nil {
		t.Fatal(err)
	}
	samples := 0
	for _, err := range Measure(t.Context(), []Pattern{self, fresh}, Options{Count: 3, MinTime: time.Microsecond}) {
		if err != nil {
			t.Fatal(err)
		}
		samples++
	}
	if samples != 6 {
		t.Errorf("%d samples, want 6", samples)
	}
}

// TestTorchRefuses: what cannot be meant is refused, by field.
func TestTorchRefuses(t *testing.T) {
	x := Operand{Layout: strided(t, []int{2, 3}, []int{3, 1}, 0), DType: layouts.Float32, Role: Input}
	y, z := x, x
	y.Role, z.Role = Output, InPlace
	wide := x
	wide.Layout = strided(t, []int{5, 5}, []int{5, 1}, 0)
	for _, tt := range []struct {
		spec Spec
		want string
	}{
		{Spec{Op: Copy, Operands: []Operand{x, y}}, "order \"row\": operands are walked in order torch"},
		{Spec{Op: Copy, Operands: []Operand{x}, Order: Torch}, "operands input 2x3 float32: copy wants an input and an output"},
		{Spec{Op: Fill, Operands: []Operand{x}, Order: Torch}, "fill wants one that is written"},
		{Spec{Op: Sum, Operands: []Operand{z}, Order: Torch}, "sum wants an input, and an output or none"},
		{Spec{Op: Add, Operands: []Operand{y}, Order: Torch}, "add wants one that is read or more"},
		{Spec{Op: Add, Operands: []Operand{x, wide}, Order: Torch}, "elementwise: sizes 2 and 5"},
		{Spec{Op: Copy, Operands: []Operand{y, wide}, Order: Torch}, "expand"},
		{Spec{Op: Sum, Operands: []Operand{x}, Dims: []int{2}, Order: Torch}, "dims [2]: reduction: dim 2 is out of range"},
		{Spec{Op: Add, Operands: []Operand{x}, Dims: []int{1}, Order: Torch}, "dims [1]: add has none"},
		{Spec{Op: Add, Operands: []Operand{x, y}, Dims: []int{2}, Order: Torch}, "dims [2]: permute"},
		{Spec{Op: Add, Operands: []Operand{x, y}, Dims: []int{1, 1}, Order: Torch}, "dims [1 1]: permute"},
		{Spec{Op: Sum, Shape: []int{4, 4}, DType: layouts.Float32, Tile: []int{2, 2}, Order: Torch}, "tile 2x2: order torch has none but its own"},
		{Spec{Op: Sum, Shape: []int{4, 4}, DType: layouts.Float32, Width: 8, Order: Torch}, "width 8: order torch is walked element by element"},
		{Spec{Op: Copy, Shape: []int{4, 4}, DType: layouts.Float32, Kernel: Builtin, Order: Torch}, "kernel builtin: order torch goes with scalar"},
	} {
		if _, err := tt.spec.Pattern(); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want %q", tt.spec.Name(), err, tt.want)
		}
	}
}

// TestOutermost: an add goes through its operands for each element of the dims that are named, and within these as ever.
func TestOutermost(t *testing.T) {
	x := Operand{Layout: strided(t, []int{4, 5, 6}, []int{30, 6, 1}, 0), DType: layouts.Float32, Role: Input}
	y := x
	y.Role = Output
	for _, c := range []struct {
		dims           []int
		trips, strides []int
	}{
		{[]int{2}, []int{6, 20}, []int{4, 24}},
		{[]int{1}, []int{5, 4, 6}, []int{24, 120, 4}},
		{[]int{2, 0}, []int{6, 4, 5}, []int{4, 120, 24}},
	} {
		p, err := Spec{Op: Add, Operands: []Operand{x, y}, Dims: c.dims, Order: Torch}.Pattern()
		if err != nil {
			t.Fatal(err)
		}
		if n := p.Nests[0]; !slices.Equal(n.Trips, c.trips) || !slices.Equal(n.Operands[0].Strides, c.strides) {
			t.Errorf("dims %v: trips %v of strides %v, want %v of %v", c.dims, n.Trips, n.Operands[0].Strides, c.trips, c.strides)
		}
	}
}

// TestOperandsName: names are stable.
func TestOperandsName(t *testing.T) {
	s := Spec{Op: Copy, Operands: []Operand{{Layout: strided(t, []int{4, 3}, []int{3, 1}, 0), DType: layouts.Float32, Role: Output}, {Layout: strided(t, []int{4, 3}, []int{1, 4}, 12), DType: layouts.Float64, Role: Input}}, Order: Torch}
	if name := s.Name(); name != "Operands/op=copy/out=4x3/in=4x3[1,4]:float64/order=torch/dtype=float32/kernel=scalar" {
		t.Error(name)
	}
	s = Spec{Op: Sum, Dims: []int{0, 2}, Operands: []Operand{{Layout: strided(t, []int{4, 3, 2}, []int{6, 2, 1}, 0), DType: layouts.Float32, Role: Input}}, Order: Torch}
	if name := s.Name(); name != "Operands/op=sum/dims=0,2/in=4x3x2/order=torch/dtype=float32/kernel=scalar" {
		t.Error(name)
	}
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
