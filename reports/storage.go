package reports

import (
	"fmt"
	"image/color"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot/palette"
	"gonum.org/v1/plot/vg"

	"github.com/stridebench/stridebench/layouts"
)

// A picture shows this many cells in full, or edgeCells at each end of a dim.
const (
	wholeCells = 64
	edgeCells  = 3
	stripLine  = 32 // cells of a line of the strip, at most
	stripRow   = 16 // of each line if there are several
)

// gap is the place of cells that are left out.
const gap = -1

// A grid is cells in rows, with words above them. A cell is its place in the storage, or a gap.
type grid struct {
	words []string // the first in bold
	hue   color.Color
	rows  [][]int
	part  int // on a view's first grid, the number of its grids; else 0
}

type storagePicture struct {
	layouts.Drawing
	look   style
	grids  []grid
	strip  [][]int
	shades map[int]color.Color // by place, of the views' elements
	shared map[int]int         // by place, the number of elements there
	seen   []map[int]bool      // by view and place
	cell   vg.Length           // width
}

// DrawLayout draws views in row-major order, with an arrow along the iteration. Under them it draws
// their storage in the same colours.
func DrawLayout(d layouts.Drawing) (Chart, error) {
	p, err := newStoragePicture(d)
	if err != nil {
		return Chart{}, err
	}
	c := Chart{Title: p.title(), Sentence: p.sentence(), Alt: p.alt()}
	err = c.render(&p.look, p.height(), p.look.footer(p.legend()), p.draw)
	return c, err
}

func newStoragePicture(d layouts.Drawing) (*storagePicture, error) {
	p := &storagePicture{Drawing: d, look: Light.style(), shared: map[int]int{},
		shades: map[int]color.Color{}}
	for i, v := range d.Views {
		for _, g := range p.slices(v) {
			if g.part > 0 && len(d.Views) > 1 {
				g.hue = p.look.hues[i%len(p.look.hues)].color
			}
			p.grids = append(p.grids, g)
		}
	}
	p.lay()
	for _, v := range d.Views {
		p.share(v)
	}
	p.fold()
	return p, p.shade()
}

func (p *storagePicture) title() string {
	var names []string
	for _, v := range p.Views {
		names = append(names, v.Name)
	}
	return strings.Join(names, " and ") + p.What + ", above its storage"
}

func (p *storagePicture) sentence() string {
	var parts []string
	for _, v := range p.Views {
		parts = append(parts, fmt.Sprintf("%s%s has %v.", v.Name, p.What, v.Placed))
	}
	return strings.Join(parts, " ")
}

func (p *storagePicture) alt() string {
	return fmt.Sprintf("Grids: the elements of each view, row by row; strip: the %s of the storage",
		counted(p.Storage, "element"))
}

func (p *storagePicture) legend() string {
	text := "Numbers are places in the storage"
	switch {
	case p.Padded && p.Values != nil:
		text = "Numbers are the elements, in row-major order of the tensor"
	case p.Values != nil:
		text = "Numbers are the elements; the small ones under the storage are places in it"
	}
	text += ", colours too. Arrows are the walk in row-major order."
	untouched := slices.ContainsFunc(slices.Concat(p.strip...), func(at int) bool {
		return at != gap && p.shades[at] == nil
	})
	if untouched && p.Padded {
		text += " Empty cells are padding."
	} else if untouched {
		text += " Cells without a colour are in no view."
	}
	for _, n := range p.shared {
		if n > 1 && len(p.Views) == 1 {
			return text + " ×2 under a cell: two elements share it."
		}
	}
	return text
}

// slices returns grids of a view's last two dims. Of large views, it shows only the ends of dims.
func (p *storagePicture) slices(v layouts.Drawn) (grids []grid) {
	shape := v.Shape()
	whole := volume(shape) <= wholeCells
	if len(shape) == 1 && len(shownIn(shape[0], whole, edgeCells)) > stripRow { // in lines
		var line []int
		for _, i := range shownIn(shape[0], whole, edgeCells) {
			line = append(line, p.at(v, []int{i}))
		}
		return []grid{{part: 1, words: []string{v.Name, v.String()},
			rows: slices.Collect(slices.Chunk(line, stripRow))}}
	}
	padded := append(slices.Repeat([]int{1}, max(0, 2-len(shape))), shape...)
	outer, inner := padded[:len(padded)-2], padded[len(padded)-2:]
	rows, cols := shownIn(inner[0], whole, edgeCells), shownIn(inner[1], whole, edgeCells)
	shown := shownIn(volume(outer), whole, max(1, wholeCells/2/max(1, len(rows)*len(cols))))
	for _, k := range shown {
		var g grid
		if len(grids) == 0 {
			g.part, g.words = len(shown), []string{v.Name, v.String()}
		}
		slice := unravel(k, outer)
		if len(outer) > 0 {
			name := strings.ReplaceAll(fmt.Sprint(slice), " ", ", ")
			g.words = append(g.words, strings.ReplaceAll(name, fmt.Sprint(gap), "…"))
		}
		for _, i := range rows {
			var row []int
			for _, j := range cols {
				index := append(slices.Clone(slice), i, j)
				row = append(row, p.at(v, index[len(padded)-len(shape):]))
			}
			g.rows = append(g.rows, row)
		}
		if k == gap {
			g.rows = [][]int{{gap}}
		}
		grids = append(grids, g)
	}
	return grids
}

