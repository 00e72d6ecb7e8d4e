package session

import (
	"fmt"
	"runtime"
	"strings"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/counters"
	"github.com/stridebench/stridebench/results"
)

// A measured is a sample with what else its line of the results is made of.
type measured struct {
	pattern   access.Pattern
	counts    *access.Counts // simulated, or nil
	tlb       bool           // simulated too
	predicted float64        // ns of a pass, by the cost model
	sample    access.Sample
}

// lineValues are what a line of the results says, by unit: all of
// results.Units, in their order. A value that is not known is left out.
var lineValues = []struct {
	unit  string
	value func(m *measured) (value float64, known bool)
}{
	{"ns/op", func(m *measured) (float64, bool) { return m.sample.PerPass(), true }},
	{"ns/elem", func(m *measured) (float64, bool) {
		return m.sample.PerPass() / float64(m.pattern.Elems), true
	}},
	{"B/s", func(m *measured) (float64, bool) {
		return float64(m.pattern.Bytes) / m.sample.PerPass() * 1e9, true
	}},
	{"D-refs/op", simulated(access.Counts.Refs)},
	{"D1-misses/op", simulated(access.Counts.D1Misses)},
	{"LL-misses/op", func(m *measured) (float64, bool) {
		if m.counts == nil || m.counts.Shared {
			return 0, false
		}
		return float64(m.counts.LLMisses()), true
	}},
	{"TLB-misses/op", func(m *measured) (float64, bool) {
		if !m.tlb {
			return 0, false
		}
		return float64(m.counts.TLBMisses), true
	}},
	{results.PredictedUnit, func(m *measured) (float64, bool) {
		return m.predicted, m.predicted > 0
	}},
	{"hw-L1d-misses/op", counted(counters.L1DMisses)},
	{"hw-LLC-misses/op", counted(counters.LLCMisses)},
	{"hw-dTLB-misses/op", counted(counters.DTLBMisses)},
	{"hw-instructions/op", counted(counters.Instructions)},
	{"hw-cycles/op", counted(counters.Cycles)},
}

// simulated is how often the simulator counted something in a pass.
func simulated(count func(access.Counts) uint64) func(m *measured) (float64, bool) {
	return func(m *measured) (float64, bool) {
		if m.counts == nil {
			return 0, false
		}
		return float64(count(*m.counts)), true
	}
}

// counted is how often the CPU counted an event in a pass.
func counted(e counters.Event) func(m *measured) (float64, bool) {
	return func(m *measured) (float64, bool) { return m.sample.EventsPerPass(e) }
}

// values are those of lineValues that are known.
func (m *measured) values() []results.Value {
	var values []results.Value
	for _, v := range lineValues {
		if value, known := v.value(m); known {
			values = append(values, results.Value{Value: value, Unit: v.unit})
		}
	}
	return values
}

// Counters says which counters of the CPU there are here, or why there are none.
func Counters() string {
	_, note := hardware()
	return note
}

// hardware finds out which counters of the CPU there are here. It returns what
// opens them on the thread that calls it, nil where there are none, and what
// there is to say about it.
func hardware() (open func() (counters.Reader, error), note string) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	open = func() (counters.Reader, error) {
		r, _, err := counters.Open(counters.Hardware...)
		return r, err
	}
	r, missing, err := counters.Open(counters.Hardware...)
	if err != nil {
		return nil, "none of the CPU's: " + counters.Explain(err, counters.Paranoia())
	}
	var words []string
	for _, e := range r.Events() {
		words = append(words, e.String())
	}
	for _, m := range missing {
		words = append(words, fmt.Sprintf("no %s (%v)", m.Event, m.Err))
	}
	if err := r.Close(); err != nil {
		return nil, err.Error()
	}
	return open, strings.Join(words, ", ")
}
