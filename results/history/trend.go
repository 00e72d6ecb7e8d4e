package history

import (
	"math"
	"slices"
	"time"

	"github.com/stridebench/stridebench/results"
)

// A Point is what one entry says of one benchmark in one unit.
type Point struct {
	Commit string    `json:"commit"`
	Time   time.Time `json:"time"`
	Value  float64   `json:"value"` // the median
	File   string    `json:"file"`
}

// A Series is one benchmark in one unit, by time: of times on one machine, of
// exact units with one geometry.
type Series struct {
	Name   string  `json:"name"`
	Unit   string  `json:"unit"`
	On     string  `json:"on"`              // hash of the machine's fingerprint or of the geometry
	Label  string  `json:"label,omitempty"` // "host=node7", if entries were told apart by a label
	Exact  bool    `json:"exact"`
	Better string  `json:"better"`
	Points []Point `json:"points"`
}

// AllSeries puts entries, which are by time, into series, in the order in which
// these begin. Units that only explain ns/op are left out.
func AllSeries(entries []Entry) []Series {
	type key struct {
		name, unit, on string
		exact          bool
	}
	at := map[key]int{}
	var all []Series
	for _, e := range entries {
		for _, r := range e.Records {
			if results.Explains(r.Unit) {
				continue
			}
			k := key{r.Name, r.Unit, e.on(r.Name, r.Unit, r.Exact), r.Exact}
			i, ok := at[k]
			if !ok {
				i = len(all)
				at[k] = i
				all = append(all, Series{Name: r.Name, Unit: r.Unit, On: k.on, Exact: r.Exact,
					Better: r.Better})
			}
			all[i].Points = append(all[i].Points, Point{e.Commit, e.Time, r.Median, e.File})
		}
	}
	return all
}

// A Change is one point of a series from which on its values are others.
type Change struct {
	Name       string   `json:"name"`
	Unit       string   `json:"unit"`
	On         string   `json:"on"`
	Label      string   `json:"label,omitempty"` // as of Series
	Exact      bool     `json:"exact"`
	Before     float64  `json:"before"` // medians from the change before, and up to the one after
	After      float64  `json:"after"`
	Size       *float64 `json:"size"`       // as a share of Before; nil from 0
	Confidence float64  `json:"confidence"` // 1 - p; 1 of an exact unit
	Worse      bool     `json:"worse"`
	Last       Point    `json:"last"`  // before the change
	First      Point    `json:"first"` // after it: the change is in (Last, First]
}

// DefaultThreshold, as a threshold, stands for 1% of times, and for any change of an exact unit.
const DefaultThreshold = -1

// Changes finds the changes of a series that are larger than threshold, as a
// share: every one of an exact unit, and of times those that divide finds at
// alpha. Several entries of a commit count as one, unless the series is of one value of
// a label: a node changes while the program stays as it is.
func (s Series) Changes(alpha, threshold float64) []Change {
	if threshold == DefaultThreshold {
		threshold = 0.01
		if s.Exact {
			threshold = 0
		}
	}
	if s.Label == "" {
		s.Points = s.byCommit()
	}
	values := make([]float64, len(s.Points))
	for i, p := range s.Points {
		values[i] = p.Value
	}
	splits := exactSplits(values)
	if !s.Exact {
		splits = divide(values, alpha)
	}
	var found []Change
	for i, split := range splits {
		from, to := 0, len(values)
		if i > 0 {
			from = splits[i-1].At
		}
		if i+1 < len(splits) {
			to = splits[i+1].At
		}
		c := Change{Name: s.Name, Unit: s.Unit, On: s.On, Label: s.Label, Exact: s.Exact,
			Confidence: split.Confidence,
			Before:     results.Median(values[from:split.At]),
			After:      results.Median(values[split.At:to]),
			Last:       s.Points[split.At-1], First: s.Points[split.At]}
		c.Worse = (c.After > c.Before) == (s.Better != "higher")
		if c.Before != 0 {
			size := (c.After - c.Before) / math.Abs(c.Before)
			c.Size = &size
		}
		if c.Size == nil || math.Abs(*c.Size) > threshold {
			found = append(found, c)
		}
	}
	return found
}

// byCommit makes one point of those of one commit that follow each other: of
// times their median, of an exact unit the worst. A change lies between commits.
func (s Series) byCommit() []Point {
	var points []Point
	for from := 0; from < len(s.Points); {
		to, values := from, []float64{}
		for to < len(s.Points) && s.Points[to].Commit == s.Points[from].Commit {
			values = append(values, s.Points[to].Value)
			to++
		}
		p := s.Points[from]
		switch {
		case !s.Exact:
			p.Value = results.Median(values)
		case s.Better == "higher":
			p.Value = slices.Min(values)
		default:
			p.Value = slices.Max(values)
		}
		points = append(points, p)
		from = to
	}
	return points
}

// exactSplits are where a value is not the one before.
func exactSplits(values []float64) []split {
	var splits []split
	for i := 1; i < len(values); i++ {
		if values[i] != values[i-1] {
			splits = append(splits, split{i, 1})
		}
	}
	return splits
}