func unravel(k int, shape []int) []int {
	index := make([]int, len(shape))
	for d, n := range slices.Backward(shape) {
		if index[d] = gap; k != gap {
			index[d], k = k%n, k/n
		}
	}
	return index
}

func volume(shape []int) int {
	n := 1
	for _, size := range shape {
		n *= size
	}
	return n
}

// shownIn returns the indices of a dim of n: all, or edge at each end with a gap between.
func shownIn(n int, whole bool, edge int) (all []int) {
	if whole || n <= 2*edge {
		for i := range n {
			all = append(all, i)
		}
		return all
	}
	for i := range edge {
		all = append(all, i)
	}
	all = append(all, gap)
	for i := range edge {
		all = append(all, n-edge+i)
	}
	return all
}

func (p *storagePicture) at(v layouts.Drawn, index []int) int {
	if slices.Contains(index, gap) {
		return gap
	}
	place, err := v.At(index...)
	if err != nil {
		return gap
	}
	return place
}

// mostOffsets is the most elements of a view that are enumerated.
const mostOffsets = 1 << 24

// large reports whether a view has too many elements to enumerate. Then only the shown places are
// known.
func (p *storagePicture) large() bool {
	return slices.ContainsFunc(p.Views, func(v layouts.Drawn) bool {
		return volume(v.Shape()) > mostOffsets
	})
}

// share finds which places of the strip a view has, and how often.
func (p *storagePicture) share(v layouts.Drawn) {
	seen, strip := map[int]bool{}, map[int]bool{}
	for _, at := range p.strip[0] {
		strip[at] = at != gap
	}
	p.seen = append(p.seen, seen)
	if p.large() {
		for _, g := range p.slices(v) {
			for _, at := range slices.Concat(g.rows...) {
				seen[at] = strip[at]
			}
		}
		return
	}
	for at := range v.Offsets() {
		if strip[at] {
			seen[at] = true
			p.shared[at]++
		}
	}
}

// lay puts the views' places, and short runs between them, in the strip.
func (p *storagePicture) lay() {
	var shown []int
	for _, g := range p.grids {
		shown = append(shown, slices.Concat(g.rows...)...)
	}
	switch {
	case p.Storage <= 2*wholeCells:
		shown = append(shown, shownIn(p.Storage, true, 0)...)
	case !p.large():
		shown = append(shown, 0, p.Storage-1)
	}
	slices.Sort(shown)
	shown = slices.DeleteFunc(slices.Compact(shown), func(at int) bool { return at < 0 })
	var line []int
	for i, at := range shown {
		if i > 0 {
			if before := shown[i-1]; at-before > edgeCells || at-before > 1 && p.large() {
				line = append(line, gap)
			} else {
				for between := before + 1; between < at; between++ {
					line = append(line, between)
				}
			}
		}
		line = append(line, at)
	}
	p.strip = [][]int{line}
}

func (p *storagePicture) fold() {
	words, small, line := p.look.text(markSize), p.look.text(footerSize), p.strip[0]
	p.cell = 22
	for i, at := range line {
		p.cell = max(p.cell, words.Width(p.text(at))+7, small.Width(p.below(line, i))+4)
	}
	fit := int((figureWidth - 2*margin) / p.cell)
	if long := min(fit, stripLine); len(line) > long {
		fit = min(fit, stripRow)
	}
	p.strip = slices.Collect(slices.Chunk(line, max(fit, 1)))
}

// shade gives each place of a view a colour, in the order of the storage.
func (p *storagePicture) shade() error {
	var places []int
	for _, at := range slices.Concat(p.strip...) {
		if slices.ContainsFunc(p.seen, func(seen map[int]bool) bool { return seen[at] }) {
			places = append(places, at)
		}
	}
	var shades palette.ColorMap
	shades, err := viridis(-0.01, float64(len(places)))
	for i, at := range places {
		if err == nil {
			p.shades[at], err = shades.At(float64(i))
		}
	}
	return err
}

func (p *storagePicture) text(at int) string {
	switch {
	case at == gap:
		return "…"
	case p.Values != nil:
		return strings.TrimSpace(p.Values[at])
	}
	return strconv.Itoa(at)
}
