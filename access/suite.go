package access

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/stridebench/stridebench/access/kernel"
	"github.com/stridebench/stridebench/layouts"
)

// A Benchmark is a spec with its name in the suite.
type Benchmark struct {
	Name string // without the prefix Benchmark; never changes
	Spec Spec
}

// A Comparison is a group of benchmarks whose samples are interleaved.
type Comparison []Benchmark

// Suite returns the default benchmarks, in the order in which they run. The quick suite leaves out
// the large and the redundant ones, and keeps the names of the others.
//
// In a name, shape is the shape of the tensor x before any view. Rows are pad elements further
// apart than long. Kernel scalar is a plain loop in the named order, builtin is Go's copy, and the
// others are sets of package kernel. The suite has the best set that this CPU runs. Sets copy in
// their own order. Size is the working set in bytes, stride the distance between successive
// elements.
//
// If capacities of the machine's caches are given, in bytes, Latency and Mountain also have half
// and twice each capacity.
func Suite(quick bool, capacities ...int) []Comparison {
	var suite []Comparison
	for _, n := range []int{64, 128, 256, 512, 1024, 2048, 4000, 4096, 6000} {
		if !quick || n <= 1024 || n == 4000 {
			suite = append(suite, traverse(n))
		}
	}
	for _, n := range []int{64, 128, 256, 512, 1024, 2048, 4000, 6000} {
		if len(vector()) > 0 && (!quick || n <= 1024 || n == 4000) {
			suite = append(suite, stream(n))
		}
	}
	suite = append(suite, pitch(512), pitch(1024), copyRows(quick))
	for _, n := range []int{4000, 4096} {
		if !quick || n == 4000 {
			suite = append(suite, transposes(n))
		}
	}
	suite = append(suite, channels(), broadcasts(quick), latency(quick, capacities),
		mountain(quick, capacities),
		tiles(1000, quick), tiles(1024, quick), contiguous(1024))
	if !quick {
		suite = append(suite, contiguous(2048))
	}
	return suite
}

const transposed = "transpose(0,1)"

func sliced(elems, step int) layouts.Chain {
	return layouts.MustParseChain(fmt.Sprintf("slice(0,0,%d,%d)", elems, step))
}

// of returns a benchmark by kernel Scalar. Keys of the name set the spec's fields; others describe
// the view. A tile is one size for all dims.
func of(op Op, view, format string, values ...any) Benchmark {
	name := fmt.Sprintf(format, values...)
	s := Spec{Op: op, View: layouts.MustParseChain(view)}
	for part := range strings.SplitSeq(name, "/") {
		key, value, _ := strings.Cut(part, "=")
		var err error
		switch key {
		case "shape", "dtype", "order", "pad", "with":
			err = s.Set(key, value)
		case "tile":
			err = s.Set(key, value+"x"+value)
		}
		if err != nil {
			panic(err) // the name is ours
		}
	}
	return named(name, Scalar, s)
}

func named(name string, by Kernel, spec Spec) Benchmark {
	spec.Kernel = by
	return Benchmark{name + "/kernel=" + by.String(), spec}
}

func (b Benchmark) by(k Kernel) Benchmark {
	return named(strings.TrimSuffix(b.Name, "/kernel="+Scalar.String()), k, b.Spec)
}

// vector is the best set of vector kernels that this CPU runs, if any.
func vector() []Kernel {
	if len(kernel.Sets()) > 1 {
		return []Kernel{Kernel(kernel.Best().Name())}
	}
	return nil
}

// alsoVector adds the same benchmarks by vector kernels, where these can walk them.
func alsoVector(c ...Benchmark) Comparison {
	for _, set := range vector() {
		for _, b := range c {
			if b.Spec.Kernel == Scalar && b.Spec.Tile == nil {
				c = append(c, b.by(set))
			}
		}
	}
	return c
}

// rowPad is a cache line of int32. As padding, it moves rows a power of two apart into different
// sets.
const rowPad = 16

// traverse sums an n x n matrix by rows and by columns, also with padded rows if n is a power of
// two.
func traverse(n int) (c Comparison) {
	for _, pad := range []string{"", fmt.Sprintf("/pad=%d", rowPad)} {
		for _, order := range []Order{Row, Col} {
			if pad == "" || n&(n-1) == 0 {
				c = append(c, of(Sum, "", "Traverse/op=sum/order=%v/shape=%dx%[2]d/dtype=int32%s",
					order, n, pad))
			}
		}
	}
	return c
}

// stream sums an n x n matrix in memory order, by the plain loop and by vectors, which run at the
// speed of the memory. `benchstat -col /kernel` shows the cost of the loop.
func stream(n int) Comparison {
	return alsoVector(of(Sum, "", "Stream/op=sum/shape=%dx%[1]d/dtype=int32", n))
}

// pitch sums an n x n matrix by columns, with and without padded rows. It has only these two, so
// that `benchstat -col /pad` shows the cost of a power of two. The n lines of a column fit the
// caches, but not their conflict sets.
func pitch(n int) (c Comparison) {
	for _, pad := range []int{0, rowPad} {
		c = append(c, of(Sum, "", "Pitch/op=sum/order=col/shape=%dx%[1]d/dtype=int32/pad=%d", n,
			pad))
	}
	return c
}

