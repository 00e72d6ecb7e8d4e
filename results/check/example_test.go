package check_test

import (
	"fmt"
	"strings"

	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/results/check"
)

// A gate in a program of one's own: a new run against the baseline.
func Example() {
	const head = "goos: linux\ncpu: a CPU\nsim-d1: 32768,8,64\nUnit D1-misses/op assume=exact better=lower\n"
	run := func(name string, misses int, times ...int) *results.Set {
		var b strings.Builder
		b.WriteString(head)
		for _, ns := range times {
			fmt.Fprintf(&b, "BenchmarkTraverse/order=col/shape=64x64 1 %d ns/op %d D1-misses/op\n", ns,
				misses)
		}
		set, err := results.Parse(name, []byte(b.String()))
		if err != nil {
			panic(err)
		}
		return set
	}

	// 1. Read both, the baseline first.
	old := run("baseline.txt", 256, 1000, 1010, 1005, 990, 995, 1002, 1003, 998)
	new := run("new.txt", 4096, 1210, 1190, 1205, 1202, 1195, 1198, 1207, 1201)

	// 2. Compare them. Exact units need no statistics; times do, and a threshold.
	report, err := check.Compare(old, new,
		check.Options{Alpha: 0.01, Threshold: 0.05, Times: "auto"})
	if err != nil {
		fmt.Println(err)
		return
	}

	// 3. Ask whether something got worse, and what, the largest change first.
	fmt.Println(report.Err())
	for _, c := range report.Of(check.Regression) {
		fmt.Printf("%s %s: %+.0f%%\n", c.Name, c.Unit, 100*c.Change)
	}

	// 4. Or have all of it written, as text, Markdown, JSON or JUnit.
	var page strings.Builder
	if err := check.Formats["markdown"](&page, report); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("the page names the benchmark:",
		strings.Contains(page.String(), "Traverse/order=col/shape=64x64"))
	// Output:
	// 2 regressions, 0 improvements; compared 1 exact count and 1 time
	// Traverse/order=col/shape=64x64 D1-misses/op: +1500%
	// Traverse/order=col/shape=64x64 sec/op: +20%
	// the page names the benchmark: true
}
