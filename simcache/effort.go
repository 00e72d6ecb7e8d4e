package simcache

import (
	"fmt"
	"time"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
)

// mostLookUps limits the references that are looked up one by one, unless Config.Brute is set.
const mostLookUps = 1e12

// An Effort estimates the references that a simulation looks up one by one: once for the data
// caches and once for a TLB.
type Effort struct {
	LookUps float64
	Time    time.Duration // approximate, on a CPU of some GHz
}

// String returns the effort in words.
func (e Effort) String() string {
	number, took := fmt.Sprintf("%.0f million", e.LookUps/1e6), e.Time.Round(time.Second).String()
	if e.LookUps > 1e10 {
		number = fmt.Sprintf("%.0f billion", e.LookUps/1e9)
	}
	if e.Time > 2*time.Hour {
		took = fmt.Sprintf("%.0f hours", e.Time.Hours())
	}
	return number + " references are looked up one by one, which takes about " + took
}

// And returns the sum of both efforts.
func (e Effort) And(other Effort) Effort {
	e.add(other.LookUps, other.Time.Seconds())
	return e
}

// Check returns an error for more than 1e12 look-ups.
func (e Effort) Check() error {
	if e.LookUps > mostLookUps {
		return fmt.Errorf("%v: want at most %.0f billion, fewer passes or a smaller shape", e,
			mostLookUps/1e9)
	}
	return nil
}

// Effort estimates the cost of Run, without summaries, whose work is not known beforehand. A
// refused effort may be only a part.
func (h *Hierarchy) Effort(passes int, nests ...nest.Nest) Effort {
	var canonical []nest.Nest
	nests = append(h.nests, nests...)
	if passes, nests = h.walks(passes, nests); len(nests) == 0 {
		return Effort{}
	}
	for _, n := range nests {
		if n.Check() != nil {
			return Effort{} // Run returns the error
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

// EffortOfProgram estimates the cost of RunProgram if every access is looked up, without summaries.
func (h *Hierarchy) EffortOfProgram(passes int, p nest.Program) Effort {
	if enough := h.settled(); enough > 0 && !h.config.Brute {
		passes = min(passes, enough)
	}
	// the same number of references, each to its own line
	like := nest.Nest{Operands: []nest.Operand{{Width: 1, Strides: []int{1 << 12}}}}
	for _, op := range p.Operands() {
		like.Operands[0].Width = max(like.Operands[0].Width, op.Width)
	}
	var effort Effort
	for _, e := range []engine.Engine{h.data, h.tlb} {
		if e == nil || !e.LooksUp(like.Operands) {
			continue
		}
		refs, err := p.Count()
		if err != nil || refs == 0 {
			return Effort{} // RunProgram returns the error
		}
		like.Trips = []int{refs}
		lookUps, seconds := e.Effort([]nest.Nest{like}, passes)
		effort.add(lookUps, seconds)
	}
	return effort
}

func (e *Effort) add(lookUps, seconds float64) {
	e.LookUps += lookUps
	e.Time = time.Duration(min(float64(e.Time)+seconds*1e9, 1<<62)) // over a century
}
