package simcache

import (
	"fmt"
	"time"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
)

// mostLookUps is how many references are looked up one by one at most, unless
// Config.Brute asks for it.
const mostLookUps = 1e12

// An Effort is about what it takes to simulate something: references that are looked up
// one by one, each once for the data caches and once more for a TLB.
type Effort struct {
	LookUps float64
	Time    time.Duration // on a CPU of some GHz, about
}

// String says it in words.
func (e Effort) String() string {
	return fmt.Sprintf("%s references are looked up one by one, which takes %s", inWords(e.LookUps),
		timeInWords(e.Time))
}

// And is what two take together.
func (e Effort) And(other Effort) Effort {
	e.add(other.LookUps, other.Time.Seconds())
	return e
}

// Check refuses more than mostLookUps.
func (e Effort) Check() error {
	if e.LookUps > mostLookUps {
		over := ""
		if inWords(e.LookUps) == inWords(mostLookUps) {
			over = "just over "
		}
		return fmt.Errorf("%s%v: want at most %s, fewer passes or a smaller shape", over, e,
			inWords(mostLookUps))
	}
	return nil
}

// inWords is a large number as people read it, of two or three digits: "320 million".
func inWords(n float64) string {
	for _, power := range []struct {
		of   float64
		name string
	}{{1e18, " quintillion"}, {1e15, " quadrillion"}, {1e12, " trillion"}, {1e9, " billion"},
		{1e6, " million"}} {
		if n >= 0.9995*power.of { // 999.5 million are a billion
			return twoDigits(n/power.of) + power.name
		}
	}
	return twoDigits(n)
}

// timeInWords is a time as people read it: "about 3 hours".
func timeInWords(t time.Duration) string {
	const day = 24 * time.Hour
	const year = 365 * day
	unit, of := "seconds", time.Second
	switch {
	case t > 100*year:
		return "over a century"
	case t > year:
		unit, of = "years", year
	case t > 2*day:
		unit, of = "days", day
	case t > 2*time.Hour:
		unit, of = "hours", time.Hour
	case t > 2*time.Minute:
		unit, of = "minutes", time.Minute
	}
	return fmt.Sprintf("about %s %s", twoDigits(float64(t)/float64(of)), unit)
}

// twoDigits is a number with a digit behind the point below 10, and none from there on.
func twoDigits(n float64) string {
	if n < 9.95 {
		return fmt.Sprintf("%.2g", n)
	}
	return fmt.Sprintf("%.0f", n)
}

// Effort is about what RunPasses of these nests would take. It leaves out what summaries count, as
// their work is not known beforehand. Of what is refused it may be a part that is too much.
func (h *Hierarchy) Effort(passes int, nests ...nest.Nest) Effort {
	var canonical []nest.Nest
	if passes, nests = h.walks(passes, nests); len(nests) == 0 {
		return Effort{}
	}
	for _, n := range nests {
		if n.Check() != nil {
			return Effort{} // RunPasses says why
		}
		canonical = append(canonical, n.Canonical())
	}
	h.tally()
	var effort Effort
	for _, e := range []engine.Engine{h.data, h.tlb} {
		if e != nil && (effort.Check() == nil || h.config.Brute) {
			lookUps, seconds := e.Effort(canonical, passes)
			effort.add(lookUps, seconds)
		}
	}
	return effort
}

// EffortOfProgram is about what RunProgram would take where it looks up every access. What
// summaries take is not known beforehand, and not counted.
func (h *Hierarchy) EffortOfProgram(passes int, p nest.Program) Effort {
	refs, err := p.Count()
	if err != nil || refs == 0 {
		return Effort{} // RunProgram says why
	}
	if enough := h.settled(); enough > 0 && !h.config.Brute {
		passes = min(passes, enough)
	}
	// As many references, each to a line of its own.
	like := nest.Nest{Trips: []int{refs}, Operands: []nest.Operand{{Width: 1,
		Strides: []int{1 << 12}}}}
	for _, op := range p.Operands() {
		like.Operands[0].Width = max(like.Operands[0].Width, op.Width)
	}
	var effort Effort
	for _, e := range []engine.Engine{h.data, h.tlb} {
		if e != nil && e.LooksUp(like.Operands) {
			lookUps, seconds := e.Effort([]nest.Nest{like}, passes)
			effort.add(lookUps, seconds)
		}
	}
	return effort
}

func (e *Effort) add(lookUps, seconds float64) {
	e.LookUps += lookUps
	e.Time = time.Duration(min(float64(e.Time)+seconds*1e9, 1<<62)) // over a century
}
