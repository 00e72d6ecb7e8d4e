package access

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stridebench/stridebench/access/kernel"
	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/layouts/nest"
	"pgregory.net/rapid"
)

// otherKernels are all kernels but Scalar, whatever this CPU runs.
func otherKernels() []Kernel {
	all := []Kernel{Builtin}
	for _, s := range kernel.All() {
		all = append(all, Kernel(s.Name()))
	}
	return all
}

// TestEveryKernel: what a kernel plans for a dtype, an operation and a kind of
// view is the same on every CPU, touches the view once, and has a native kernel;
// what this CPU runs does what the operation is.
func TestEveryKernel(t *testing.T) {
	t.Logf("this CPU runs %s, and plans %s", kernel.Names(kernel.Sets()),
		kernel.Names(kernel.All()))
	shapes := [][]int{{0}, {1}, {16}, {33}, {130}, {3, 3}, {3, 16}, {17, 5}, {34, 66}}
	for _, k := range append(otherKernels(), Scalar) {
		t.Run(k.String(), func(t *testing.T) {
			cases := 0
			for dtype := layouts.Bool; dtype <= layouts.Complex128; dtype++ {
				for _, op := range []Op{Sum, Fill, Copy, Add} {
					for _, shape := range shapes {
						last := len(shape) - 1
						views := []string{"", "flip(0)", fmt.Sprintf("slice(%d,0,999,2)", last),
							fmt.Sprintf("slice(%d,1,999,1)", last),
							fmt.Sprintf("transpose(0,%d)", last),
							fmt.Sprintf("transpose(0,%d).slice(%d,1,999,1)", last, last),
							fmt.Sprintf("select(%d,0)", last),
							fmt.Sprintf("unsqueeze(0).expand(3%s)",
								strings.Repeat(",-1", len(shape)))}
						for i, view := range views {
							s := Spec{Op: op, Shape: shape, Pad: i % 2, DType: dtype,
								View: layouts.MustParseChain(view), Kernel: k}
							if shape[last] == 0 && i == 6 || op == Fill && i == 7 {
								continue // there is no such element, or it is written twice
							}
							if cases++; testing.Short() && cases%7 != 0 {
								continue
							}
							if op == Add {
								s.With = []int{1}
							}
							checkKernel(t, s)
						}
					}
				}
			}
		})
	}
}

// checkKernel plans a spec, unless its kernel refuses it, and runs it where this
// CPU does.
func checkKernel(t rapid.TB, s Spec) {
	t.Helper()
	p, err := s.Pattern()
	if err != nil {
		if !strings.HasPrefix(err.Error(), "kernel "+s.Kernel.String()) {
			t.Fatalf("%+v: %v", s, err)
		}
		return
	}
	checkBytes(t, p)
	for _, n := range p.Nests {
		if p.plan != nil {
			break // it runs itself
		}
		if p.halves() {
			n = whole(n)
		}
		if _, err := inElements(n, s.DType.Size(), true); err != nil {
			t.Fatalf("%+v: %v", s, err)
		}
	}
	if Measurable(p, 0) != nil {
		return // nothing to run, or not here
	}
	r, sum := checked(t, p)
	if got := r.passes(3); got != 3*sum {
		t.Fatalf("%s: three passes sum to %v, one to %v", s.Name(), got, sum)
	}
}

// TestForeignKernel: what this CPU does not run is planned as anywhere, and
// refused when it is to be timed.
func TestForeignKernel(t *testing.T) {
	for _, set := range kernel.All() {
		s := Spec{Shape: []int{3, 3}, DType: layouts.Float64, Kernel: Kernel(set.Name())}
		err := Measurable(pattern(t, s), 0)
		want := ""
		if !set.Runs() {
			want = "kernel " + set.Name() + ": this CPU does not run it (it runs " +
				kernel.Names(kernel.Sets()) + ")"
		}
		if got := fmt.Sprint(err); err != nil && got != want || err == nil && want != "" {
			t.Errorf("%s: %v, want %q", set.Name(), err, want)
		}
	}
}