// copyRows copies from a 4096x4096 matrix: whole, also by Go's copy, from padded rows, and every
// k-th column.
func copyRows(quick bool) Comparison {
	const format = "Copy/layout=%s/shape=4096x4096/dtype=float32"
	whole := of(Copy, "", format, "contiguous")
	c := append(alsoVector(whole, of(Copy, "", format+"/pad=%d", "padded", rowPad)),
		whole.by(Builtin))
	for _, k := range []int{2, 4, 8, 16, 32} {
		if !quick || k == 2 || k == 16 {
			c = append(c, of(Copy, fmt.Sprintf("slice(1,0,4096,%d)", k), format+"/step=%d",
				"columns", k))
		}
	}
	return c
}

func transposes(n int) Comparison {
	const format = "Copy/layout=transpose/shape=%dx%[1]d/dtype=float32"
	return alsoVector(of(Copy, transposed, format, n), of(Copy, transposed, format+"/tile=32", n))
}

// channels copies images from NCHW to NHWC and back. Both names have the shape NCHW, as PyTorch
// writes it for either memory format.
func channels() Comparison {
	const format = "Copy/layout=%s/shape=32x64x56x56/dtype=float32"
	back := of(Copy, "permute(0,3,1,2)", format, "nhwc-nchw")
	back.Spec.Shape = []int{32, 56, 56, 64}
	return alsoVector(of(Copy, "permute(0,2,3,1)", format, "nchw-nhwc"), back)
}

// broadcasts adds a row, a column, a scalar and, for comparison, a matrix to a matrix.
func broadcasts(quick bool) (c Comparison) {
	withs := []string{"4000x4000", "1x4000", "4000x1", "1x1"}
	if quick {
		withs = withs[:2]
	}
	for _, with := range withs {
		c = append(c, of(Add, "", "Broadcast/op=add/with=%s/shape=4000x4000/dtype=float32", with))
	}
	return c
}

// lineBytes is the distance between the elements of a pointer chase, each in its own cache line.
// Larger lines are rare.
const lineBytes = 64

func latency(quick bool, capacities []int) Comparison {
	sizes := []int{16 << 10, 128 << 10, 1 << 20, 8 << 20}
	if !quick {
		sizes = []int{4 << 10}
		for size := 8 << 10; size <= 64<<20; size *= 2 {
			sizes = append(sizes, size/4*3, size)
		}
	}
	var c Comparison
	for _, size := range around(sizes, capacities) {
		c = append(c, named(fmt.Sprintf("Latency/op=chase/size=%s", sizeName(size)), Scalar,
			ChaseSpec(size/lineBytes, lineBytes)))
	}
	return c
}

// ChaseSpec returns a chase of elems elements, which lie bytes apart, a multiple of 8.
func ChaseSpec(elems, bytes int) Spec {
	step := bytes / layouts.Int64.Size()
	return Spec{Op: Chase, Shape: []int{elems * step}, DType: layouts.Int64,
		View: sliced(elems*step, step)}
}

// mountain sums every stride-th element of working sets of many sizes: the memory mountain (Bryant
// and O'Hallaron, "Computer Systems: A Programmer's Perspective").
func mountain(quick bool, capacities []int) Comparison {
	sizes, strides := []int{16 << 10, 256 << 10, 16 << 20}, []int{1, 8, 64}
	if !quick {
		sizes, strides = []int{16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20, 64 << 20},
			[]int{1, 2, 4, 8, 16, 32, 64}
	}
	var c Comparison
	for _, size := range around(sizes, capacities) {
		for _, stride := range strides {
			n := size / layouts.Int64.Size()
			c = append(c, named(
				fmt.Sprintf("Mountain/op=sum/size=%s/stride=%d/dtype=int64", sizeName(size),
					stride), Scalar,
				Spec{Op: Sum, Shape: []int{n}, DType: layouts.Int64, View: sliced(n, stride)},
			))
		}
	}
	return c
}

// around adds half and twice each capacity. It rounds them to a power of two or to the middle
// between two, so that slightly different measurements give the same names.
func around(sizes, capacities []int) []int {
	const most = 256 << 20
	for _, c := range capacities {
		for _, size := range []int{c / 2, 2 * c} {
			power := 1 << (bits.Len(uint(max(size, 4<<10))) - 1)
			switch {
			case size >= power+power*3/4:
				power *= 2
			case size >= power+power/4:
				power += power / 2
			}
			sizes = append(sizes, min(power, most))
		}
	}
	slices.Sort(sizes)
	return slices.Compact(sizes)
}

func sizeName(bytes int) string {
	if bytes%(1<<20) == 0 {
		return fmt.Sprintf("%dMiB", bytes>>20)
	}
	return fmt.Sprintf("%dKiB", bytes>>10)
}

// tiles copies the transposed n x n matrix in tiles; one of n gives the plain order.
func tiles(n int, quick bool) (c Comparison) {
	sizes := []int{2, 4, 8, 16, 32, 64, 128, 256, n}
	if quick {
		sizes = []int{2, 8, 32, n}
	}
	for _, tile := range sizes {
		c = append(c, of(Copy, transposed,
			"Tile/op=copy/layout=transpose/shape=%dx%[1]d/dtype=float32/tile=%d", n, tile))
	}
	return c
}

// contiguous shows whether contiguous() pays off. It compares a sum over the transposed n x n
// matrix with the copy that contiguous() makes and a sum over the copy.
func contiguous(n int) Comparison {
	const format = "Contiguous/do=%s/shape=%dx%[2]d/dtype=float32"
	return append(Comparison{of(Sum, transposed, format, "sum-view", n)},
		alsoVector(of(Copy, transposed, format, "contiguous", n),
			of(Sum, "", format, "sum-contiguous", n))...)
}
