package results_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/stridebench/stridebench/results"
)

// TestFilter: a filter takes names that have not run yet, and results by their
// units; what is wrong with it is an error that carries the query.
func TestFilter(t *testing.T) {
	f, err := results.NewFilter(".name:Copy /n:8 .unit:ns/op")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"Copy/n=8": true, "Copy/n=9": false, "Sum/n=8": false} {
		if got, err := f.Match(name); got != want || err != nil {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	set, err := results.Parse("a.txt", []byte("BenchmarkCopy/n=8 1 5 ns/op\nBenchmarkSum/n=8 1 5 ns/op\n"))
	if err != nil {
		t.Fatal(err)
	}
	if err := set.Keep(".name:Sum", "a.txt"); err != nil || len(set.Results) != 1 || !set.Names()["Sum/n=8"] {
		t.Errorf("%v, %v", set.Names(), err)
	}
	for query, want := range map[string]string{".name:Copy": `".name:Copy": no result of a.txt matches; names: Sum; keys: /n`,
		"Copy": `"Copy": want key:value, such as .name:Copy for all benchmarks of that name, or /dtype:int32`, "x(": "",
		"Sum/n=8":          `"Sum/n=8": want key:value: did you mean .name:Sum /n:8?`,
		"/n=8":             `"/n=8": want key:value: did you mean /n:8?`,
		"n=8":              `"n=8": want key:value: did you mean /n:8?`,
		".name:Sum /n=8":   `".name:Sum /n=8": want key:value: did you mean .name:Sum /n:8?`,
		"Sum/view=t(0, 1)": `"Sum/view=t(0, 1)": syntax error: expected key:value at byte 1`,
		"Sum/view=t(0,1)":  `"Sum/view=t(0,1)": want key:value: did you mean .name:Sum /view:"t(0,1)"?`,
		"n:9":              `"n:9": no result of a.txt matches; names: Sum; keys: /n; did you mean /n:9?`} {
		of := *set
		of.Results = slices.Clone(set.Results)
		err := of.Keep(query, "a.txt")
		if e, ok := errors.AsType[*results.FilterError](err); !ok || e.Query != query || want != "" && err.Error() != want {
			t.Errorf("%q: %v", query, err)
		}
	}
}

// TestDistinct: two paths to one file are not distinct, whatever they are called.
func TestDistinct(t *testing.T) {
	dir := t.TempDir()
	if err := results.WriteFile(dir+"/a", []byte("a")); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{dir + "/a": false, dir + "/./a": false, dir + "/b": true} {
		if results.Distinct(dir+"/a", path) != want {
			t.Errorf("%s and a: distinct is not %v", path, want)
		}
	}
}
