package noise

import (
	"fmt"
	"math"

	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/results/show"
)

// A Series is one benchmark's times, in the order of measurement.
type Series struct {
	Name  string
	Times []float64
}

// Limits beyond which a run is doubtful. Findings in samples count by their share: in a large run
// there is always one.
const (
	driftAlpha = 0.01 // over all benchmarks together: Bonferroni's correction
	minDrift   = 0.05 // change of the median
	minTwice   = 0.05 // share of the benchmarks with two speeds
	minOutlied = 0.2  // share with outliers, which hardly move a median
)

// Samples returns the warnings from the samples, as "kind: text".
func Samples(all []Series) []string {
	var drift, twice, out found
	for _, s := range all {
		if change, p := driftOf(s.Times); p < driftAlpha/float64(len(all)) &&
			math.Abs(change) > minDrift {
			drift.add(s.Name, math.Abs(change), fmt.Sprintf("by %+.0f%%", 100*change))
		}
		if fast, slow, yes := twoSpeeds(s.Times); yes {
			twice.add(s.Name, slow/fast, fmt.Sprintf("%.2g times as long", slow/fast))
		}
		if n := outliers(s.Times); n > 0 {
			out.add(s.Name, float64(n), fmt.Sprintf("%d of %d", n, len(s.Times)))
		}
	}
	var warnings []string
	if drift.number > 0 {
		warnings = append(warnings, drift.line("drift",
			"%s became slower or faster as the run went on, most %s: let the machine warm up or "+
				"cool down, and run again", len(all)))
	}
	if twice.many(minTwice, len(all)) {
		warnings = append(warnings, twice.line("two-speeds",
			"%s ran at one of two speeds, furthest apart %s: a median may be of either; compare "+
				"interleaved (--ab), or take more samples (--count)", len(all)))
	}
	if out.many(minOutlied, len(all)) {
		warnings = append(warnings, out.line("outliers",
			"%s had samples far above the median, most %s: end other programs, or take more "+
				"samples (--count)", len(all)))
	}
	return warnings
}

type found struct {
	number      int
	most        float64
	worst, says string
}

func (f *found) add(name string, much float64, says string) {
	if f.number++; much > f.most {
		f.most, f.worst, f.says = much, name, says
	}
}

func (f *found) many(share float64, all int) bool {
	return f.number > 0 && float64(f.number) >= share*float64(all)
}

func (f *found) line(kind, format string, all int) string {
	return kind + ": " + fmt.Sprintf(format, fmt.Sprintf("%d of %s", f.number,
		show.Counted(all, "benchmark")), fmt.Sprintf("%s (%s)", f.worst, f.says))
}

// scatterLimit is the half width of a time's 95% interval, as a share, that calls for a note.
const scatterLimit = 0.05

// Scattered returns how many times are uncertain, with advice; "" if none.
func Scattered(rows []results.Row) string {
	timed, noisy, worst, most := 0, 0, "", 0.0
	for _, r := range rows {
		if r.Stats["sec/op"].N > 0 {
			timed++
		}
		width, ok := r.Stats["sec/op"].HalfWidth()
		if ok && width > scatterLimit {
			noisy++
			if width > most {
				worst, most = r.Name, width
			}
		}
	}
	if noisy == 0 {
		return ""
	}
	return fmt.Sprintf("the times of %d of %s are uncertain by more than ±%.0f%%, most %s (%s): "+
		"end other programs and run again, or take more samples (--count)",
		noisy, show.Counted(timed, "benchmark"), scatterLimit*100, worst,
		show.Spread(most))
}
