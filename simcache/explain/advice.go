package explain

import (
	"cmp"
	"math"
	"slices"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache"
)

// advice says what would help: another order, tiles, padding, blocks; or that
// nothing would.
func (r Run) advice(stories []story) string {
	var text []string
	for _, s := range stories {
		if a := r.help(s); a != "" && !slices.Contains(text, a) {
			text = append(text, a)
		}
	}
	if text == nil {
		text = append(text, cmp.Or(r.translated(stories), r.nothing()))
	}
	if text[0] == "" {
		return ""
	}
	return "What would help: " + sentences(text...)
}

// help is for a tensor whose lines are lost from the first level before the
// walk comes back to them, where fewer misses are in prospect.
func (r Run) help(s story) string {
	worst, ok := s.worst()
	if !ok || uint64(r.Passes*r.footprint(s.path)) >= s.misses() {
		return ""
	}
	c, w, loop := r.Config.Levels[0], s.path, worst.loop
	crowd := w.within(loop).reach(c.Line).falls(c)
	switch {
	case crowd.outlook == kept:
		return ""
	case w.stride(w.inner()) < c.Line:
		return r.blocks(w, loop)
	case r.agreed(w, loop):
		if pad := r.pad(w, loop, crowd); pad != "" {
			return r.order(w, loop) + " Or, if the order is to stay, " + pad
		}
		return r.order(w, loop)
	}
	if pad := r.pad(w, loop, crowd); pad != "" {
		return "P" + pad[1:]
	}
	return r.tiles(w)
}

// agreed reports whether a loop steps within a line for all tensors, so that it
// could be the inner one.
func (r Run) agreed(w path, loop int) bool {
	for op := range w.Operands {
		if (path{w.Nest, op}).stride(loop) >= r.Config.Levels[0].Line {
			return false
		}
	}
	return true
}

func (r Run) order(w path, loop int) string {
	name := w.operand().Tensor
	return Say("Walk %s with the loop that steps %d B innermost (another order, or another layout of %s): then %d accesses in a row share a line, and about %d miss in %s%s.",
		name, w.stride(loop), name, r.Config.Levels[0].Line/max(w.stride(loop), w.operand().Width), r.footprint(w), r.Levels[0].Name, r.eachPass())
}

// eachPass goes with the misses of a pass.
func (r Run) eachPass() string {
	if r.Passes > 1 {
		return " in each pass"
	}
	return ""
}

// footprint is about how many lines of the first level the operand touches in a
// pass.
func (r Run) footprint(w path) int {
	return int(math.Ceil(w.operand().Lines(w.Trips, r.Config.Levels[0].Line)))
}

// tileSizes are tried, the largest first.
var tileSizes = []int{64, 32, 16}

// tiles is for tensors that want different loops innermost.
func (r Run) tiles(w path) string {
	c := r.Config.Levels[0]
	inner := w.within(w.inner() - 1)
	keeps := func(tile, stride int) bool {
		return inner.with(tile, stride).reach(c.Line).falls(c).outlook == kept
	}
	stride := w.operand().Strides[w.inner()]
	for _, tile := range tileSizes {
		if tile < w.Trips[w.inner()] && keeps(tile, stride) {
			return Say("The tensors want different loops innermost. Walk in tiles, such as %d x %d elements: %d lines of %s at a time stay in %s until they are used up, and about %d of its accesses miss%s.",
				tile, tile, tile, w.operand().Tensor, r.Levels[0].Name, r.footprint(w), r.eachPass())
		}
	}
	for _, tile := range tileSizes {
		if pad := padding(c, func(more int) bool { return keeps(tile, longer(stride, more)) }); pad > 0 && tile <= w.Trips[w.inner()] {
			return Say("Tiles alone do not help: the lines of %d steps of %d B already crowd the same sets of %s. Tiles of %d x %d elements do once the rows of %s are %s longer, %d B: about %d of its accesses then miss%s.",
				tile, w.stride(w.inner()), r.Levels[0].Name, tile, tile, w.operand().Tensor, elements(pad, w.operand()), w.stride(w.inner())+pad, r.footprint(w), r.eachPass())
		}
	}
	return ""
}

