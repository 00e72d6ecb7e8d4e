package history

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/results/export"
)

// TestTrendInWords: a line says all of a change, the latest first, and of what vanished so many
// are listed.
func TestTrendInWords(t *testing.T) {
	day := func(n int) time.Time { return time.Date(2026, 11, n, 2, 0, 0, 0, time.UTC) }
	point := func(n int, commit string) Point { return Point{Time: day(n), Commit: commit} }
	half, small := -0.5, 0.0001
	trend := Trend{series: 3, entries: 9, Changes: []Change{
		{Name: "A", Unit: "sec/op", On: "0123", Before: 1.0 / 3, After: 1.0 / 6, Size: &half,
			Confidence: 0.9951, Last: point(1, "0123456789abcdef"),
			First: point(2, "fedcba9876543210+dirty")},
		{Name: "B", Unit: "D1-misses/op", On: "4567", Label: "host=n1", Exact: true, After: 12,
			Confidence: 1, Worse: true, Last: point(3, "a"), First: point(4, "b")},
		{Name: "C", Unit: "D1-misses/op", On: "4567", Exact: true, Before: 1e6, After: 1000100,
			Size: &small, Confidence: 1, Worse: true, Last: point(3, "a"), First: point(4, "b")},
	}, Gone: []Gone{{Name: "D", On: "0123", Last: point(1, "a"), Commit: "b", Since: day(2)},
		{Name: "E", Unit: "sec/op", On: "0123", Label: "host=n1", Last: point(1, "a"), Commit: "b",
			Since: day(2)}}}
	want := `better A sec/op: 0.3333333333 -> 0.1666666667 (-50.0%, confidence 99.5%) after 0123456789ab, up to fedcba987654+dirty of 2026-11-02T02:00:00Z, on machine 0123
worse B D1-misses/op: 0 -> 12 (from 0, exact) after a, up to b of 2026-11-04T02:00:00Z, on host=n1
worse C D1-misses/op: 1000000 -> 1000100 (+0.01%, exact) after a, up to b of 2026-11-04T02:00:00Z, on simulated caches 4567
vanished D: last in a of 2026-11-01T02:00:00Z, not in b of 2026-11-02T02:00:00Z, on machine 0123
vanished E sec/op: last in a of 2026-11-01T02:00:00Z, not in b of 2026-11-02T02:00:00Z, on host=n1
changes found: 3 (series: 3, entries: 9)
`
	var b strings.Builder
	if err := trend.Write(&b); err != nil || b.String() != want {
		t.Error(cmp.Diff(want, b.String()), err)
	}
	if all := trend.All(); len(all) != 5 ||
		cmp.Diff([]any{trend.Changes[0], trend.Gone[1]}, []any{all[0], all[4]}) != "" {
		t.Errorf("%v", all)
	}
	for i := range shownGone {
		trend.Gone = append(trend.Gone, Gone{Name: fmt.Sprint(i)})
	}
	b.Reset()
	if err := trend.Write(&b); err != nil || strings.Count(b.String(),
		"\nvanished ") != shownGone ||
		!strings.Contains(b.String(), "\nvanished: 2 more (--format json has all)\n") {
		t.Error(b.String(), err)
	}
}

// TestTables: entries and series as people see them.
func TestTables(t *testing.T) {
	day := time.Date(2026, 11, 1, 2, 0, 0, 0, time.UTC)
	e := Entry{File: "a.txt", Time: day, Commit: "0123456789abcdef", Fingerprint: "abcd",
		Machine: results.Fingerprint{{Key: "cpu", Value: "Example 9000"}},
		Records: []export.Record{{Name: "A", Unit: "sec/op"}, {Name: "A", Unit: "D1-misses/op"},
			{Name: "B", Unit: "sec/op"}}}
	var b strings.Builder
	const list = "time                  commit        machine  cpu           benchmarks  " +
		"file\n2026-11-01T02:00:00Z  0123456789ab  abcd     Example 9000  2           a.txt\n"
	if err := WriteList(&b, []Entry{e}); err != nil || b.String() != list {
		t.Error(cmp.Diff(list, b.String()), err)
	}
	if listed := Listed([]Entry{e, {}}); listed[0].Records != nil || listed[1].Machine == nil ||
		listed[1].Geometry == nil || listed[0].Machine.Get("cpu") != "Example 9000" ||
		e.Records == nil {
		t.Errorf("%+v", listed)
	}
	b.Reset()
	var points []Point
	for i, value := range []float64{0, 2, 2, 3} {
		points = append(points, Point{Time: day, Commit: fmt.Sprint(i), Value: value})
	}
	const series = `D1-misses/op, simulated caches abcd
time                  commit  median  change
2026-11-01T02:00:00Z  0       0       ` + `
2026-11-01T02:00:00Z  1       2       from 0
2026-11-01T02:00:00Z  2       2       ` + `
2026-11-01T02:00:00Z  3       3       +50.0%

`
	if err := WriteSeries(&b,
		[]Series{{Name: "A", Unit: "D1-misses/op", On: "abcd", Exact: true,
			Points: points}}); err != nil || b.String() != series {
		t.Error(cmp.Diff(series, b.String()), err)
	}
}

// TestTrendOrder: the latest change comes first, whatever series it is of, and each is told with
// the medians up to the next one.
func TestTrendOrder(t *testing.T) {
	var entries []Entry
	for i := range 6 {
		e := Entry{File: fmt.Sprint(i), Commit: fmt.Sprint(i),
			Time: time.Date(2026, 11, 1+i, 0, 0, 0, 0, time.UTC)}
		e.Records = []export.Record{{Name: "A", Unit: "D1-misses/op", Exact: true,
			Median: float64(1 + i/2*10)},
			{Name: "B", Unit: "D1-misses/op", Exact: true, Median: float64(1 + (i+1)/4)}}
		entries = append(entries, e)
	}
	var got []string
	for _, c := range TrendOf(entries, 0.01, DefaultThreshold, false).Changes {
		got = append(got, fmt.Sprintf("%s: %v to %v in %s", c.Name, c.Before, c.After,
			c.First.Commit))
	}
	if diff := cmp.Diff([]string{"A: 11 to 21 in 4", "B: 1 to 2 in 3", "A: 1 to 11 in 2"},
		got); diff != "" {
		t.Error(diff)
	}
}