// TestKernelsTouchTheView: whatever the kernel, its nests read each byte of the view once (by
// panels, at least once) and write each byte of the copy once, and its passes do what the operation
// is, as often as they are asked to.
func TestKernelsTouchTheView(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Spec{
			Op:    Op(rapid.IntRange(0, 2).Draw(t, "op")),
			Shape: rapid.SliceOfN(rapid.IntRange(1, 40), 1, 3).Draw(t, "shape"),
			DType: rapid.SampledFrom([]layouts.DType{layouts.Uint8, layouts.Int16, layouts.Int32,
				layouts.Float32, layouts.Float64, layouts.Complex128}).Draw(t, "dtype"),
			Kernel: rapid.SampledFrom(otherKernels()).Draw(t, "kernel"),
		}
		dims := make([]string, len(s.Shape))
		for d := range dims {
			dims[d] = fmt.Sprint(d)
		}
		s.View = layouts.MustParseChain(rapid.SampledFrom([]string{"", "flip(0)", "slice(0,0,99,2)",
			"slice(-1,1,99,1)", "permute(" + strings.Join(rapid.Permutation(dims).Draw(t, "perm"),
				",") + ")"}).Draw(t, "view"))
		checkKernel(t, s)
	})
}

// checkBytes compares the bytes that the nests touch with those of the views.
func checkBytes(t interface{ Fatalf(string, ...any) }, p Pattern) {
	want := map[nest.Kind]map[uint64]int{nest.Read: {}, nest.Write: {}}
	views := map[uint64]int{} // of what is read
	size, bytes := p.Spec.DType.Size(), 0
	for _, op := range p.operands {
		bytes += op.view.Numel() * size
		for at := range op.view.Offsets() {
			for b := range size {
				want[op.kind][op.base+uint64(at*size+b)]++
				if op.kind == nest.Read {
					views[op.base+uint64(at*size+b)]++
				}
			}
		}
	}
	total := 0
	for _, a := range touches(p.Nests) {
		if a.tensor == Buffers {
			continue
		}
		total += a.width
		for b := range a.width {
			want[a.kind][a.addr+uint64(b)]--
		}
	}
	// Panels read what is at an end twice, where it is no whole tile: at the ends of both sides
	// four times.
	panels := slices.Contains([]Kernel{kernelOf("avx2"), kernelOf("avx2-blocks"),
		kernelOf("avx512")}, p.Spec.Kernel)
	twice := panels && p.Memory > p.buffers && p.buffers > 0
	if p.Bytes != bytes {
		t.Fatalf("%+v: Bytes says %d, the views have %d", p.Spec, p.Bytes, bytes)
	}
	if total < p.Bytes || total > p.Bytes && !twice {
		t.Fatalf("%+v: accesses of %d B, Bytes says %d", p.Spec, total, p.Bytes)
	}
	for kind, bytes := range want {
		for addr, n := range bytes {
			if n != 0 && !(twice && kind == nest.Read && n < 0 && -n <= 3*views[addr]) {
				t.Fatalf("%+v: byte %#x is touched %d times too few (kind %v)", p.Spec,
					addr, n, kind)
			}
		}
	}
}

// TestBytesOfCopies: a copy has the bytes of its tensors, whatever a kernel reads more than once.
func TestBytesOfCopies(t *testing.T) {
	again := 0
	for _, set := range kernel.All() {
		k := Kernel(set.Name())
		p := pattern(t, Spec{Op: Copy, Shape: []int{128, 130, 100},
			View: layouts.MustParseChain("permute(0,2,1)"), DType: layouts.Float32, Kernel: k,
			Threads: 2})
		parts := 0
		for _, part := range p.Parts() {
			parts += part.Bytes
		}
		if want := 2 * 128 * 130 * 100 * 4; p.Bytes != want || parts != want {
			t.Errorf("%s: %d B, of parts %d, want %d", k, p.Bytes, parts, want)
		}
		if moved(p.Nests) > p.Bytes {
			again++
		}
	}
	if again == 0 {
		t.Error("no kernel reads any byte again")
	}
}

// TestOneElement: no kernel refuses a tensor of one element, which has no other
// beside it.
func TestOneElement(t *testing.T) {
	for _, k := range otherKernels() {
		for _, shape := range [][]int{{}, {1}, {1, 1}} {
			for _, op := range []Op{Sum, Fill, Copy} {
				if k != Builtin || op == Copy {
					checkKernel(t, pattern(t, Spec{Op: op, Shape: shape, DType: layouts.Float32,
						Kernel: k}).Spec)
				}
			}
		}
	}
}

