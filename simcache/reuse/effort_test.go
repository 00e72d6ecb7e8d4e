package reuse

import (
	"strings"
	"testing"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/internal/enginetest"
	"github.com/stridebench/stridebench/simcache/internal/lines"
)

// TestPagesOf: the pages that nests are said to touch are those that counting them makes,
// about, also where they lie over one another.
func TestPagesOf(t *testing.T) {
	at := enginetest.Operand
	for name, nests := range map[string][]nest.Nest{
		"dense":     {{Trips: []int{100000}, Operands: []nest.Operand{at(0, 4, 4)}}},
		"sparse":    {{Trips: []int{3000}, Operands: []nest.Operand{at(0, 4, 4096)}}},
		"transpose": {{Trips: []int{500, 500}, Operands: []nest.Operand{at(0, 4, 4, 2000), at(1<<24, 4, 2000, 4)}}},
		"one over the other": {
			{Trips: []int{1000, 100}, Operands: []nest.Operand{at(0, 4, 400, 4), at(0, 4, 400, 4)}},
			{Trips: []int{1000, 50}, Operands: []nest.Operand{at(0, 4, 400, 4)}}},
	} {
		s, err := New(64, 1)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.runPasses(1, nests...); err != nil {
			t.Fatal(err)
		}
		s.flush()
		got, want := pagesOf(nests, 64), float64(len(s.stacks[0].lines.Numbers)/lines.Page)
		if got < want/1.1 || got > 1.1*want+2 {
			t.Errorf("%s: %g pages, counted %g", name, got, want)
		}
	}
}

// tiny are two levels.
var tiny = simcache.Config{Levels: simcache.TwoLevels(
	simcache.Geometry{Size: 1024, Ways: 1, Line: 64}, simcache.Geometry{Size: 4096, Ways: 1, Line: 64})}

// TestNoRoom: nests, programs and accesses that need too much memory are refused, those
// whose lines are known beforehand before anything is counted.
func TestNoRoom(t *testing.T) {
	const pages = 1 << 14
	meter := func() *Meter {
		m, err := NewMeter(tiny, 1)
		if err != nil {
			t.Fatal(err)
		}
		m.stacks.most = pages / 4
		m.stacks.flushes = checkedFlushes - pages/2/len(m.stacks.queue) // so that it is soon asked whether there is room
		return m
	}
	m := meter()
	if between := checkedFlushes * len(m.stacks.queue) * pageBytes; between > mostMemory/8 {
		t.Errorf("%d B may be taken before it is asked whether there is room", between)
	}
	far := nest.Nest{Trips: []int{1 << 24}, Operands: []nest.Operand{enginetest.Operand(0, 4, 4096)}}
	if err := m.Passes(1, []nest.Nest{far}); err == nil || !strings.Contains(err.Error(), "7.5 GiB: want at most 4 GiB") {
		t.Error(err)
	}
	if err := m.Program(1, nest.Sequence(far.Range(0, 0, pages))); err == nil || !strings.Contains(err.Error(), "GiB") {
		t.Error(err)
	}
	if made := len(m.stacks.stacks[0].lines.Numbers) / lines.Page; made > pages*3/4 {
		t.Errorf("%d pages were made of %d", made, pages)
	}
	m = meter()
	for i := range pages {
		m.stacks.Access(nest.Read, uint64(i)<<12, 4)
	}
	if m.stacks.full == nil {
		t.Error("there is room for all")
	}
}

// TestEffort: an effort is about the look-ups that are made.
func TestEffort(t *testing.T) {
	m, err := NewMeter(tiny, 1)
	if err != nil {
		t.Fatal(err)
	}
	row := nest.Nest{Trips: []int{1600}, Operands: []nest.Operand{enginetest.Operand(0, 4, 4)}}
	column := nest.Nest{Trips: []int{40, 40}, Operands: []nest.Operand{enginetest.Operand(0, 4, 4, 160)}}
	for _, c := range []struct {
		passes int
		nests  []nest.Nest
		want   float64
	}{
		{1, []nest.Nest{row}, 200},
		{9, []nest.Nest{row}, 400},
		{1, []nest.Nest{column}, 1600},
		{3, []nest.Nest{column, column}, 6400},
	} {
		if got := m.Effort(c.passes, c.nests).LookUps; got != c.want {
			t.Errorf("%d passes over %v: %g look-ups, want %g", c.passes, c.nests, got, c.want)
		}
		if got := (*Meter)(nil).Effort(c.passes, c.nests); got != (simcache.Effort{}) {
			t.Errorf("without a meter: %v", got)
		}
	}
	if got := m.EffortOfProgram(5, nest.Sequence(column)).LookUps; got != 3200 {
		t.Errorf("a program: %g look-ups", got)
	}
}
