package kernel

import (
	"fmt"
	"testing"
)

// zipLoops are those of a copy of three images of so many channels and pixels, whose
// rows lie pad bytes apart: zipped, each channel's row becomes a part of each pixel;
// otherwise the reverse.
func zipLoops(zipped bool, size, channels, pixels, pad int) []Loop {
	pitch := pixels*size + pad
	rows, columns, images := Loop{channels, size, pitch}, Loop{pixels, channels * size, size}, Loop{3, channels * pixels * size, channels * pitch}
	if zipped {
		return []Loop{images, columns, rows}
	}
	for _, l := range []*Loop{&rows, &columns, &images} {
		l.To, l.From = l.From, l.To
	}
	return []Loop{images, rows, columns}
}

// TestNotZipped: what is no few rows one after the other goes as before.
func TestNotZipped(t *testing.T) {
	rgb := zipLoops(true, 4, 3, 100, 0)
	for name, c := range map[string]struct {
		size  int
		loops []Loop
	}{
		"eight rows":            {4, zipLoops(true, 4, 8, 100, 0)},
		"eight columns":         {4, zipLoops(false, 4, 8, 100, 0)},
		"short rows":            {4, zipLoops(true, 4, 3, 15, 0)},
		"short columns":         {4, zipLoops(false, 4, 3, 15, 0)},
		"16 B":                  {16, zipLoops(true, 16, 3, 100, 0)},
		"pixels with a hole":    {4, []Loop{rgb[0], {100, 16, 4}, rgb[2]}},
		"holes in what is read": {4, []Loop{{3, 400, 4}, {100, 4, 16}}},
		"channels turned round": {4, []Loop{{100, 12, 4}, {3, -4, 400}}},
		"pixels turned round":   {4, []Loop{{100, 12, -4}, {3, 4, 400}}},
		"every other":           {4, []Loop{{100, 12, 8}, {3, 4, 800}}},
	} {
		for _, s := range All() {
			for i, step := range NewPlan(s, c.size, c.loops).Steps {
				if len(step.Body) == 4*3 || len(step.Body) == 6*3 || len(step.Body) == 4*8 || len(step.Body) == 6*8 {
					t.Errorf("%s: %s: step %d is of %d accesses", s.Name(), name, i, len(step.Body))
				}
			}
		}
	}
}

// TestOneRowIsNotZipped: what is left of larger copies may be one row.
func TestOneRowIsNotZipped(t *testing.T) {
	one, many := Loop{1, 4, 4}, Loop{100, 4, 4}
	if p := (&Plan{set: avx2, size: 4}); p.zipped(nil, one, many) || p.zipped(nil, many, one) {
		t.Error("one row is interleaved")
	}
}

// TestZippedPastCaches: whole lines are written past the caches, from as many bytes on
// as runs are, and no others.
func TestZippedPastCaches(t *testing.T) {
	for _, s := range All() {
		for _, c := range []struct {
			loops []Loop
			runs  int
			want  bool
		}{
			{zipLoops(true, 4, 3, 64, 4), 3 * 3 * 64 * 4, true},
			{zipLoops(true, 4, 3, 64, 4), 3*3*64*4 + 1, false},
			{zipLoops(true, 4, 3, 65, 4), 1, false},
			{zipLoops(false, 4, 3, 64, 0), 1, true},
			{zipLoops(false, 4, 3, 64, line), 1, true},
			{zipLoops(false, 4, 3, 64, 4), 1, false},
			{zipLoops(false, 4, 3, 65, line), 1, false},
		} {
			undo := tune(s, Tuning{c.runs, Never, Never, Never, 1, Never, 1})
			if got := NewPlan(s, 4, c.loops).PastCaches(); got != (c.want && s.zips) {
				t.Errorf("%s: %v from %d B on: %t", s.Name(), c.loops, c.runs, got)
			}
			undo()
		}
	}
	defer tune(avx2, Tuning{1, 1, 1, 1, 1, Never, 1})()
	for _, zip := range []bool{false, true} {
		s := &NewPlan(avx2, 4, zipLoops(zip, 4, 3, 64, 0)).Steps[0]
		if !s.past(s, line) || s.past(s, line+4) {
			t.Errorf("zipped: %t: past the caches from anywhere, or nowhere", zip)
		}
	}
}

// TestZippedMachineCode: the assembly touches what is said, in that order.
func TestZippedMachineCode(t *testing.T) {
	functions := assembly(t, "kernels_amd64.s")
	for n := 2; n <= mostZipped; n++ {
		for name, step := range map[string]Step{
			"zip":   {Loops: []Loop{{5, n * line, line}}, Body: zipBody(n, -1000)},
			"unzip": {Loops: []Loop{{5, line, n * line}}, Body: unzipBody(n, -1000)},
			"pick":  {Loops: []Loop{{5, line, n * line}}, Body: pickBody(n)},
		} {
			for _, stream := range []string{"", "Stream"} {
				name := fmt.Sprint(name, stream, n, "AVX2")
				arguments := map[string]int{"dst": writtenAt, "src": readAt, "masks": elsewhere, "groups": 5, "pitch": -1000, "asked": elsewhere}
				same(t, name, run(t, functions[name], arguments, readAt-1<<30, elsewhere), said(step, readAt, writtenAt, 0))
			}
		}
	}
}
