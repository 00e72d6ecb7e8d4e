package explain

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache"
)

// A Change is another order of the loops, or another layout of an array.
type Change struct {
	Words   string
	Program nest.Program
	Kept    string       // of dependences, as nest.Program.Keeps returns it
	Chain   []*nest.Loop // loops of a perfect nest that are reordered or tiled
	Order   []int        // indices into Chain, the outermost loop first
	Tiled   []string     // names of the tiled loops
	Size    int          // iterations of each loop in a tile
	Place   int          // line of their first statement, 0 without one

	loops  []*nest.Loop // of Chain in their new order, in Program
	kind   string       // of changes of one kind, only the best is reported
	missed missed
}

// missed holds the misses of the first level, the last level, and the first level of the TLB.
type missed [3]uint64

const most = 24

// Improve counts the misses of changed programs, so that Text can begin with the changes that help.
// The counts take at most this many references, or four times the run's own if that is more; with 0
// there are none.
//
// Improve tries the Rearrangements of a program. For a pattern, it exchanges two loops of the
// largest nest, tiles it, pads an array's rows, and swaps two of its dims.
func (r *Run) Improve(references int) {
	all := r.changes()
	spent, enough := 0, max(references, 4*int(r.Counts.Refs()))
	for _, c := range all[:min(most, len(all))] {
		n, err := c.Program.Count()
		n *= min(r.Passes, settles)
		if err != nil || references == 0 || spent > 0 && spent+n > enough {
			continue
		}
		spent += n
		if c.missed, err = r.count(c.Program); err == nil {
			r.tried = append(r.tried, c)
		}
	}
	r.uncounted = len(all) - len(r.tried)
}

// settles is the number of passes after which most programs repeat their misses.
const settles = 4

// count returns the misses in the run's caches.
func (r *Run) count(p nest.Program) (missed, error) {
	config := r.Config
	config.Observe, config.WriteBacks, config.Brute = "", false, false
	h, err := simcache.NewHierarchy(config)
	if err != nil {
		return missed{}, err
	}
	_, err = h.RunProgram(r.Passes, p)
	return missesOf(h.Counts(), h.TLBs()), err
}

// missesOf returns the misses that changes are compared by.
func missesOf(c simcache.Counts, tlb []simcache.LevelCounts) missed {
	m := missed{c.D1Misses(), c.LLMisses()}
	if len(tlb) > 0 {
		m[2] = tlb[0].Misses()
	}
	return m
}

func (r *Run) now() missed { return missesOf(r.Counts, r.TLB) }

// helps reports whether some misses fall by a tenth, and none rise by as much. It ignores
// differences that are small among all references.
func (m missed) helps(now missed, references uint64) (helps bool) {
	for i, least := range []float64{0.005, 0.0005, 0.005} {
		was, is := float64(now[i]), float64(m[i])
		if math.Abs(was-is) < least*float64(references) {
			continue
		}
		if is > 1.1*was {
			return false
		}
		helps = helps || is < 0.9*was
	}
	return helps
}

// rank grows with the sum of misses. Sums within about a twentieth rank the same.
func (m missed) rank() int { return int(20 * math.Log(1+float64(m[0]+m[1]+m[2]))) }

func (r Run) advice() string {
	switch {
	case r.program == nil && len(r.Nests) == 0:
		return "" // of a trace
	case len(r.tried)+r.uncounted == 0:
		return r.nothing()
	}
	now := r.now()
	helpful := slices.DeleteFunc(slices.Clone(r.tried), func(c Change) bool {
		return !c.missed.helps(now, r.Counts.Refs())
	})
	slices.SortStableFunc(helpful, func(a, b Change) int {
		return cmp.Compare(a.missed.rank(), b.missed.rank())
	})
	var text []string
	seen := map[string]bool{}
	for _, c := range helpful {
		if seen[c.kind] || len(text) == 3 {
			continue
		}
		seen[c.kind] = true
		if c.Kept != "kept" {
			c.Words += ", if the loops may be exchanged"
		}
		text = append(text, c.Words+": "+r.instead(c.missed, now))
	}
	rest := Say("%s counted, each alone", Counted(len(r.tried), "change"))
	if r.uncounted > 0 {
		rest = Say("%d of %d changes counted, each alone: more would take long", len(r.tried),
			len(r.tried)+r.uncounted)
	}
	if text == nil {
		return cmp.Or(r.nothing(), "What would help: nothing that was tried.") + " (" + rest + ".)"
	}
	return "What would help: " + strings.Join(text, " Or ") + " (" + rest + ".)"
}

