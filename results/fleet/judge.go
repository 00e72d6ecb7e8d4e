package fleet

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/results/keys"
	"gonum.org/v1/gonum/stat/distuv"
)

// An Aspect is what machines are compared in.
type Aspect int

// The aspects: medians, over benchmarks, of the ratio to the peers' time or spread.
const (
	All     Aspect = iota // of every benchmark
	Caches                // of benchmarks whose data the simulated caches hold
	Memory                // of benchmarks that miss the last simulated cache
	Scatter               // the spread of the samples of every benchmark
	aspects
)

// String returns the aspect's name.
func (a Aspect) String() string { return [...]string{"all", "caches", "memory", "scatter"}[a] }

// A Finding is a machine that is out of line.
type Finding struct {
	Machine int // index in the matrix
	Aspect  Aspect
	Ratio   float64 // to the peers' median: 1.2 takes 20% longer
	P       float64 // chance that any of as many sound machines looks so, by Holm's correction
	Peers   int
	Why     string // explanation from the files
}

// A Judgement is the result of judging a fleet.
type Judgement struct {
	Scores   [][aspects]float64 // ratios by machine, NaN without a comparison
	Findings []Finding          // the largest ratio first
	Untested int                // machines with too few peers to be tested
	Tests    int
	// Sees is the least ratio at which a single machine would be found, by the median of all
	// benchmarks, for the worst CPU; 0 without tests.
	Sees float64
}

// A machine is out of line beyond minRatio (minScatter for Scatter) and beyond chance. A group
// needs at least minPeers machines.
const (
	minPeers   = 8
	minRatio   = 1.03
	minScatter = 2
)

func (m *Matrix) groups() (all [][]int) {
	at := map[string]int{}
	for i, machine := range m.Machines {
		key := machine.Config["cpu"] + "\n" + machine.Config["cpus"]
		k, ok := at[key]
		if !ok {
			k = len(all)
			at[key], all = k, append(all, nil)
		}
		all[k] = append(all[k], i)
	}
	return all
}

// Ratios returns each machine's times by benchmark, relative to its peers' median; NaN if it has
// none.
func (m *Matrix) Ratios() [][]float64 {
	return m.ratios(func(c Cell) float64 { return c.Ns })
}

// leastSpread lets spreads near 0 compare.
const leastSpread = 0.001

func (m *Matrix) ratios(of func(Cell) float64) [][]float64 {
	all := make([][]float64, len(m.Machines))
	for i := range all {
		all[i] = make([]float64, len(m.Benchmarks))
	}
	for _, group := range m.groups() {
		for k := range m.Benchmarks {
			var values []float64
			for _, i := range group {
				if c := m.Machines[i].Cells[k]; c.N > 0 {
					values = append(values, of(c))
				}
			}
			middle := results.Median(values)
			for _, i := range group {
				all[i][k] = math.NaN()
				if c := m.Machines[i].Cells[k]; c.N > 0 {
					all[i][k] = of(c) / middle
				}
			}
		}
	}
	return all
}

func (m *Matrix) scores() [][aspects]float64 {
	times, spreads := m.Ratios(), m.ratios(func(c Cell) float64 { return c.Spread + leastSpread })
	scores := make([][aspects]float64, len(m.Machines))
	for i := range m.Machines {
		var of [aspects][]float64
		for k, ratio := range times[i] {
			if math.IsNaN(ratio) {
				continue
			}
			part := Caches
			if m.Memory[k] {
				part = Memory
			}
			of[All], of[part] = append(of[All], ratio), append(of[part], ratio)
			if m.Machines[i].Cells[k].N > 2 {
				of[Scatter] = append(of[Scatter], spreads[i][k])
			}
		}
		for a := range of {
			scores[i][a] = results.Median(of[a])
		}
	}
	return scores
}

