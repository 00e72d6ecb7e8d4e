package reports

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"

	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/results/terminal"
)

const (
	maxTensors = 24
	maxCaches  = 12
)

// chosen are the keys of a name that a kernel may choose. The others define its work.
var chosen = []string{"order", "pad", "tile", "kernel"}

// viewed are the layouts that a name's view and pad already describe. Others are copies of the
// suite, which are different work.
var viewed = []string{"view", "contiguous", "padded"}

type bestChoice struct {
	words        string // "col 32x32"
	least, worst float64
}

// gain returns the cost of the worst choice over the best.
func (c bestChoice) gain() float64 { return c.worst / c.least }

func (c bestChoice) sentence(of, tensor, caches string) string {
	if c.gain() < 1.01 { // the picture's threshold
		return fmt.Sprintf("Of %s, no choice of order, padding or tile matters (by simulated "+
			"misses).", of)
	}
	return fmt.Sprintf("Of %s, the choice matters most for %s on %s: %s is best, and the worst "+
		"takes %s times as many cycles (estimated from simulated misses).", of, tensor, caches,
		c.words, digits(c.gain()))
}

// cycles is KCachegrind's estimate for data: 1 for each access, 10 more for a miss of the first
// cache, 100 more for a miss of the last.
func cycles(r results.Row) float64 {
	return r.Stats["D-refs/op"].Center + 10*r.Stats["D1-misses/op"].Center +
		100*r.Stats["LL-misses/op"].Center
}

type bestMap struct {
	tensors, caches []string
	cells           map[[2]string]bestChoice
}

func (d *data) choices() bestMap {
	b := bestMap{cells: map[[2]string]bestChoice{}}
	for _, r := range d.swept {
		caches, cost := r.Key("caches"), cycles(r)
		if !positive(cost) {
			continue
		}
		tensor, words := taken(r)
		if !slices.Contains(b.caches, caches) {
			b.caches = append(b.caches, caches)
		}
		if !slices.Contains(b.tensors, tensor) {
			b.tensors = append(b.tensors, tensor)
		}
		c, ok := b.cells[[2]string{tensor, caches}]
		if !ok || cost < c.least {
			c.words, c.least = words, cost
		}
		c.worst = max(c.worst, cost)
		b.cells[[2]string{tensor, caches}] = c
	}
	return b
}

func best(d *data) (*figure, error) {
	b := d.choices()
	if len(b.cells) == 0 {
		return nil, nil
	}
	all, allCaches := len(b.tensors), len(b.caches)
	b.caches = b.caches[:min(len(b.caches), maxCaches)]
	slices.SortStableFunc(b.tensors, func(x, y string) int {
		return cmp.Compare(b.gain(y), b.gain(x))
	})
	b.tensors = b.tensors[:min(all, maxTensors)]
	first := b.tensors[0]
	slices.Reverse(b.tensors) // the first is at the top
	h := heatMap{&d.look, len(b.caches), len(b.tensors),
		func(column, row int) (color.Color, string) {
			c, ok := b.cells[[2]string{b.tensors[row], b.caches[column]}]
			if !ok {
				return d.look.paper, ""
			}
			return d.look.gainColor(c.gain()), c.text()
		}}
	p, below := d.look.newHeatMap(h, "caches", "", ticksOf(b.caches, maxCaches, 32),
		ticksOf(b.tensors, maxTensors, 40))
	at := slices.MaxFunc(b.caches, func(x, y string) int {
		return cmp.Compare(b.cells[[2]string{first, x}].gain(), b.cells[[2]string{first, y}].gain())
	})
	c := b.cells[[2]string{first, at}]
	f := &figure{title: "The best order, padding and tile by caches", panels: []*panel{p},
		height: vg.Length(max(len(b.tensors), 4))*0.26*vg.Inch + 0.6*vg.Inch + below,
		sentence: c.sentence(fmt.Sprintf("%s of tensor and operation on %s of caches",
			counted(all, "combination"), counted(allCaches, "kind")), first, at),
		alt: "Heat map: for each tensor and each hierarchy of caches, the best choice, and " +
			"by what factor the worst takes more cycles"}
	for _, gain := range []float64{1, 2, 5, 10, 20} {
		f.explain(fmt.Sprintf("%gx", gain), swatch{d.look.gainColor(gain), d.look.marked})
	}
	f.explain("each cell: the best choice, and the cycles of the worst relative to it; pad and " +
		"tile in elements")
	f.explain("cycles as KCachegrind estimates them: 1 per access, plus 10 per D1 miss and 100 " +
		"per LL miss")
	if all > len(b.tensors) {
		f.explain(fmt.Sprintf("shown: the %d of %d tensors and operations with the largest effect",
			len(b.tensors), all))
	}
	if allCaches > len(b.caches) {
		f.explain(fmt.Sprintf("shown: the first %d of %d caches", len(b.caches), allCaches))
	}
	return f, nil
}

func taken(r results.Row) (tensor, words string) {
	var fixed, free []string
	for part := range strings.SplitSeq(r.Name, "/") {
		key, value, ok := strings.Cut(part, "=")
		switch {
		case part == "Traverse": // its op says so
		case !ok:
			fixed = append(fixed, strings.ToLower(part))
		case key == "caches" || key == "kernel" && value == "scalar":
		case slices.Contains(chosen, key):
			if key == "pad" || key == "tile" {
				value = key + " " + value
			}
			free = append(free, value)
		case key == "layout" && slices.Contains(viewed, value):
		default:
			fixed = append(fixed, terminal.Words(part))
		}
	}
	if r.Key("order") == "" {
		free = append([]string{"row"}, free...)
	}
	return strings.Join(fixed, " "), strings.Join(free, ", ")
}

func (b bestMap) gain(tensor string) (most float64) {
	for _, caches := range b.caches {
		if c, ok := b.cells[[2]string{tensor, caches}]; ok {
			most = max(most, c.gain())
		}
	}
	return most
}

// gainColor is paper for a gain of 1, and fullest from a gain of 20.
func (s *style) gainColor(gain float64) color.RGBA {
	return mix(s.paper, s.hues[1].color, min(1, math.Log(gain)/math.Log(20)))
}

func (c bestChoice) text() string {
	if c.gain() < 1.01 {
		return "any"
	}
	return c.words + ": " + digits(c.gain()) + "x"
}
