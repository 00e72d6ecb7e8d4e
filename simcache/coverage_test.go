package simcache

import (
	"maps"
	"slices"
	"sync"
	"testing"
)

// met counts what random tests meet.
var met = struct {
	sync.Mutex
	times map[string]uint64
}{times: map[string]uint64{}}

// meet counts something met so many times.
func meet(what string, times uint64) {
	met.Lock()
	defer met.Unlock()
	met.times[what] += times
}

// TestCoverage prints what the cases of random tests meet: go test -run Coverage -v.
func TestCoverage(t *testing.T) {
	if !testing.Verbose() {
		t.Skip("it repeats other tests, and prints a table with -v")
	}
	t.Run("of", func(t *testing.T) {
		for name, test := range map[string]func(*testing.T){
			"classes": TestClassesByDefinition, "lines": TestSmallLines, "passes": TestPassesAreMultiplied,
			"hierarchies": TestHierarchyDecides, "levels": TestManyLevelsDecide, "steady": TestSteadyByBrute,
			"policies": TestPoliciesEqualSlow, "plain": TestPlainEqualSlow,
			"programs": TestRunProgram, "reuses": TestReusesByDefinition, "threads": TestThreadsPasses,
			"reuses of programs": TestReusesOfPrograms,
		} {
			t.Run(name, test)
		}
	})
	for _, what := range slices.Sorted(maps.Keys(met.times)) {
		t.Logf("%9d %s", met.times[what], what)
	}
}
