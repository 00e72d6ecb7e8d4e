package reports

import (
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/plot/vg"

	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/results/show"
)

// A choice holds the times that decide whether contiguous() pays with one kernel.
type choice struct {
	kernel             string
	view, copied, pass results.Stat
}

// evens returns the number of passes from which copying first is faster, 0 if it never is.
func (c choice) evens() float64 {
	saved := c.view.Center - c.pass.Center
	if saved <= 0 {
		return 0
	}
	return math.Max(1, math.Ceil(c.copied.Center/saved))
}

// choices returns the times of the largest measured matrix by kernel. The sum over the view is
// always the plain loop's.
func choices(rows []results.Row) (shape string, found []choice) {
	type key struct{ shape, do, kernel string }
	by := map[key]results.Stat{}
	var kernels []string
	largest := 0
	for _, r := range rows {
		s := r.Stats[passUnit]
		n, ok := square(r.Key("shape"))
		if r.Family() != "Contiguous" || !ok || !drawable(s) {
			continue
		}
		k := key{r.Key("shape"), r.Key("do"), vectorKernel(r)}
		by[k] = s
		if k.do == "contiguous" && n > largest {
			shape, largest, kernels = k.shape, n, nil
		}
		if k.do == "contiguous" && k.shape == shape && len(kernels) < 4 {
			kernels = append(kernels, k.kernel)
		}
	}
	view, ok := by[key{shape, "sum-view", ""}]
	for _, kernel := range kernels {
		pass, both := by[key{shape, "sum-contiguous", kernel}]
		if ok && both {
			found = append(found, choice{kernel, view, by[key{shape, "contiguous", kernel}], pass})
		}
	}
	return shape, found
}

// contiguous draws the total time of n passes, with and without a copy.
func contiguous(d *data) (*figure, error) {
	shape, found := choices(d.rows)
	if len(found) == 0 {
		return nil, nil
	}
	for _, r := range d.rows {
		if r.Family() == "Contiguous" { // smaller ones show the same
			d.shows(r)
		}
	}
	last := 8.0
	var evens []mark
	for _, c := range found {
		if n := c.evens(); n > 0 && n <= 1000 {
			last = max(last, 2*n)
			evens = append(evens, mark{n, fmt.Sprintf("pays from n = %.0f (%s)", n,
				loop(c.kernel)), true})
		}
	}
	total := func(once, each results.Stat) (points []point) {
		for i := range 8 {
			n := math.Round(1 + float64(i)*(last-1)/7)
			a, b := interval(once, 1e3), interval(each, 1e3)
			points = append(points, point{n, a.y + n*b.y, a.low + n*b.low, a.high + n*b.high})
		}
		return points
	}
	all := []series{{name: "strided view", hue: d.look.hues[1],
		points: total(results.Stat{}, found[0].view)}}
	for i, c := range found {
		all = append(all, series{name: "copy first, " + loop(c.kernel),
			hue: d.look.hues[[]int{0, 2, 3, 4}[i]], dashed: i > 0, points: total(c.copied, c.pass)})
	}
	p := d.look.newPanel("n, number of sums", "total time, ms")
	_, high, _ := span(all)
	linearAxis(&p.X, 0, last+0.5)
	linearAxis(&p.Y, 0, high*1.2)
	p.Add(d.look.marks(evens))
	f := &figure{title: fmt.Sprintf("When contiguous() pays: n sums of a transposed %s",
		short(shape, 16)), sentence: contiguousSentence(shape, found),
		alt: "Lines: total time of n sums of the strided view, and of one copy and n sums of " +
			"the copy, against n",
		height: 3.2 * vg.Inch, panels: []*panel{p}}
	if evens != nil {
		f.alt += ", with the break-even marked"
	}
	return f, d.look.addSeries(f, p, all...)
}

func contiguousSentence(shape string, found []choice) string {
	var words []string
	for _, c := range found {
		said := fmt.Sprintf("never pays (%s: a sum of the copy takes %s)", loop(c.kernel),
			show.Scale(c.pass.Center, passUnit))
		if n := c.evens(); n > 0 {
			said = fmt.Sprintf("pays from pass %.0f on (%s: the copy takes %s, a sum of it %s)",
				n, loop(c.kernel),
				show.Scale(c.copied.Center, passUnit), show.Scale(c.pass.Center, passUnit))
		}
		words = append(words, said)
	}
	return fmt.Sprintf("A sum of the transposed %s takes %s without a copy. Copying it first ",
		short(shape, 16), show.Scale(found[0].view.Center, passUnit)) +
		strings.Join(words, "; it ") + "."
}
