package session

import (
	"slices"
	"testing"

	"github.com/stridebench/stridebench/access/session/node"
)

// TestNamed: where no brand is known, the core is the CPU's name, and says so.
func TestNamed(t *testing.T) {
	for _, test := range []struct{ brand, core, want, from string }{
		{"", "Arm Neoverse N1", "Arm Neoverse N1", "midr"}, {"AMD EPYC", "", "AMD EPYC", "cpuid"}, {"Apple M1", "Apple Firestorm of M1", "Apple M1", "cpuid"},
	} {
		m := named(node.Machine{CPU: test.brand, CPUFrom: "cpuid"}, test.core)
		if !slices.Contains(m.Facts(), node.Fact{Name: "cpu", Value: test.want, Source: test.from}) {
			t.Errorf("%+v: %+v", test, m.Facts())
		}
	}
	if m := named(node.Machine{CPUFrom: "cpuid"}, ""); slices.ContainsFunc(m.Facts(), func(f node.Fact) bool { return f.Name == "cpu" }) {
		t.Errorf("%+v", m.Facts())
	}
}
