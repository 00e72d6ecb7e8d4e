package cost

import (
	"fmt"
	"math"
	"testing"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/probe"
	"github.com/stridebench/stridebench/layouts"
)

// TestBegins: runs of memory whose beginnings no prefetcher foresees take longer for each by what was measured of it, by the bytes
// of their elements, and of a nearer level by its latency; half of it where they go on where others ended. Runs that prefetchers follow, short
// ones, those that are written and vectors take what they did.
func TestBegins(t *testing.T) {
	const runs = 64 << 10
	begin := func(s access.Spec, each int) float64 { // ns a run, of the largest of what was measured
		p := pattern(t, s)
		without, with := generic, generic
		with.Times.Starts = []probe.Point{{Size: 2, Ns: 100e3}, {Size: 8, Ns: 50e3}}
		ns := func(m Model) float64 {
			got, err := m.Predict(p)
			if err != nil {
				t.Fatal(err)
			}
			return got.Ns
		}
		return (ns(with) - ns(without)) / float64(p.Elems) * float64(each)
	}
	columns := func(lines int, dtype layouts.DType) (access.Spec, int) {
		each := lines * line / dtype.Size()
		return access.Spec{Shape: []int{runs, (64*line + line) / dtype.Size()}, DType: dtype, View: layouts.MustParseChain(fmt.Sprintf("narrow(1,0,%d)", each))}, each
	}
	for _, c := range []struct {
		lines int
		dtype layouts.DType
		op    access.Op
		want  float64
	}{
		{16, layouts.Int16, access.Sum, 100e3},
		{16, layouts.Int32, access.Sum, 75e3},
		{16, layouts.Int64, access.Copy, 50e3},
		{16, layouts.Int8, access.Copy, 100e3},
		{16, layouts.Complex128, access.Copy, 50e3},
		{3, layouts.Int16, access.Sum, 0}, // too short to be seen as a stream
		{16, layouts.Int16, access.Fill, 0},
	} {
		s, each := columns(c.lines, c.dtype)
		s.Op = c.op
		if got := begin(s, each); math.Abs(got-c.want) > .02*100e3 {
			t.Errorf("%s: a run takes %.0f ns more to begin, want %.0f", s.Name(), got, c.want)
		}
	}
	// Rows by turns, of runs that go on: few are followed, of many half of it is left, and all of it of so many that what was brought is gone.
	for _, c := range []struct {
		rows, lines int
		want        float64
	}{{64, 16, 50e3}, {64, 8, 0}, {8, 16, 0}, {4096, 16, 100e3}, {4096, 8, 100e3}} {
		each := c.lines * line / 2
		s := access.Spec{Shape: []int{c.rows, runs * 16 / c.rows / c.lines, each}, DType: layouts.Int16, View: layouts.MustParseChain("permute(1,0,2)")}
		if got := begin(s, each); math.Abs(got-c.want) > .02*100e3 {
			t.Errorf("%s: a run takes %.0f ns more to begin, want %.0f", s.Name(), got, c.want)
		}
	}
	m := generic
	m.Times.Starts = []probe.Point{{Size: 2, Ns: 120}}
	v := visit{stride: Stride{Far: .1, Next: .9, loop: -1, run: 16, step: 2}}
	if got, known := m.begins(v, 1); !known || got != 16 { // of 120 ns of memory the third level has 16
		t.Errorf("a run of the third level takes %v ns more to begin, want 16", got)
	}
	v.vectors = true
	if _, known := m.begins(v, 2); known {
		t.Error("vectors, which ask for lines ahead, wait for the beginning of a run")
	}
}
