package reuse

import (
	"strings"
	"testing"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/internal/enginetest"
	"github.com/stridebench/stridebench/simcache/internal/lines"
)

// tiny are two levels.
var tiny = simcache.Config{Levels: simcache.TwoLevels(
	simcache.Geometry{Size: 1024, Ways: 1, Line: 64},
	simcache.Geometry{Size: 4096, Ways: 1, Line: 64})}

// TestNoRoom: programs and accesses that need too much memory are refused.
func TestNoRoom(t *testing.T) {
	const pages = 1 << 14
	meter := func() *Meter {
		m, err := NewMeter(tiny, 1)
		if err != nil {
			t.Fatal(err)
		}
		m.stacks.most = pages / 4
		// so that it is soon asked whether there is room
		m.stacks.flushes = checkedFlushes - pages/2/len(m.stacks.queue)
		return m
	}
	m := meter()
	if between := checkedFlushes * len(m.stacks.queue) * pageBytes; between > mostMemory/8 {
		t.Errorf("%d B may be taken before it is asked whether there is room", between)
	}
	far := nest.Nest{Trips: []int{pages}, Operands: []nest.Operand{enginetest.Operand(0, 4, 4096)}}
	if err := m.Passes(1, nest.Sequence(far)); err == nil ||
		!strings.Contains(err.Error(), "more than 4 GiB") {
		t.Error(err)
	}
	if made := len(m.stacks.stacks[0].lines.Numbers) / lines.Page; made > pages*3/4 {
		t.Errorf("%d pages were made of %d", made, pages)
	}
	m = meter()
	for i := range pages {
		m.stacks.access(nest.Read, uint64(i)<<12, 4)
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
	column := nest.Nest{Trips: []int{40, 40},
		Operands: []nest.Operand{enginetest.Operand(0, 4, 4, 160)}}
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
		if got := m.Effort(c.passes, nest.Sequence(c.nests...)).LookUps; got != c.want {
			t.Errorf("%d passes over %v: %g look-ups, want %g", c.passes, c.nests, got, c.want)
		}
	}
	if got := (*Meter)(nil).Effort(1, nest.Sequence(row)); got != (simcache.Effort{}) {
		t.Errorf("without a meter: %v", got)
	}
}
