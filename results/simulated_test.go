package results_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/results/check"
	"github.com/stridebench/stridebench/results/export"
	"github.com/stridebench/stridebench/results/history"
)

// A noise is what a machine does to times. The figures of the two below are
// from runs of the suite on a virtual machine with 2 cores.
type noise struct {
	within  float64 // standard deviation of a sample, as a share
	process float64 // of all samples of one process: where its pages came to lie
	enter   float64 // chance of each sample that a neighbour begins to disturb,
	leave   float64 // and ends
	factor  float64 // by which a disturbed sample takes longer, as a median
}

var (
	quiet = noise{within: 0.04, process: 0.05, enter: 0.01, leave: 0.3, factor: 1.3}
	busy  = noise{within: 0.06, process: 0.05, enter: 0.06, leave: 0.12, factor: 1.8}
)

// A machine takes samples of a benchmark, one after the other.
type machine struct {
	noise
	*rand.Rand
	disturbed bool
	by        float64
}

func (m *machine) sample(median, process float64) float64 {
	switch {
	case m.disturbed && m.Float64() < m.leave:
		m.disturbed = false
	case !m.disturbed && m.Float64() < m.enter:
		m.disturbed, m.by = true, m.factor*math.Exp(0.4*m.NormFloat64())
	}
	value := median * process * math.Exp(m.within*m.NormFloat64())
	if m.disturbed {
		value *= max(1, m.by*math.Exp(0.2*m.NormFloat64()))
	}
	return value
}

func (m *machine) newProcess() float64 { return math.Exp(m.process * m.NormFloat64()) }

const simulatedRows = 32

// measure takes the samples of two versions of one benchmark, one after the
// other in one process each, or by turns in a process for each sample, as bench
// check --ab does.
func (m *machine) measure(old, new float64, samples int, byTurns bool) (a, b []float64) {
	turn := samples
	if byTurns {
		turn = 1
	}
	for len(a) < samples {
		p, q := m.newProcess(), m.newProcess()
		for range turn {
			a = append(a, m.sample(old, p))
		}
		if !byTurns { // the other run is at another time
			m.disturbed = m.Float64() < m.enter/(m.enter+m.leave)
			m.by = m.factor
		}
		for range turn {
			b = append(b, m.sample(new, q))
		}
	}
	return a, b
}

// BenchmarkSimulatedGate checks each of 500 commits against the one before it.
// Every fifth makes one of 32 benchmarks slower and gives it as many more
// misses. It reports false alarms for 1,000 clean commits, and the percentage
// found of what was planted:
//
//	go test -run '^$' -bench Simulated -benchtime 1x ./results
func BenchmarkSimulatedGate(b *testing.B) {
	for machineIs, n := range map[string]noise{"quiet": quiet, "busy": busy} {
		for mode, samples := range map[string]int{"two-runs/n=10": 10, "by-turns/n=10": 10,
			"by-turns/n=30": 30} {
			for _, planted := range []float64{0.02, 0.05, 0.10} {
				b.Run(fmt.Sprintf("%s/%s/planted=%.0f%%", machineIs, mode, planted*100), func(b *testing.B) {
					for b.Loop() {
						simulateGate(b, n, samples, strings.HasPrefix(mode, "by-turns"), planted)
					}
				})
			}
		}
	}
}

func simulateGate(b *testing.B, n noise, samples int, byTurns bool, planted float64) {
	m := &machine{noise: n, Rand: rand.New(rand.NewPCG(7, 8))}
	const commits = 500
	clean, alarms, exactAlarms, bad, found, exactFound := 0, 0, 0, 0, 0, 0
	for c := range commits {
		slow := -1
		if c%5 == 4 {
			slow = m.IntN(simulatedRows)
		}
		old, new := m.files(slow, planted, samples, byTurns)
		r := must(check.Compare(parse(old), parse(new),
			check.Options{Alpha: 0.01, Threshold: 0.05, Times: "auto"}))
		timed, exact := false, false // a false alarm
		for _, v := range r.Of(check.Regression) {
			right := v.Name == name(slow)
			switch {
			case right && v.Exact:
				exactFound++
			case right:
				found++
			case v.Exact:
				exact = true
			default:
				timed = true
			}
		}
		if slow >= 0 {
			bad++
			continue
		}
		clean++
		alarms += count(timed)
		exactAlarms += count(exact)
	}
	b.ReportMetric(1000*float64(alarms)/float64(clean), "false-alarms/1000")
	b.ReportMetric(100*float64(found)/float64(bad), "%found")
	b.ReportMetric(1000*float64(exactAlarms)/float64(clean), "exact-false-alarms/1000")
	b.ReportMetric(100*float64(exactFound)/float64(bad), "%exact-found")
	b.ReportMetric(0, "ns/op")
}