// TestSumOrder: every set sums whole lines of all rows first (see kernel.Sum),
// and the nests of each read the elements in that order.
func TestSumOrder(t *testing.T) {
	var want []uint64
	for row := range uint64(3) {
		for i := range uint64(32) {
			want = append(want, (row*40+i)*4)
		}
	}
	for row := range uint64(3) {
		want = append(want, (row*40+32)*4, (row*40+33)*4)
	}
	for _, set := range kernel.All() {
		p := pattern(t, Spec{Shape: []int{3, 40}, View: layouts.MustParseChain("narrow(1,0,34)"),
			DType: layouts.Float32, Kernel: Kernel(set.Name())})
		var got []uint64
		for _, a := range touches(p.Nests) {
			for at := 0; at < a.width; at += 4 {
				got = append(got, a.addr-Origin+uint64(at))
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s reads %v, want %v", set.Name(), got, want)
		}
	}
}

// TestVectorWidth: a vector kernel's accesses are as wide as it loads, in the
// order of the walk; what whole lines leave comes last.
func TestVectorWidth(t *testing.T) {
	for _, set := range kernel.All()[1:] {
		width := set.Width(4)
		p := pattern(t, Spec{Shape: []int{3, 33}, View: layouts.MustParseChain("narrow(1,0,17)"),
			DType: layouts.Int32, Kernel: Kernel(set.Name())})
		var want []uint64
		for row := range uint64(3) {
			for at := 0; at < 64; at += width {
				want = append(want, row*33*4+uint64(at))
			}
		}
		want = append(want, 64, 64+33*4, 64+2*33*4)
		if got := addrs(p); !slices.Equal(got, want) {
			t.Errorf("%s touches %v, want %v", set.Name(), got, want)
		}
		// A tile of a transposed copy: lines in, lines out, none of them element by
		// element.
		for _, dtype := range []layouts.DType{layouts.Bool, layouts.Float16, layouts.Float32,
			layouts.Complex64, layouts.Complex128} {
			side := 64 / dtype.Size()
			p = pattern(t, Spec{Op: Copy, Shape: []int{side, side},
				View: layouts.MustParseChain("t()"), DType: dtype, Kernel: Kernel(set.Name())})
			var bytes [2]int
			for _, op := range p.Nests[0].Operands {
				bytes[op.Kind] += op.Width
				if op.Kind == nest.Write && op.Width != width {
					t.Errorf("%s: %d B of a line of %s are written at once", set.Name(),
						op.Width, dtype)
				}
			}
			if len(p.Nests) != 1 || bytes != [2]int{64 * side, 64 * side} {
				t.Errorf("%s: a tile of %s is %+v", set.Name(), dtype, p.Nests)
			}
		}
	}
}

// TestBuffers: what a transposed copy reads and writes of its buffers is in its
// nests, behind the tensors, and none of its bandwidth.
func TestBuffers(t *testing.T) {
	p := pattern(t, specOf("copy 1024x1024 float32 view=t() kernel=avx2"))
	refs := map[string]int{}
	low, high := uint64(math.MaxUint64), uint64(0)
	for _, a := range touches(p.Nests) {
		refs[a.tensor]++
		if a.tensor == Buffers {
			low, high = min(low, a.addr), max(high, a.addr+uint64(a.width))
		}
	}
	// 16 runs of 16 blocks of 64 rows by 64 columns, and one block more by which
	// the first is only read and the last only written; 512 accesses of 32 B each.
	if want := (map[string]int{"x": 16 * 16 * 512, "y": 16 * 16 * 512,
		Buffers: 16 * (17*4 - 2*16) * 512}); !maps.Equal(refs, want) {
		t.Errorf("%v accesses, want %v", refs, want)
	}
	if tensors := uint64(Origin + 2*4<<20); low != tensors || high != Origin+uint64(p.Memory) ||
		p.Bytes != 2*4<<20 {
		t.Errorf("buffers at %#x to %#x in a memory of %d B, of %d B that count; want them "+
			"from %#x on", low, high, p.Memory, p.Bytes, tensors)
	}
}
