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

// lineValues are the values of a result line, if known: all of results.Units, in order.
var lineValues = []struct {
	unit  string
	value func(m *measured) (value float64, known bool)
}{
	{"ns/op", func(m *measured) (float64, bool) { return m.sample.PerPass, true }},
	{"ns/elem", func(m *measured) (float64, bool) {
		return m.sample.PerPass / float64(m.pattern.Elems), true
	}},
	{"B/s", func(m *measured) (float64, bool) {
		return float64(m.pattern.Bytes) / m.sample.PerPass * 1e9, true
	}},
	{"D-refs/op", simulated(access.Counts.Refs)},
	{"D1-misses/op", simulated(access.Counts.D1Misses)},
	{"LL-misses/op", func(m *measured) (float64, bool) {
		if m.counts == nil || m.counts.Uncounted != "" {
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

func simulated(count func(access.Counts) uint64) func(m *measured) (float64, bool) {
	return func(m *measured) (float64, bool) {
		if m.counts == nil {
			return 0, false
		}
		return float64(count(*m.counts)), true
	}
}

func counted(e counters.Event) func(m *measured) (float64, bool) {
	return func(m *measured) (float64, bool) {
		n, known := m.sample.Events[e]
		return n, known
	}
}

func (m *measured) values() []results.Value {
	var values []results.Value
	for _, v := range lineValues {
		if value, known := v.value(m); known {
			values = append(values, results.Value{Value: value, Unit: v.unit})
		}
	}
	return values
}
