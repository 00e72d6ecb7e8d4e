package check_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stridebench/stridebench/results/check"
)

const exactHead = machineHead +
	"Unit D1-misses/op assume=exact better=lower\nUnit LL-misses/op assume=exact " +
	"better=lower\nUnit hits/op assume=exact better=higher\n"

// TestVanishedUnits: a unit that many benchmarks lack is one note, and one that is guarded a row
// of the page.
func TestVanishedUnits(t *testing.T) {
	old := exactHead + "BenchmarkA 1 5 D1-misses/op 7 LL-misses/op\nBenchmarkB 1 5 D1-misses/op " +
		"7 LL-misses/op\nBenchmarkC 1 5 D1-misses/op 3 hits/op\n"
	r := must(compare(old, exactHead+
		"BenchmarkA 1 5 D1-misses/op\nBenchmarkB 1 5 D1-misses/op\nBenchmarkC 1 5 D1-misses/op\n",
		usual))
	want := []string{"vanished: LL-misses/op of 2 benchmarks is in the baseline only",
		"vanished: C hits/op is in the baseline only"}
	if diff := cmp.Diff(want, r.Notes); diff != "" {
		t.Error(diff)
	}
	if page := written("markdown", r); !strings.Contains(page,
		"| <code>C</code> | <code>hits/op</code> |") {
		t.Error(page)
	}
}

// TestManyVanished: of names so many are told, and of files that have none in common one.
func TestManyVanished(t *testing.T) {
	old := exactHead
	for i := range 53 {
		old += fmt.Sprintf("BenchmarkX/i=%d 1 5 D1-misses/op\n", i)
	}
	for _, c := range []struct {
		name, want string
		notes      int
	}{
		{"X/i=0", "vanished: 2 more in the baseline only", 51},
		{"Y", "vanished: 52 more in the baseline only", 3}, // and what appeared
	} {
		r := must(compare(old, exactHead+"Benchmark"+c.name+" 1 5 D1-misses/op\n", usual))
		if notes := r.Notes; !slices.Contains(notes, c.want) || len(notes) != c.notes {
			t.Errorf("%d notes, of %d and %q: %q", len(notes), c.notes, c.want, notes)
		}
	}
}

// TestWorst: of the samples of an exact unit the worst is compared, whichever way is better, with
// the best of the baseline, and a rise by just the tolerance is tolerated.
func TestWorst(t *testing.T) {
	o := usual
	o.ExactTolerance = 0.1
	for _, c := range []struct {
		unit, old, new string
		want           check.Verdict
	}{
		{"hits/op", "5 7", "6 9", check.Regression}, // 7 and 6
		{"hits/op", "5 7", "8 9", check.Improvement},
		{"hits/op", "7", "7 9", "same"},
		{"D1-misses/op", "5 7", "4 6", check.Regression}, // 5 and 6
		{"D1-misses/op", "5 7", "4 5", "same"},
		{"D1-misses/op", "100", "110", "tolerated"},
		{"D1-misses/op", "100", "111", check.Regression},
	} {
		text := func(values string) string {
			lines := exactHead
			for _, v := range strings.Fields(values) {
				lines += "BenchmarkX 1 " + v + " " + c.unit + "\n"
			}
			return lines
		}
		r, err := compare(text(c.old), text(c.new), o)
		if err != nil || len(r.Comparisons) != 1 || r.Comparisons[0].Verdict != c.want {
			t.Errorf("%s from %s to %s: %+v, %v, want %s", c.unit, c.old, c.new, r, err, c.want)
		}
	}
}

// TestJUnitTotals: what fails and what is skipped is counted as it is written.
func TestJUnitTotals(t *testing.T) {
	old := exactHead + "BenchmarkA 1 5 D1-misses/op\nBenchmarkB 1 5 D1-misses/op\nBenchmarkC 1 5 " +
		"D1-misses/op\n"
	r := must(compare(old, exactHead+
		"BenchmarkA 1 6 D1-misses/op\nBenchmarkB 1 5 D1-misses/op\nBenchmarkD 1 5 D1-misses/op\n",
		usual))
	if text := written("junit", r); !strings.Contains(text,
		`<testsuites tests="4" failures="2">`) ||
		!strings.Contains(text, `tests="4" failures="2" skipped="1">`) {
		t.Error(text)
	}
}

// TestCertain: a chance is none above 1, whatever it was corrected for.
func TestCertain(t *testing.T) {
	text := file(machineHead, bench{"X", around(1000, 10), 1}, bench{"Y", around(1000, 10), 1},
		bench{"Z", around(1000, 10), 1})
	r := must(compare(text, text, usual))
	for _, c := range r.Comparisons {
		if !c.Exact && c.P != 1 {
			t.Errorf("%s: p=%v, want 1", c.Name, c.P)
		}
	}
}
