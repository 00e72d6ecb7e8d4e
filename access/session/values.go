package session

import (
	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/counters"
	"github.com/stridebench/stridebench/results"
)

type measured struct {
	pattern   access.Pattern
	counts    *access.Counts // simulated, or nil
	tlb       bool           // simulated too
	predicted float64        // ns of a pass, by the cost model
	sample    access.Sample
}

// values returns the known values of a result line, in the order of results.Units.
func (m *measured) values() (all []results.Value) {
	add := func(unit string, value float64) {
		all = append(all, results.Value{Value: value, Unit: unit})
	}
	ns := m.sample.PerPass
	add("ns/op", ns)
	add("ns/elem", ns/float64(m.pattern.Elems))
	add("B/s", float64(m.pattern.Bytes)/ns*1e9)
	if c := m.counts; c != nil {
		add("D-refs/op", float64(c.Refs()))
		add("D1-misses/op", float64(c.D1Misses()))
		if c.Uncounted == "" {
			add("LL-misses/op", float64(c.LLMisses()))
		}
		if m.tlb {
			add("TLB-misses/op", float64(c.TLBMisses))
		}
	}
	if m.predicted > 0 {
		add(results.PredictedUnit, m.predicted)
	}
	for _, hw := range counted {
		if n, known := m.sample.Events[hw.event]; known {
			add(hw.unit, n)
		}
	}
	return all
}

var counted = []struct {
	unit  string
	event counters.Event
}{
	{"hw-L1d-misses/op", counters.L1DMisses}, {"hw-LLC-misses/op", counters.LLCMisses},
	{"hw-dTLB-misses/op", counters.DTLBMisses}, {"hw-instructions/op", counters.Instructions},
	{"hw-cycles/op", counters.Cycles},
}
