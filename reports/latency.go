package reports

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"

	"github.com/stridebench/stridebench/results/show"
)

// A knee is where a ladder begins to rise, and where it ends.
type knee struct {
	foot, top point
	cache     string // whose capacity is nearest to the foot, "" for none within a factor of two
}

// rise is the least factor between two sizes that is more than noise. Caches differ by at least 2,
// which spreads over a few sizes if a level fills unevenly.
const rise = 1.2

// knees returns the knees of a ladder that is sorted by size. After a knee, each latency exceeds
// the one before by more than rise, until one does not. A rise through two levels at once is one
// knee.
//
// The first size is not a knee, since the rise may begin before it. Nor is a size if the next one
// is more than twice as large.
func knees(ladder []point, caches []mark) (found []knee) {
	for i := 0; i+1 < len(ladder) && len(found) < maxMarks; i++ {
		foot := i
		for i+1 < len(ladder) && ladder[i+1].y > rise*ladder[i].y {
			i++
		}
		if i > foot && foot > 0 && ladder[foot+1].x <= 2*ladder[foot].x {
			found = append(found, knee{foot: ladder[foot], top: ladder[i]})
		}
	}
	for _, m := range caches {
		nearest, best := -1, 2.001
		for i, k := range found {
			if ratio := math.Max(m.at/k.foot.x, k.foot.x/m.at); ratio < best {
				nearest, best = i, ratio
			}
		}
		if nearest >= 0 {
			found[nearest].cache, _, _ = strings.Cut(m.label, " ")
		}
	}
	return found
}

func latency(d *data) (*figure, error) {
	s := series{name: "pointer chase", hue: d.look.hues[0]}
	for _, r := range d.rows {
		if size := r.Bytes("size"); r.Family() == "Latency" && size > 0 &&
			drawable(r.Stats[timeUnit]) {
			q := timePerElement(r)
			q.x = float64(size)
			s.points = append(s.points, q)
			d.shows(r)
		}
	}
	low, high, ok := span([]series{s})
	if !ok {
		return nil, nil
	}
	sortByX(s.points)
	serving, _ := d.levels()
	found := knees(s.points, serving)
	p := d.look.newPanel("working set", "ns per load")
	byteAxis(&p.X, s.points)
	logAxis(&p.Y, low/1.5, high*2.5, number6)
	marks := slices.Clone(d.cpuCaches)
	for i, k := range found {
		name := fmt.Sprintf("knee %d", i+1)
		if k.cache != "" {
			name += ", " + k.cache
		}
		marks = append(marks, mark{k.foot.x, name + ": " + show.Bytes(int(k.foot.x)), true})
	}
	p.Add(d.look.marks(marks))
	f := &figure{title: "Pointer chase: latency of a load by working set",
		sentence: kneeSentence(s.points, found),
		alt:      "Line: ns per dependent load against the working set",
		height:   3.4 * vg.Inch, panels: []*panel{p}}
	f.tellMarks(d.cpuCaches, p.X.Min, p.X.Max)
	if len(found) > 0 {
		f.alt += ", with the knees named"
	}
	if d.served != nil {
		f.sentence += " " + d.served.String() + "."
	}
	return f, d.look.addSeries(f, p, s)
}

func kneeSentence(ladder []point, found []knee) string {
	at := func(q point) string {
		return fmt.Sprintf("%s ns in a working set of %s", digits(q.y), show.Bytes(int(q.x)))
	}
	first, last := ladder[0], ladder[len(ladder)-1]
	text := "A load takes " + at(first)
	if len(ladder) > 1 {
		text += " and " + at(last)
	}
	switch {
	case len(ladder) == 1:
		return text + "."
	case len(found) == 0 && last.y > rise*first.y:
		return text + ". Too few sizes were measured to locate the rise."
	case len(found) == 0:
		return text + ". From one size to the next, latency never rises by more than 20%."
	}
	var rises []string
	for _, k := range found {
		beyond := ""
		if k.cache != "" {
			beyond = fmt.Sprintf(" (beyond %s)", k.cache)
		}
		rises = append(rises, fmt.Sprintf("from %s to %s ns between %s and %s%s", digits(k.foot.y),
			digits(k.top.y), show.Bytes(int(k.foot.x)), show.Bytes(int(k.top.x)), beyond))
	}
	return text + ". Latency rises " + strings.Join(rises, "; ") + "."
}
