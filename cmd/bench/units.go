package main

import (
	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/results"
)

// A measured is a sample with what else its line of the results is made of.
type measured struct {
	pattern access.Pattern
	counts  access.Counts // simulated
	tlb     bool          // simulated too
	sample  access.Sample
}

// lineValues are what a line of the results says, by unit: all of
// results.Units, in their order. A value that is not known is left out.
var lineValues = []struct {
	unit  string
	value func(m *measured) (value float64, known bool)
}{
	{"ns/op", func(m *measured) (float64, bool) { return m.sample.PerPass(), true }},
	{"ns/elem", func(m *measured) (float64, bool) { return m.sample.PerPass() / float64(m.pattern.Elems), true }},
	{"B/s", func(m *measured) (float64, bool) { return float64(m.pattern.Bytes) / m.sample.PerPass() * 1e9, true }},
	{"D-refs/op", func(m *measured) (float64, bool) { return float64(m.counts.Refs()), true }},
	{"D1-misses/op", func(m *measured) (float64, bool) { return float64(m.counts.D1Misses()), true }},
	{"LL-misses/op", func(m *measured) (float64, bool) { return float64(m.counts.LLMisses()), true }},
	{"TLB-misses/op", func(m *measured) (float64, bool) { return float64(m.counts.TLBMisses), m.tlb }},
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