func (r Run) instead(m, now missed) string {
	names := []string{r.Levels[0].Name, "", ""}
	if len(r.Levels) > 1 {
		names[1] = r.Levels[len(r.Levels)-1].Name
	}
	if len(r.TLB) > 0 {
		names[2] = r.TLB[0].Name
	}
	var parts []string
	for i, name := range names {
		switch {
		case name == "" || i == 2 && !(missed{2: m[2]}).helps(missed{2: now[2]}, r.Counts.Refs()):
		case m[i] == now[i]:
			parts = append(parts, Say("%s misses stay at %d", name, m[i]))
		default:
			how := "fall"
			if m[i] > now[i] {
				how = "rise"
			}
			parts = append(parts, Say("%s misses %s from %d to %d", name, how, now[i], m[i]))
		}
	}
	return List(parts) + "."
}

// changes returns the changes of the loops and arrays that miss most, in that order.
func (r *Run) changes() []Change {
	switch {
	case r.program != nil:
		return r.Rearrangements()
	case len(r.Nests) == 0:
		return nil
	}
	all, p := r.orders(), nest.Sequence(r.Nests...)
	for _, a := range r.arrays(p) {
		all = append(all, r.layouts(p, a)...)
	}
	return all
}

// orders returns other loop orders and tiles of a pattern's largest nest.
func (r *Run) orders() (all []Change) {
	largest := slices.MaxFunc(r.Nests, func(a, b nest.Nest) int {
		return a.Iterations() - b.Iterations()
	})
	at := slices.IndexFunc(r.Nests, func(n nest.Nest) bool {
		return n.Iterations() == largest.Iterations()
	})
	n := largest.Canonical()
	inner := len(n.Trips) - 1
	if len(n.Operands) == 0 || inner < 1 {
		return nil
	}
	add := func(words, kind string, nests ...nest.Nest) {
		p := nest.Sequence(slices.Concat(r.Nests[:at], nests, r.Nests[at+1:])...)
		all = append(all, Change{Words: words, Program: p, Kept: "kept", kind: kind})
	}
	x := n.Operands[0]
	for b := inner; b > 0; b-- {
		for a := range b {
			order := nest.UpTo(inner + 1)
			order[a], order[b] = b, a
			words := Say("swap the loops that step %s by %d B and %d B", x.Tensor, x.Strides[a],
				x.Strides[b])
			if b == inner {
				words = Say("walk with the loop that steps %s by %d B innermost", x.Tensor,
					x.Strides[a])
			}
			add(words, "order", n.Permute(order...))
		}
	}
	outer := nest.UpTo(inner - 1)
	for _, tile := range []int{64, 32, 16} {
		if min(n.Trips[inner], n.Trips[inner-1]) < 2*tile {
			continue
		}
		parts, right := n.Split(inner, tile)
		tiles, below := parts.Split(inner-1, tile)
		tiles = tiles.Permute(append(outer, inner-1, inner+1, inner, inner+2)...)
		add(Say("walk in tiles of %d x %d elements", tile, tile), "tiles", tiles, below, right)
	}
	return all
}

// arrays returns the arrays with at least a tenth of all misses, the most first.
func (r *Run) arrays(p nest.Program) (list []nest.Array) {
	misses := func(a nest.Array) uint64 {
		at := slices.IndexFunc(r.Tensors, func(l Line) bool {
			return l.Function == a.Tensor
		})
		if at < 0 {
			return 0
		}
		return r.Tensors[at].Counts.D1Misses()
	}
	for _, a := range r.Arrays {
		if misses(a) > 0 && misses(a)*10 >= r.Counts.D1Misses() {
			list = append(list, a)
		}
	}
	slices.SortStableFunc(list, func(a, b nest.Array) int {
		return cmp.Compare(misses(b), misses(a))
	})
	return list
}

