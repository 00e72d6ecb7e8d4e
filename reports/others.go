package reports

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/results/show"
	"github.com/stridebench/stridebench/results/terminal"
)

// others draws the times that no other chart shows, such as a user's own patterns, as bars.
func others(d *data) (*figure, error) {
	f := &figure{title: "Time per element of the other benchmarks",
		alt: "Bars: ns per element of each benchmark, by family"}
	b := bars{look: &d.look}
	rows := without(d.rows, func(r results.Row) bool {
		return !drawable(r.Stats[timeUnit])
	})
	var sentences []string
	for _, of := range byFamily(rows) {
		if of = of[:min(len(of), maxBars-b.drawn)]; len(of) > 0 {
			b.add(of, timePerElement)
			sentences = append(sentences, cmp.Or(twinSentence(of), otherSentence(of)))
		}
	}
	if b.drawn == 0 {
		return nil, nil
	}
	if more := len(rows) - b.drawn; more > 0 {
		sentences = append(sentences, fmt.Sprintf("%d more are in the table", more))
	}
	f.sentence = strings.Join(sentences, ". ") + "."
	b.draw(f, "ns per element")
	return f, nil
}

func byFamily(rows []results.Row) (families [][]results.Row) {
	index := map[string]int{}
	for _, r := range rows {
		i, ok := index[r.Family()]
		if !ok {
			i = len(families)
			index[r.Family()] = i
			families = append(families, nil)
		}
		families[i] = append(families[i], r)
	}
	return families
}

func otherSentence(rows []results.Row) string {
	shared, _ := terminal.Headings(rows)
	least, most, low, high := extremes(rows, timeUnit)
	shared, fast := short(shared, 80), show.Scale(low, timeUnit)
	if len(rows) == 1 {
		return fmt.Sprintf("%s (%s) takes %s", shared, least, fast)
	}
	return fmt.Sprintf("%s takes from %s (%s) to %s (%s), %s times as long", shared, fast, least,
		show.Scale(high, timeUnit), most, digits(high/low))
}

// strides matches the strides in the names of operands. A contiguous operand has them only to
// repeat elements, with a stride of 0.
var strides = regexp.MustCompile(`\[[^]]*\]`)

func strided(r results.Row) bool {
	return slices.ContainsFunc(strides.FindAllString(r.Name, -1), func(of string) bool {
		return !slices.Contains(strings.Split(strings.Trim(of, "[]"), ","), "0")
	})
}

const mostTwins = 3

// twinSentence compares operators with the same on contiguous operands, the costliest layouts
// first. It returns "" if there are none.
func twinSentence(rows []results.Row) string {
	contiguous := map[string]results.Stat{} // by shapes
	for _, r := range rows {
		if r.Family() == "Operands" && !strided(r) {
			contiguous[strides.ReplaceAllString(r.Name, "")] = r.Stats[passUnit]
		}
	}
	shared, labels := terminal.Headings(rows)
	saves := map[string]float64{} // seconds a pass
	var said []string
	for i, r := range rows {
		c, ok := contiguous[strides.ReplaceAllString(r.Name, "")]
		if !ok || !strided(r) {
			continue
		}
		own := r.Stats[passUnit]
		times := "takes " + digits(own.Center/c.Center) + " times as long"
		if a, b := interval(own, 1), interval(c, 1); a.high >= b.low && b.high >= a.low {
			times = "is not distinguishable from them"
		}
		text := fmt.Sprintf("%s %s (%s against %s)", short(labels[i], 120), times,
			show.Scale(own.Center, passUnit), show.Scale(c.Center, passUnit))
		said, saves[text] = append(said, text), own.Center-c.Center
	}
	if said == nil {
		return ""
	}
	slices.SortStableFunc(said, func(a, b string) int { return cmp.Compare(saves[b], saves[a]) })
	more := len(said) - mostTwins
	text := short(shared, 80) + ", compared with contiguous operands: " +
		strings.Join(said[:min(len(said), mostTwins)], ", ")
	if more > 0 {
		text += fmt.Sprintf(", and %d more", more)
	}
	return text
}
