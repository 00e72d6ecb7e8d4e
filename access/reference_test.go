package access

import (
	"fmt"
	"slices"
	"testing"
	"unsafe"

	"github.com/stridebench/stridebench/layouts"
)

// TestPrepareAll: all CPUs write what one does.
func TestPrepareAll(t *testing.T) {
	t.Parallel()
	of := func(i int) int32 { return int32(i) }
	for _, n := range []int{0, 1, period, leastPart, 2*leastPart - 1, 3*leastPart + 5, 5 * leastPart} {
		got, want := make([]int32, n), make([]int32, n)
		prepareAll(got, of)
		for i := range want {
			want[i] = of(initial(i))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d elements: not all have their initial values", n)
		}
	}
}

// TestPrepareOnNodes: where it matters who touches memory first, it is who calls.
func TestPrepareOnNodes(t *testing.T) {
	before := severalNodes
	severalNodes = func() bool { return true }
	defer func() {
		severalNodes = before
		if recover() == nil { // in another goroutine, nothing could be recovered
			t.Error("nothing was written")
		}
	}()
	prepareAll(make([]int32, 8*leastPart), func(int) int32 { panic("a write") })
}

// TestReferenceRows: a wrong element is found wherever in a row it is.
func TestReferenceRows(t *testing.T) {
	t.Parallel()
	const rows, columns = 3, 5*period + 11
	p, err := Spec{Op: Copy, Shape: []int{rows, columns}, DType: layouts.Int32}.Pattern()
	if err != nil {
		t.Fatal(err)
	}
	mem := newArena(p.Memory)
	data := unsafe.Slice((*int32)(unsafe.Pointer(unsafe.SliceData(mem))), len(mem)/4)
	r, err := newRunner(p, mem)
	if err != nil {
		t.Fatal(err)
	}
	r.prepare()
	r.passes(1)
	if _, err := r.reference(); err != nil {
		t.Fatal(err)
	}
	y := p.start(p.operands[1])
	for i := range rows * columns {
		data[y+i]++
		if _, err := r.reference(); err == nil {
			t.Errorf("element %d is wrong, and found right", i)
		}
		data[y+i]--
	}
	// Rows that repeat themselves, but not what they should.
	for wrong := range period {
		for i := wrong; i < columns; i += period {
			data[y+i]++
		}
		if _, err := r.reference(); err == nil {
			t.Errorf("a row is found right that is wrong in each element %d of a period", wrong)
		}
		for i := wrong; i < columns; i += period {
			data[y+i]--
		}
	}
}

// check prepares the arena, runs one pass and compares what it did with the
// reference. It returns the sum that every later pass must return.
func (r runner) check() (float64, error) {
	r.prepare()
	sum := r.passes(1)
	want, err := r.reference()
	if err == nil && sum != want {
		err = fmt.Errorf("the native sum is %v, plainly it is %v", sum, want)
	}
	return want, err
}