// shaped gives an array of one dim the extents that the strides of its accesses suggest.
func (r *Run) shaped(p nest.Program, a nest.Array) nest.Array {
	if len(a.Extents) != 1 {
		return a
	}
	var steps []int
	for _, op := range p.Operands() {
		for _, s := range op.Strides {
			if op.Tensor == a.Tensor && max(s, -s) >= r.Config.Levels[0].Line {
				steps = append(steps, max(s, -s))
			}
		}
	}
	slices.Sort(steps)
	bytes, row := a.Bytes(), a.Element
	a.Extents = nil
	for _, s := range slices.Compact(steps) {
		if s%row == 0 && s < bytes {
			a.Extents = append([]int{s / row}, a.Extents...)
			row = s
		}
	}
	a.Extents = append([]int{(bytes + row - 1) / row}, a.Extents...)
	return a
}

// layouts pads rows by a line, and swaps two dims.
func (r *Run) layouts(p nest.Program, declared nest.Array) (all []Change) {
	a := r.shaped(p, declared)
	last := len(a.Extents) - 1
	if last < 1 {
		return nil
	}
	add := func(words, kind string, wide nest.Array, strides []int) {
		if q, ok := p.Restride(a, a.Base, strides); ok {
			all = append(all, Change{Words: words, Program: r.grown(q, declared, wide.Bytes()),
				Kept: "kept", kind: kind + a.Tensor})
		}
	}
	more := (r.Config.Levels[0].Line + a.Element - 1) / a.Element
	padded := a
	padded.Extents = slices.Clone(a.Extents)
	padded.Extents[last] += more
	add(Say("pad the rows of %s by %s%s", a.Tensor, Counted(more, "element"),
		r.declare(declared, padded)), "pad ", padded, padded.Strides())
	for d := last; d > 0; d-- {
		for e := range d {
			swapped := a
			swapped.Extents = slices.Clone(a.Extents)
			swapped.Extents[d], swapped.Extents[e] = a.Extents[e], a.Extents[d]
			strides := swapped.Strides()
			strides[d], strides[e] = strides[e], strides[d]
			add(Say("swap dims %d and %d of %s%s", e, d, a.Tensor, r.declare(declared, swapped)),
				"dims ", swapped, strides)
		}
	}
	return all
}

func (r *Run) declare(declared, a nest.Array) string {
	if r.program == nil || slices.Equal(declared.Extents, a.Extents) {
		return ""
	}
	extents := strings.ReplaceAll(fmt.Sprint(a.Extents), " ", "][")
	if len(declared.Extents) == 1 {
		return " as if it were " + a.Tensor + extents
	}
	return " to " + a.Tensor + extents
}

// grown moves all arrays after one that has grown to this many bytes.
func (r *Run) grown(p nest.Program, a nest.Array, bytes int) nest.Program {
	up := func(n int) int { return (n + r.Align - 1) / r.Align * r.Align }
	by := up(int(a.Base)+bytes) - up(int(a.Base)+a.Bytes())
	for _, other := range r.Arrays {
		if other.Base > a.Base {
			p = p.Moved(other.Tensor, by)
		}
	}
	return p
}

// nothing says that nothing would help, or which part of each line is wasted.
func (r Run) nothing() string {
	l := r.Levels[0]
	if !r.Config.Observes("classes") || l.Misses() == 0 ||
		l.Compulsory*10 < l.Misses()*9 || r.Config.Levels[0].NoWriteAllocate {
		return ""
	}
	each, lines := "each line", "Lines are"
	if l.Compulsory < l.Misses() || l.Prefetches > 0 || usedPart(l) > 0.5 &&
		l.BytesUsed < l.BytesFilled {
		each, lines = "nearly each line", "Nearly all lines are"
	}
	if r.Config.Observes("bytes") && usedPart(l) < 0.5 {
		return Say("What would help: a layout in which these elements lie together, such as a "+
			"contiguous copy if they are walked more than once. The walk uses %.1f of the %d B "+
			"of a line, and fetches %s once.",
			usedPart(l)*float64(r.Config.Levels[0].Line), r.Config.Levels[0].Line, each)
	}
	if r.Config.Observes("bytes") && usedPart(l) > 0.9 {
		return Say("What would help: no other layout or order. %s fetched into %s once and "+
			"used whole.", lines, l.Name)
	}
	return ""
}
