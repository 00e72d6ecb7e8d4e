package results_test

import (
	"errors"
	"slices"
	"strconv"
	"strings"
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
		"n:9":              `"n:9": no result of a.txt matches; names: Sum; keys: /n; values of /n: 8`} {
		of := *set
		of.Results = slices.Clone(set.Results)
		err := of.Keep(query, "a.txt")
		if e, ok := errors.AsType[*results.FilterError](err); !ok || e.Query != query || want != "" && err.Error() != want {
			t.Errorf("%q: %v", query, err)
		}
	}
}

// TestFilterHints: of a query that selects nothing, or is of another language, it is said what was meant, if that
// selects some; and else what there is.
func TestFilterHints(t *testing.T) {
	names := []string{"Copy/layout=t/shape=4000x4000/dtype=int32", "Copy/layout=n/shape=64x64/dtype=float32", "Traverse/order=row/shape=64x64/dtype=int64",
		"Traverse/order=col/shape=64x64/dtype=int32", "Stream/do=add", "Named/name=mine/view=x.T/order=row"}
	for query, want := range map[string]string{
		// keys
		"name:Traverse": ".name:Traverse", "order:col": "/order:col", "name:mine": "/name:mine", "/ordr:col": "/order:col", "/oredr:col": "/order:col", ".nam:Copy": ".name:Copy",
		"unit:ns/op": ".unit:ns/op", "/Order:col": "/order:col", ".order:col": "/order:col", "/unit:ns/op": ".unit:ns/op", "fullname:Stream/do=add": ".fullname:Stream/do=add",
		"order:col name:Traverse": "/order:col .name:Traverse", "-name:Copy /order:COL": "-.name:Copy /order:col",
		// values
		".name:traverse": ".name:Traverse", ".name:Travrse": ".name:Traverse", ".name:BenchmarkCopy": ".name:Copy", ".name:Trav*": ".name:/^Trav.*$/", ".name:Trav": ".name:Traverse",
		"/shape:4000,4000": "/shape:4000x4000", "/dtype:float": "/dtype:float32", ".unit:D1-misses": ".unit:D1-misses/op", ".unit:d1-misses/op": ".unit:D1-misses/op",
		".name:Copy/layout=t": ".name:Copy /layout:t", ".fullname:Copy/layout=t": ".name:Copy /layout:t", "'.name:Copy'": ".name:Copy", "/order:/col": "/order:col",
		// lists
		".name:Copy|Stream": ".name:(Copy OR Stream)", ".name:copy|stream": ".name:(Copy OR Stream)", ".name:Copy,Stream": ".name:(Copy OR Stream)", "/order:(col, row)": "/order:(col OR row)", "/order:(col row)": "/order:(col OR row)",
		"/order:(col|row)": "/order:(col OR row)", "/order:col /order:row": "/order:(col OR row)", ".name:Traverse /order:col /order:row": ".name:Traverse /order:(col OR row)",
		// terms
		":Copy": ".name:Copy", "/Copy/": ".name:/Copy/", "order=col": "/order:col", ".name=Copy": ".name:Copy", "/order:col,/dtype:int32": "/order:col /dtype:int32",
		".name:Copy && /layout:t": ".name:Copy /layout:t", ".name:Copy || .name:Stream": ".name:Copy OR .name:Stream", ".name:Copy or .name:Stream": ".name:Copy OR .name:Stream",
		"NOT .name:Copy": "-.name:Copy", "!.name:Copy": "-.name:Copy", "not (name:Copy or name:Stream)": "-(.name:Copy OR .name:Stream)", "(.name:copy OR .name:stream) -/layout:t": "(.name:Copy OR .name:Stream) -/layout:t",
	} {
		if got := nothing(t, query, names); got != "did you mean "+want+"?" {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	for query, want := range map[string]string{
		"/dtype:int": "; values of /dtype: float32, int32, int64", "/order:colrow": "; values of /order: col, row", ".unit:ns": "; values of .unit: B/s, D-refs/op, ",
		".name:Copy /threads:2": "; no name has the key /threads", "cpu:AMD": "; keys of names begin with a slash, and others, such as cpu, are lines of a file's head",
		".name:Copy /order:col": "; each of its terms selects some, and none has all", ".name:Zzz": "keys: /do, /dtype, /layout, /name, /order, /shape, /view",
		"/order": "want key:value, such as /order:VALUE", "BenchmarkCopy": "such as .name:Copy for all", "OR": "syntax error", "-": "syntax error", "()": "syntax error",
	} {
		if got := nothing(t, query, names); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	for _, query := range []string{".unit:ns/op", ".unit:sec/op", "/view:x.T", `.name:"Copy"`} {
		if f, err := results.NewFilter(query); err != nil || !slices.ContainsFunc(names, func(name string) bool { match, err := f.Match(name); return match && err == nil }) {
			t.Errorf("%s selects nothing, %v", query, err)
		}
	}
}

// nothing is what is said of a query that selects none of the names, behind that it does.
func nothing(t *testing.T, query string, names []string) string {
	f, err := results.NewFilter(query)
	if err == nil {
		for _, name := range names {
			if match, err := f.Match(name); match || err != nil {
				t.Errorf("%s selects %s, %v", query, name, err)
			}
		}
		err = f.Nothing("none", names)
	}
	said := strings.TrimPrefix(err.Error(), strconv.Quote(query)+": ")
	return strings.TrimPrefix(strings.TrimPrefix(said, "none: "), "want key:value: ")
}

// TestKeepUnits: a filter that names units keeps these alone.
func TestKeepUnits(t *testing.T) {
	for query, want := range map[string]string{".unit:sec/op": "sec/op", "-.unit:ns/op": "D1-misses/op", ".name:Copy": "sec/op D1-misses/op"} {
		set, err := results.Parse("a.txt", []byte("BenchmarkCopy/n=8 1 5 ns/op 7 D1-misses/op\n"))
		if err == nil {
			err = set.Keep(query, "a.txt")
		}
		if err != nil {
			t.Fatal(err)
		}
		var units []string
		for _, v := range set.Results[0].Values {
			units = append(units, v.Unit)
		}
		if got := strings.Join(units, " "); got != want {
			t.Errorf("%s keeps %s, want %s", query, got, want)
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
