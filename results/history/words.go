package history

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/results/merge"
	"github.com/stridebench/stridebench/results/show"
)

func onWhat(exact bool) string {
	if exact {
		return "simulated caches"
	}
	return "machine"
}

func on(label string, exact bool, hash string) string {
	if label != "" {
		return show.Printable(label)
	}
	return onWhat(exact) + " " + hash
}

// plainNumber formats a number without an exponent, in at most ten digits unless whole.
func plainNumber(v float64) string {
	if v != math.Trunc(v) {
		v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', 10, 64), 64)
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

// ShortCommit returns a commit's first 12 letters, and "+dirty" if so.
func ShortCommit(commit string) string {
	clean, dirty := strings.CutSuffix(commit, "+dirty")
	if clean = fmt.Sprintf("%.12s", clean); dirty {
		clean += "+dirty"
	}
	return clean
}

// WriteList writes a table of entries.
func WriteList(w io.Writer, list []Entry) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "time\tcommit\tmachine\tcpu\tbenchmarks\tfile")
	for _, e := range list {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%d\t%s\n", e.Time.Format(time.RFC3339),
			ShortCommit(e.Commit), e.Fingerprint, show.Printable(e.Machine.Get("cpu")),
			e.benchmarks(), e.File)
	}
	return t.Flush()
}

// Listed prepares entries for JSON: without records, and with [] for empty lists.
func Listed(list []Entry) []Entry {
	all := append([]Entry{}, list...)
	for i := range all {
		e := &all[i]
		e.Machine, e.Geometry, e.Records = append(results.Fingerprint{}, e.Machine...),
			append(results.Fingerprint{}, e.Geometry...), nil
	}
	return all
}

// Of returns the series of a benchmark, with or without the word Benchmark.
func Of(entries []Entry, name string) []Series {
	return slices.DeleteFunc(AllSeries(entries), func(s Series) bool {
		return s.Name != name && s.Name != "Benchmark"+name
	})
}

// WriteSeries writes a table for each series.
func WriteSeries(w io.Writer, all []Series) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, s := range all {
		fmt.Fprintf(t, "%s, %s %s\ntime\tcommit\tmedian\tchange\n", show.Printable(s.Unit),
			onWhat(s.Exact), s.On)
		for i, p := range s.Points {
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", p.Time.Format(time.RFC3339), ShortCommit(p.Commit),
				plainNumber(p.Value), s.since(i))
		}
		fmt.Fprintln(t)
	}
	return t.Flush()
}

func (s Series) since(i int) string {
	if i == 0 || s.Points[i].Value == s.Points[i-1].Value {
		return ""
	}
	before := s.Points[i-1].Value
	if before == 0 {
		return "from 0"
	}
	return percent(s.Points[i].Value/before - 1)
}

func percent(change float64) string {
	if math.Abs(change) < 0.0005 {
		return fmt.Sprintf("%+.2g%%", 100*change)
	}
	return fmt.Sprintf("%+.1f%%", 100*change)
}

// String returns what changed, how surely, and between which commits.
func (c Change) String() string {
	size, how, sure := "from 0", "better", "exact"
	if c.Size != nil {
		size = percent(*c.Size)
	}
	if c.Worse {
		how = "worse"
	}
	if !c.Exact {
		sure = fmt.Sprintf("confidence %.1f%%", c.Confidence*100)
	}
	return fmt.Sprintf("%s %s %s: %s -> %s (%s, %s) after %s, up to %s of %s, on %s", how,
		show.Printable(c.Name), show.Printable(c.Unit),
		plainNumber(c.Before), plainNumber(c.After), size, sure, ShortCommit(c.Last.Commit),
		ShortCommit(c.First.Commit), c.First.Time.Format(time.RFC3339),
		on(c.Label, c.Exact, c.On))
}

// String returns what vanished, and between which commits.
func (g Gone) String() string {
	what := show.Printable(g.Name)
	if g.Unit != "" {
		what += " " + show.Printable(g.Unit)
	}
	return fmt.Sprintf("vanished %s: last in %s of %s, not in %s of %s, on %s", what,
		ShortCommit(g.Last.Commit), g.Last.Time.Format(time.RFC3339),
		ShortCommit(g.Commit), g.Since.Format(time.RFC3339), on(g.Label, g.Exact, g.On))
}

// A Trend is the changes over the entries of a history.
type Trend struct {
	Changes         []Change // the latest first
	Gone            []Gone
	series, entries int // looked at
}

// TrendOf returns the changes in all series, or only those for the worse, and the vanished
// benchmarks.
func TrendOf(entries []Entry, alpha, threshold float64, worse bool) Trend {
	return trendOf(entries, "", alpha, threshold, worse)
}

func trendOf(entries []Entry, label string, alpha, threshold float64, worse bool) Trend {
	all := AllSeries(entries)
	t := Trend{Gone: vanished(entries), series: len(all), entries: len(entries)}
	for i := range t.Gone {
		t.Gone[i].Label = label
	}
	for _, s := range all {
		s.Label = label
		for _, c := range s.Changes(alpha, threshold) {
			if c.Worse || !worse {
				t.Changes = append(t.Changes, c)
			}
		}
	}
	slices.SortStableFunc(t.Changes, func(a, b Change) int {
		return b.First.Time.Compare(a.First.Time)
	})
	return t
}

// TrendBy is TrendOf for each value of a label, such as each host. Every entry counts, even several
// of one commit. It is an error if no entry has the label.
func TrendBy(entries []Entry, label string, alpha, threshold float64, worse bool) (t Trend,
	err error) {
	of := map[string][]Entry{}
	for _, e := range entries {
		if value := e.Labels.Get(label); value != "" {
			of[value] = append(of[value], e)
		}
	}
	if len(of) == 0 {
		return t, fmt.Errorf("no entry has the label %s (bench run --label %[1]s=VALUE writes one)",
			label)
	}
	for _, value := range slices.SortedFunc(maps.Keys(of), merge.Natural) {
		one := trendOf(of[value], label+"="+value, alpha, threshold, worse)
		t.Changes, t.Gone = append(t.Changes, one.Changes...), append(t.Gone, one.Gone...)
		t.series, t.entries = t.series+one.series, t.entries+one.entries
	}
	slices.SortStableFunc(t.Changes, func(a, b Change) int {
		return b.First.Time.Compare(a.First.Time)
	})
	return t, nil
}

// All returns the changes and then what vanished, for JSON.
func (t Trend) All() []any {
	found := []any{}
	for _, c := range t.Changes {
		found = append(found, c)
	}
	for _, g := range t.Gone {
		found = append(found, g)
	}
	return found
}

// shownGone limits the list of vanished series: a partial run lacks all the rest.
const shownGone = 20

// Write writes the trend for people, a line for each change.
func (t Trend) Write(w io.Writer) error {
	for _, line := range t.All()[:len(t.Changes)+min(len(t.Gone), shownGone)] {
		fmt.Fprintln(w, line)
	}
	if more := len(t.Gone) - shownGone; more > 0 {
		fmt.Fprintf(w, "vanished: %d more (--format json has all)\n", more)
	}
	_, err := fmt.Fprintf(w, "changes found: %d (series: %d, entries: %d)\n", len(t.Changes),
		t.series, t.entries)
	return err
}
