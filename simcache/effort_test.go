package simcache

import (
	"strings"
	"testing"
	"time"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/enginetest"
)

// TestEffort: what is proved takes none, what is looked up is told, and asking changes nothing.
func TestEffort(t *testing.T) {
	levels := TwoLevels(Geometry{32 << 10, 8, 64}, Geometry{32 << 20, 16, 64})
	square := func(n, width int) nest.Nest {
		return nest.Nest{Trips: []int{n, n}, Operands: []nest.Operand{
			{Base: 1 << 32, Width: width, Strides: []int{width, n * width}},
			{Base: 1 << 41, Width: width, Strides: []int{n * width, width}, Kind: nest.Write}}}
	}
	hours := Config{Levels: levels, Observe: all}
	for name, c := range map[string]struct {
		config      Config
		nest        nest.Nest
		passes      int
		least, most float64
	}{
		"intervals":              {Config{Levels: levels}, square(1000003, 1), 1, 0, 0},
		"one pass after another": {Config{Levels: levels}, square(1000, 4), 10, 0, 4e6},
		"columns":                {Config{Levels: levels}, square(1<<16, 4).Only(0), 1, 0, 0},
		"brute": {Config{Levels: levels, Brute: true}, square(1000, 4), 7,
			1.4e7, 1.4e7},
		// 1/16 of 5 passes
		"write-backs, in lines": {Config{Levels: levels, WriteBacks: true},
			square(1000, 4).Only(1), 7, 3e5, 3.2e5},
		"observed": {hours, square(1000, 4), 1e9, 8e6, 8e6},
		"a policy": {Config{Levels: []Level{{Geometry: levels[0].Geometry,
			Policy: "fifo"}}}, square(1000, 4), 1e6, 2e12, 2e12},
		"a TLB": {Config{Levels: levels, Brute: true,
			TLB: []TLB{{Entries: 64, Ways: 4, Page: 4096}}}, square(100, 4), 1, 4e4, 4e4},
	} {
		t.Run(name, func(t *testing.T) {
			effort := newOf(t, c.config).Effort(c.passes, c.nest)
			if effort.LookUps < c.least || effort.LookUps > 1.1*c.most {
				t.Errorf("%v, want %g to %g", effort, c.least, c.most)
			}
			if refused := effort.Check() != nil; refused != (c.least > mostLookUps) {
				t.Errorf("%v: refused: %t", effort, refused)
			}
		})
	}
}

// TestEffortChangesNothing: what comes after counts as if the effort had not been asked for.
func TestEffortChangesNothing(t *testing.T) {
	t.Parallel()
	n := nest.Nest{Trips: []int{9001, 9001}, Operands: []nest.Operand{
		enginetest.Operand(0, 4, 4, 4*9001), enginetest.Operand(1<<30, 4, 4*9001, 4)}}
	c := Config{Levels: TwoLevels(Geometry{32 << 10, 8, 64}, Geometry{1 << 20, 16, 64})}
	small := nest.Nest{Trips: []int{100, 100},
		Operands: []nest.Operand{enginetest.Operand(0, 4, 4000, 8),
			enginetest.Operand(4, 4, 4, 4000)}}
	runs := [][]nest.Nest{{small}, {small, n}, {n}, {n, small}}
	for _, run := range runs[:max(2, enginetest.Cases(len(runs)))] {
		asked, plain := newOf(t, c), newOf(t, c)
		asked.Effort(1, n)
		if len(run) == 1 {
			asked.Access(nest.Write, enginetest.At, 4)
			plain.Access(nest.Write, enginetest.At, 4)
		}
		for _, n := range run {
			if _, err := asked.Run(1, n); err != nil {
				t.Fatal(err)
			}
			if _, err := plain.Run(1, n); err != nil {
				t.Fatal(err)
			}
		}
		if asked.Counts() != plain.Counts() {
			t.Errorf("%d nests: %+v, want %+v", len(run), asked.Counts(), plain.Counts())
		}
	}
}

func TestEffortInWords(t *testing.T) {
	for effort, want := range map[Effort]string{
		{18e9, 90 * time.Second}: "18 billion references are looked up one by one, which takes " +
			"about 1m30s",
		{320e6, 150 * time.Minute}: "320 million references are looked up one by one, which " +
			"takes about 2 hours",
	} {
		if got := effort.String(); !strings.Contains(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if err := (Effort{mostLookUps, time.Hour}).Check(); err != nil {
		t.Error(err)
	}
	if got, want := (Effort{mostLookUps + 1e6, 14 * time.Hour}).Check().Error(),
		"1000 billion references are looked up one by one, which takes about 14 hours: want at "+
			"most 1000 billion, fewer passes or a smaller shape"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	var forever Effort
	for range 3 {
		forever.add(9e18, 9e18/1e8)
	}
	if forever.Time < 100*365*24*time.Hour {
		t.Errorf("%v after an overflow", forever.Time)
	}
}