// Judge tests every machine that has enough peers in every aspect.
//
// The logarithm of its ratio is compared with its peers' median, in units of their median absolute
// deviation scaled to a standard deviation (times 1.4826, at least 0.1%). That measure holds even
// if half of the machines are out of line. Few values determine a deviation poorly, so p comes from
// Student's t with 0.37 degrees of freedom for each machine but one. This factor is the deviation's
// efficiency (Rousseeuw and Croux, "Alternatives to the median absolute deviation", Journal of the
// American Statistical Association 88, 1993).
//
// Holm's method (Scandinavian Journal of Statistics 6, 1979) keeps the chance of any false finding
// in the whole fleet at alpha.
func (m *Matrix) Judge(alpha float64) Judgement {
	j := Judgement{Scores: m.scores()}
	var tests []Finding
	var overall []measure
	for _, group := range m.groups() {
		if len(group) < minPeers {
			j.Untested += len(group)
			continue
		}
		for a := range aspects {
			by, ok := newMeasure(j.Scores, group, a)
			if !ok {
				continue
			}
			tests = append(tests, by.test(j.Scores, group, a)...)
			if a == All {
				overall = append(overall, by)
			}
		}
	}
	j.Tests = len(tests)
	for _, by := range overall {
		j.Sees = max(j.Sees, minRatio, by.sees(alpha/float64(j.Tests)))
	}
	slices.SortStableFunc(tests, func(a, b Finding) int { return cmp.Compare(a.P, b.P) })
	highest := 0.0
	for i, t := range tests {
		highest = max(highest, min(1, t.P*float64(len(tests)-i)))
		if highest > alpha {
			break
		}
		if t.P = highest; !t.small() {
			j.Findings = append(j.Findings, t)
		}
	}
	j.Findings = m.plain(j.Findings)
	ratios := m.Ratios()
	for i, f := range j.Findings {
		j.Findings[i].Why = m.why(f, ratios[f.Machine])
	}
	return j
}

// small reports whether a ratio is too small to matter, however sure. A smaller scatter never
// matters.
func (f Finding) small() bool {
	if f.Aspect == Scatter {
		return f.Ratio < minScatter
	}
	return math.Abs(math.Log(f.Ratio)) < math.Log(minRatio)
}

// A measure compares machines of a CPU in one aspect: logarithms of ratios, in units of their
// deviation.
type measure struct {
	middle, scale float64
	of            distuv.StudentsT
	machines      int
}

func newMeasure(scores [][aspects]float64, group []int, a Aspect) (by measure, ok bool) {
	var values []float64
	for _, i := range group {
		if v := scores[i][a]; v > 0 { // no NaN
			values = append(values, math.Log(v))
		}
	}
	if len(values) < minPeers {
		return measure{}, false
	}
	middle := results.Median(values)
	apart := make([]float64, len(values))
	for i, v := range values {
		apart[i] = math.Abs(v - middle)
	}
	return measure{
		middle: middle, scale: max(1.4826*results.Median(apart), 0.001), machines: len(values),
		of: distuv.StudentsT{Mu: 0, Sigma: 1, Nu: max(1, 0.37*float64(len(values)-1))},
	}, true
}

func (by measure) test(scores [][aspects]float64, group []int, a Aspect) (all []Finding) {
	for _, i := range group {
		if v := scores[i][a]; v > 0 {
			z := (math.Log(v) - by.middle) / by.scale
			all = append(all, Finding{Machine: i, Aspect: a, Ratio: v,
				P: 2 * by.of.CDF(-math.Abs(z)), Peers: by.machines - 1})
		}
	}
	return all
}

// sees returns the ratio whose p-value in a single test is chance.
func (by measure) sees(chance float64) float64 {
	return math.Exp(-by.of.Quantile(chance/2) * by.scale)
}

