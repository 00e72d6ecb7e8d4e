package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/results/terminal"
)

// A gain is a benchmark with the fewest threads of a run and with the most.
type gain struct {
	fewest, most results.Row
	name         string // in words, without threads
}

func (g gain) times() float64 { return g.fewest.Stats[timeUnit].Center / g.most.Stats[timeUnit].Center }

// gains puts the greatest gain first. fewest and most apply to all families.
func gains(family []results.Row, fewest, most int) (all []gain) {
	by := map[string]results.Row{} // the most threads
	for _, r := range family {
		if number(r, "threads") == most {
			by[unthreaded(r)] = r
		}
	}
	var rows []results.Row
	for _, r := range family {
		if other, ok := by[unthreaded(r)]; ok && number(r, "threads") == fewest {
			rows, all = append(rows, r), append(all, gain{fewest: r, most: other})
			delete(by, unthreaded(r)) // of another grain
		}
	}
	if len(rows) == 0 {
		return nil
	}
	shared, labels := terminal.Headings(rows)
	shared = short(strings.TrimSuffix(shared, fmt.Sprintf(" threads %d", fewest)), 80)
	for i := range all {
		all[i].name = fmt.Sprintf("%s, %s,", shared, short(labels[i], 40))
	}
	slices.SortStableFunc(all, byTimes)
	return all
}

func byTimes(a, b gain) int { return cmp.Compare(b.times(), a.times()) }

// addGains draws a selection of too many rows. From each family it takes benchmarks that gain most
// from threads, and as many that gain least. It returns "" if no benchmark has two numbers of
// threads.
func (b *titledBars) addGains(rows []results.Row) (sentence string) {
	var numbers []int
	for _, r := range rows {
		if n := number(r, "threads"); n > 0 {
			numbers = append(numbers, n)
		}
	}
	if len(numbers) == 0 || slices.Min(numbers) == slices.Max(numbers) {
		return ""
	}
	fewest, most := slices.Min(numbers), slices.Max(numbers)
	var families [][]gain
	for _, family := range byFamily(rows) {
		families = append(families, gains(family, fewest, most))
	}
	together := slices.Concat(families...)
	if len(together) == 0 {
		return ""
	}
	for i, share := range shares(families, maxBars/2) {
		all := families[i]
		chosen := slices.Concat(all[:(share+1)/2], all[len(all)-share/2:])
		var drawn []results.Row
		for _, g := range chosen {
			drawn = append(drawn, g.fewest, g.most)
		}
		if len(drawn) > 0 { // threads share the family, and there is room
			shared, labels := terminal.Headings(drawn)
			b.add(shared, shorts(labels, 56), drawn, timePerElement)
		}
	}
	best, worst := slices.MinFunc(together, byTimes), slices.MaxFunc(together, byTimes)
	text := fmt.Sprintf("With %d threads, %s is %s times as fast as with %d", most, best.name,
		digits(best.times()), fewest)
	if len(together) > 1 {
		text += fmt.Sprintf(", and %s %s times", worst.name, digits(worst.times()))
	}
	return text
}

// shares deals places to families in rounds.
func shares(families [][]gain, places int) []int {
	share := make([]int, len(families))
	for dealt := true; dealt; {
		dealt = false
		for i, family := range families {
			if places > 0 && share[i] < len(family) {
				share[i]++
				places--
				dealt = true
			}
		}
	}
	return share
}