func count(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

func name(row int) string { return fmt.Sprintf("X/row=%d", row) }

func parse(text string) *results.Set { return must(results.Parse("simulated", []byte(text))) }

// files are the results of two versions, of which the newer is slower in one
// row.
func (m *machine) files(slow int, planted float64, samples int, byTurns bool) (old, new string) {
	var a, b strings.Builder
	for _, w := range []*strings.Builder{&a, &b} {
		w.WriteString("cpu: A\nUnit D1-misses/op assume=exact better=lower\n")
	}
	for row := range simulatedRows {
		factor := 1.0
		if row == slow {
			factor += planted
		}
		const ns, misses = 1e6, 65536
		xs, ys := m.measure(ns, ns*factor, samples, byTurns)
		for i := range xs {
			fmt.Fprintf(&a, "Benchmark%s 1 %.6g ns/op %d D1-misses/op\n", name(row), xs[i], misses)
			fmt.Fprintf(&b, "Benchmark%s 1 %.6g ns/op %.0f D1-misses/op\n", name(row), ys[i], misses*factor)
		}
	}
	return a.String(), b.String()
}

// BenchmarkSimulatedTrend looks for changes in histories of 500 commits, one
// run each: 32 series that become slower five times. A change is found if one
// is within 5 commits of it. It reports the others for 1,000 commits of one
// series.
func BenchmarkSimulatedTrend(b *testing.B) {
	for machineIs, n := range map[string]noise{"quiet": quiet, "busy": busy} {
		for _, planted := range []float64{0, 0.02, 0.05, 0.10} {
			b.Run(fmt.Sprintf("%s/planted=%.0f%%", machineIs, planted*100), func(b *testing.B) {
				for b.Loop() {
					simulateTrend(b, n, planted)
				}
			})
		}
	}
}

func simulateTrend(b *testing.B, n noise, planted float64) {
	m := &machine{noise: n, Rand: rand.New(rand.NewPCG(9, 10))}
	const commits, every = 500, 84
	var entries []history.Entry
	for c := range commits {
		e := history.Entry{Commit: fmt.Sprint(c), Time: time.Unix(int64(c), 0)}
		level := 1e6 * math.Pow(1+planted, float64(c/every))
		for row := range simulatedRows {
			xs, _ := m.measure(level, level, 10, false)
			records := must(export.Records(parse(lines(xs))))
			records[0].Name = name(row)
			e.Records = append(e.Records, records...)
		}
		entries = append(entries, e)
	}
	found, wrong, there := 0, 0, 0
	start := time.Now()
	for _, s := range history.AllSeries(entries) {
		seen := map[int]bool{}
		for _, change := range s.Changes(0.01, 0.01) {
			at := must(strconv.Atoi(change.First.Commit))
			nearest := (at + every/2) / every * every
			if planted > 0 && nearest > 0 && nearest < commits && max(at-nearest, nearest-at) <= 5 &&
				!seen[nearest] {
				seen[nearest] = true
				found++
			} else {
				wrong++
			}
		}
		there += (commits - 1) / every
	}
	b.ReportMetric(time.Since(start).Seconds(), "s/trend")
	b.ReportMetric(100*float64(found)/float64(there), "%found")
	b.ReportMetric(1000*float64(wrong)/commits/simulatedRows, "false-alarms/1000")
	b.ReportMetric(0, "ns/op")
}

func lines(values []float64) string {
	var b strings.Builder
	for _, v := range values {
		fmt.Fprintf(&b, "BenchmarkX 1 %.6g ns/op\n", v)
	}
	return b.String()
}