// plain keeps the most telling finding of each machine: All if caches and memory are out by about
// as much, else the farther of the two. Scatter is kept besides. The farthest machines come first.
func (m *Matrix) plain(found []Finding) (kept []Finding) {
	size := func(f Finding) float64 { return math.Abs(math.Log(f.Ratio)) }
	by := map[int]map[Aspect]Finding{}
	for _, f := range found {
		if by[f.Machine] == nil {
			by[f.Machine] = map[Aspect]Finding{}
		}
		by[f.Machine][f.Aspect] = f
	}
	for _, of := range by {
		all, isAll := of[All]
		caches, isCaches := of[Caches]
		memory, isMemory := of[Memory]
		switch {
		case isAll && isCaches == isMemory && math.Abs(size(caches)-size(memory)) < size(all)/2:
			kept = append(kept, all)
		case isCaches && (!isMemory || size(caches) > size(memory)):
			kept = append(kept, caches)
		case isMemory:
			kept = append(kept, memory)
		case isAll:
			kept = append(kept, all)
		}
		if scatter, ok := of[Scatter]; ok {
			kept = append(kept, scatter)
		}
	}
	slices.SortFunc(kept, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Aspect/Scatter, b.Aspect/Scatter),
			cmp.Compare(size(b), size(a)), cmp.Compare(a.Machine, b.Machine))
	})
	return kept
}

func (m *Matrix) why(f Finding, ratios []float64) string {
	var words []string
	group := m.peers(f.Machine)
	if own, peers := m.ghz(f.Machine), m.peersMedian(group, m.ghz); own > 0 && peers > 0 &&
		math.Abs(own/peers-1) > 0.02 {
		words = append(words, fmt.Sprintf("its CPU ran at %.2f GHz, the peers' at %.2f",
			own, peers))
	} else if clock := m.clock(f.Machine, ratios); own == 0 && math.Abs(clock-1) > 0.02 {
		words = append(words, fmt.Sprintf("loads from its first cache, which take a number of "+
			"cycles, take %.2f times as long: its clock is %.2f of the peers'", 1/clock, clock))
	}
	steal := func(i int) float64 { return m.activity(i, "steal") }
	others := func(i int) float64 { return m.activity(i, "others") }
	if own := steal(f.Machine); own > m.peersMedian(group, steal)+0.01 {
		words = append(words, fmt.Sprintf("the host took %.1f%% of its CPU time", 100*own))
	}
	if own := others(f.Machine); own > m.peersMedian(group, others)+0.25 {
		words = append(words, fmt.Sprintf("other programs kept %.1f CPUs busy", own))
	}
	if smaller := m.band(ratios); smaller != "" {
		words = append(words, smaller)
	}
	for _, key := range append([]string{"caches", "goversion", "pages"}, facts[2:]...) {
		words = append(words, m.unlike(group, f.Machine, key)...)
	}
	if len(words) == 0 {
		words = append(words, m.mostly(f))
	}
	return strings.Join(words, "; ")
}

func (m *Matrix) mostly(f Finding) string {
	beside := func(words string, memory bool) string {
		if !slices.Contains(m.Memory, memory) {
			return "" // no such benchmark was timed
		}
		return words
	}
	switch {
	case f.Aspect == Scatter:
		return "nothing in its files explains it: look for a noisy neighbour, or a daemon that " +
			"wakes often"
	case f.Ratio < 1:
		return "it is faster, and nothing in its files explains it: look whether the peers are " +
			"limited in power or frequency"
	case f.Aspect == Memory:
		return beside("data in the caches is as fast as on its peers: ", false) +
			"look at its memory, such as a slow or missing DIMM, the wrong NUMA node, or others " +
			"on its bus"
	case f.Aspect == Caches:
		return beside("memory is as fast as on its peers: ", true) +
			"look at its clock, or at others that share its core"
	}
	return "caches and memory are both slow: look at its clock, such as a thermal or power " +
		"limit, or a core that another shares"
}

func (m *Matrix) peers(i int) []int {
	for _, group := range m.groups() {
		if slices.Contains(group, i) {
			return group
		}
	}
	return nil
}

