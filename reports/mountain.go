package reports

import (
	"cmp"
	"fmt"
	"image/color"
	"maps"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"

	"github.com/stridebench/stridebench/results/show"
)

// maxCells is the most sizes and strides of a mountain. It shows the least.
const maxCells = 24

type bandwidth struct {
	stride, size int // bytes
	gib          float64
}

func mountain(d *data) (*figure, error) {
	by := map[[2]int]bandwidth{}
	strides, sizes := map[int]bool{}, map[int]bool{}
	for _, r := range d.rows {
		stride, size := number(r, "stride")*elementSize(r.Key("dtype")), r.Bytes("size")
		if s := r.Stats[bandwidthUnit]; r.Family() == "Mountain" && stride > 0 && size > 0 &&
			drawable(s) {
			d.shows(r)
			by[[2]int{stride, size}] = bandwidth{stride, size, s.Center / (1 << 30)}
			strides[stride], sizes[size] = true, true
		}
	}
	if len(by) == 0 {
		return nil, nil
	}
	across, up := least(strides), least(sizes)
	all := slices.SortedFunc(maps.Values(by), func(a, b bandwidth) int {
		return cmp.Or(a.stride-b.stride, a.size-b.size)
	})
	low, high := slices.MinFunc(all, byBandwidth), slices.MaxFunc(all, byBandwidth)
	// a cell has a range too
	colors, err := viridis(math.Log(low.gib/1.01), math.Log(high.gib*1.01))
	if err != nil {
		return nil, err
	}
	shade := func(gib float64) color.Color {
		fill, err := colors.At(math.Log(gib))
		if err != nil { // out of range, which cannot happen here
			return d.look.paper
		}
		return fill
	}
	h := heatMap{&d.look, len(across), len(up), func(column, row int) (color.Color, string) {
		one, ok := by[[2]int{across[column], up[row]}]
		if !ok {
			return d.look.paper, ""
		}
		return shade(one.gib), digits(one.gib)
	}}
	p, below := d.look.newHeatMap(h, "stride, from one element to the next", "working set",
		ticksOf(byteNames(across), 12, 12), ticksOf(d.heldNames(up), len(up), 20))
	f := &figure{title: "Memory mountain: read bandwidth by working set and stride",
		sentence: mountainSentence(low, high, len(all)),
		alt:      "Heat map: bandwidth of reading by working set and stride",
		height:   vg.Length(max(len(up), 6))*0.24*vg.Inch + 0.7*vg.Inch + below,
		panels:   []*panel{p}}
	f.tellMarks(d.cpuCaches, float64(up[0]), float64(up[len(up)-1]-1))
	for share := 0.0; share <= 1; share += 0.25 {
		gib := low.gib * math.Pow(high.gib/low.gib, share)
		f.explain(digits(gib), swatch{shade(gib), d.look.marked})
	}
	f.explain("GiB/s")
	return f, nil
}

func byBandwidth(a, b bandwidth) int { return cmp.Compare(a.gib, b.gib) }

func least(set map[int]bool) []int {
	all := slices.Sorted(maps.Keys(set))
	return all[:min(len(all), maxCells)]
}

func byteNames(sizes []int) (names []string) {
	for _, size := range sizes {
		names = append(names, show.Bytes(size))
	}
	return names
}

// heldNames also names, at the largest size that a cache holds, the cache.
func (d *data) heldNames(sizes []int) []string {
	names := byteNames(sizes)
	for _, m := range d.cpuCaches {
		held := slices.IndexFunc(sizes, func(size int) bool { return float64(size) > m.at }) - 1
		if held >= 0 {
			cache, _, _ := strings.Cut(m.label, " ")
			names[held] = cache + " holds " + names[held]
		}
	}
	return names
}

func mountainSentence(low, high bandwidth, cells int) string {
	if cells == 1 {
		return fmt.Sprintf("Reading every %s of %s moves %s GiB/s.", show.Bytes(low.stride),
			show.Bytes(low.size), digits(low.gib))
	}
	return fmt.Sprintf("Bandwidth is highest reading every %s of %s (%s GiB/s), and lowest "+
		"reading every %s of %s (%s GiB/s).",
		show.Bytes(high.stride), show.Bytes(high.size), digits(high.gib),
		show.Bytes(low.stride), show.Bytes(low.size), digits(low.gib))
}
