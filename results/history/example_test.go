package history_test

import (
	"fmt"
	"os"
	"time"

	"github.com/stridebench/stridebench/results/history"
)

// Keep the results of each commit, and find since when something changed.
func Example() {
	dir, err := os.MkdirTemp("", "history")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)

	// 1. A store is a folder. Add puts a run into it, once, and for good.
	store := history.Open(dir)
	first := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	for day, misses := range []int{256, 256, 256, 256, 320, 320, 320} {
		text := fmt.Sprintf("cpu: a CPU\nsim-d1: 32768,8,64\nUnit D1-misses/op assume=exact better=lower\n"+
			"BenchmarkTraverse/order=row/shape=64x64 1 %d D1-misses/op\n", misses)
		if _, _, err := store.Add("t.txt", []byte(text), fmt.Sprintf("commit%d", day),
			first.AddDate(0, 0, day)); err != nil {
			fmt.Println(err)
			return
		}
	}

	// 2. Entries are what was added, by time. Damaged ones are named, and left
	// out.
	entries, damaged, err := store.Entries()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(entries), "entries,", len(damaged), "damaged")

	// 3. Each benchmark, in each unit, is a series, with its changes.
	for _, s := range history.AllSeries(entries) {
		for _, c := range s.Changes(0.05, 0.05) {
			fmt.Printf("%s %s: %g to %g after %s, up to %s\n", c.Name, c.Unit, c.Before, c.After,
				c.Last.Commit, c.First.Commit)
		}
	}
	// Output:
	// 7 entries, 0 damaged
	// BenchmarkTraverse/order=row/shape=64x64 D1-misses/op: 256 to 320 after commit3, up to commit4
}