// ghz returns a machine's median clock, 0 if it was not counted.
func (m *Matrix) ghz(i int) float64 {
	var all []float64
	for _, c := range m.Machines[i].Cells {
		if c.GHz > 0 {
			all = append(all, c.GHz)
		}
	}
	if all == nil {
		return 0
	}
	return results.Median(all)
}

// peersMedian returns the median of the machines for which a figure is known, which are above 0.
func (m *Matrix) peersMedian(group []int, of func(i int) float64) float64 {
	var all []float64
	for _, i := range group {
		if v := of(i); v > 0 {
			all = append(all, v)
		}
	}
	if all == nil {
		return 0
	}
	return results.Median(all)
}

// activity returns a figure of keys.Activity, 0 if unknown.
func (m *Matrix) activity(i int, key string) float64 {
	_, text, _ := strings.Cut(m.Machines[i].Facts[keys.Activity], key+"=")
	text, _, _ = strings.Cut(text, " ")
	value, _ := strconv.ParseFloat(text, 64)
	return value
}

// unlike reports a line of the configuration, or a fact, that differs from most peers'.
func (m *Matrix) unlike(group []int, i int, key string) []string {
	of := func(i int) string { return cmp.Or(m.Machines[i].Config[key], m.Machines[i].Facts[key]) }
	count := map[string]int{}
	for _, k := range group {
		count[of(k)]++
	}
	for value, n := range count {
		if own := of(i); value != own && value != "" && 2*n > len(group) {
			return []string{fmt.Sprintf("%s: %s, the peers' %s", key,
				cmp.Or(own, "unknown"), value)}
		}
	}
	return nil
}

// slower is the ratio from which a working set counts as out of a cache that the peers' fits into.
// It is relative to the smallest and largest working sets.
const slower = 1.2

// band returns the range of working sets whose random reads are slower, if smaller and larger ones
// are not: the last cache holds less than the peers', for example because others use it too.
func (m *Matrix) band(ratios []float64) string {
	type size struct {
		name  string
		bytes int
		ratio float64
	}
	var sizes []size
	for k, name := range m.Benchmarks {
		row := results.Row{Name: name}
		if bytes := row.Bytes("size"); bytes > 0 && row.Family() == "Latency" &&
			!math.IsNaN(ratios[k]) {
			sizes = append(sizes, size{row.Key("size"), bytes, ratios[k]})
		}
	}
	slices.SortFunc(sizes, func(a, b size) int { return cmp.Compare(a.bytes, b.bytes) })
	if len(sizes) < 3 {
		return ""
	}
	limit := slower * max(1, (sizes[0].ratio+sizes[len(sizes)-1].ratio)/2)
	first := slices.IndexFunc(sizes, func(s size) bool { return s.ratio > limit })
	if first <= 0 {
		return ""
	}
	end := first
	for end < len(sizes) && sizes[end].ratio > limit {
		end++
	}
	if end == len(sizes) || slices.ContainsFunc(sizes[end:], func(s size) bool {
		return s.ratio > limit
	}) {
		return ""
	}
	return fmt.Sprintf("working sets from %s to %s are slower, and neither smaller nor larger "+
		"ones: a cache of it holds less than the peers' hold, as where others use it too",
		sizes[first].name, sizes[end-1].name)
}

// clock returns a machine's clock relative to its peers', 1 if unknown, from pointer chases over at
// most half of the first cache. Such a load takes a fixed number of cycles.
func (m *Matrix) clock(i int, ratios []float64) float64 {
	_, text, _ := strings.Cut(m.Machines[i].Config["caches"], "L1d=")
	text, _, _ = strings.Cut(text, ",")
	first, _ := strconv.ParseFloat(text, 64)
	var all []float64
	for k, name := range m.Benchmarks {
		row := results.Row{Name: name}
		if size := float64(row.Bytes("size")); row.Family() == "Latency" && size > 0 &&
			2*size <= first && !math.IsNaN(ratios[k]) {
			all = append(all, ratios[k])
		}
	}
	if all == nil {
		return 1
	}
	return 1 / results.Median(all)
}