// pad is for lines that the level would hold, were they not bound to few sets.
func (r Run) pad(w path, loop int, crowd crowd) string {
	if crowd.outlook != crowded {
		return ""
	}
	c := r.Config.Levels[0]
	inside := w.within(loop)
	stride := w.operand().Strides[w.inner()]
	pad := padding(c, func(more int) bool {
		return inside.with(w.Trips[w.inner()], longer(stride, more)).reach(c.Line).falls(c).outlook == kept
	})
	if pad == 0 {
		return ""
	}
	sets := inside.with(w.Trips[w.inner()], longer(stride, pad)).reach(c.Line).falls(c).sets
	return Say("pad %s by %s after every %d B: steps of %d B spread over %d sets instead of %d, and %s keeps the lines until they are used up.",
		w.operand().Tensor, elements(pad, w.operand()), w.stride(w.inner()), w.stride(w.inner())+pad, sets, crowd.sets, r.Levels[0].Name)
}

// padding is the fewest bytes, in lines, that are enough; 0 if none is.
func padding(c simcache.Level, enough func(more int) bool) int {
	for lines := 1; lines <= 32; lines++ {
		if enough(lines * c.Line) {
			return lines * c.Line
		}
	}
	return 0
}

// longer is a stride of more bytes in its direction.
func longer(stride, more int) int {
	if stride < 0 {
		return stride - more
	}
	return stride + more
}

func elements(bytes int, op nest.Operand) string {
	return Say("%s of %d B", Counted(bytes/op.Width, "element"), op.Width)
}

// blocks is for a tensor that the inner loop walks well, but too long for the
// first level to keep it until the loop starts over.
func (r Run) blocks(w path, loop int) string {
	c := r.Config.Levels[0]
	inside := w.within(loop)
	inner := w.stride(w.inner())
	for trips := w.Trips[w.inner()] / 2; trips*inner >= 2*c.Line; trips /= 2 {
		block := inside.with(trips, w.operand().Strides[w.inner()])
		if block.reach(c.Line).falls(c).outlook == kept {
			return Say("Walk in blocks of up to %d steps of the inner loop (a tile of that width): %s still has the lines of %s when the block starts over, and about %d of its accesses miss%s.",
				trips, r.Levels[0].Name, w.operand().Tensor, r.footprint(w), r.eachPass())
		}
	}
	return ""
}

// translated is for a walk whose lines are fetched once, but which steps from page to page,
// more of them than the first level of the TLB has, where another loop steps within a page.
func (r Run) translated(stories []story) string {
	if len(r.TLB) == 0 || r.TLB[0].MissRate() < 0.05 {
		return ""
	}
	t, name := r.Config.TLB[0], r.TLB[0].Name
	for _, s := range stories {
		w := s.path
		inner := w.stride(w.inner())
		pages := min(w.Trips[w.inner()], w.Trips[w.inner()]*inner/t.Page)
		for loop := range w.inner() {
			if step := w.stride(loop); step > 0 && step < inner && pages > t.Entries && r.agreed(w, loop) {
				return Say("Walk %s with the loop that steps %d B innermost (another order): %s misses no fewer lines, but one round of the inner loop touches %d pages now, and %s has %d. Larger pages help, too.",
					w.operand().Tensor, step, r.Levels[0].Name, pages, name, t.Entries)
			}
		}
	}
	return ""
}

// nothing says that all is well, or what is wasted all the same.
func (r Run) nothing() string {
	l := r.Levels[0]
	if r.Config.Observe&simcache.Classes == 0 || l.Misses() == 0 || l.Compulsory*10 < l.Misses()*9 || r.Config.Levels[0].NoWriteAllocate {
		return ""
	}
	each, lines := "each line", "Lines are"
	if l.Compulsory < l.Misses() || l.Prefetches > 0 || l.UsedPart() > 0.5 && l.BytesUsed < l.BytesFilled {
		each, lines = "nearly each line", "Nearly all lines are"
	}
	if r.Config.Observe&simcache.UsedBytes != 0 && l.UsedPart() < 0.5 {
		return Say("the walk touches %.1f of the %d B of a line, and %s once. Only a layout in which these elements lie together (a contiguous copy, if they are walked more than once) needs fewer lines.",
			l.UsedPart()*float64(r.Config.Levels[0].Line), r.Config.Levels[0].Line, each)
	}
	if r.Config.Observe&simcache.UsedBytes != 0 && l.UsedPart() > 0.9 {
		return Say("nothing in layout or order. %s fetched into %s once and used whole; %d misses are what so many bytes cost.", lines, l.Name, l.Misses())
	}
	return ""
}
