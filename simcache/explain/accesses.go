package explain

import (
	"cmp"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/layouts/nest/touched"
	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/internal/engine"
)

// An access is an operand of a pattern, or an access of a program, with its counts.
type access struct {
	name   string
	kind   nest.Kind
	nest   nest.Nest    // canonical; without operands for a program
	loops  []*nest.Loop // around an access of a program
	of, op int          // the nest and the operand, as in simcache.Reuse

	refs   uint64
	missed []uint64         // by level
	reuses []simcache.Reuse // in the first level, those that miss most first
}

// accesses returns those that miss, the most first. It needs the observed classes.
func (r Run) accesses() (all []access) {
	add := func(a access) {
		for _, l := range r.Levels {
			missed := uint64(0)
			for _, u := range l.Reuses {
				if u.Nest == a.of && u.Operand == a.op {
					missed += u.Misses()
				}
			}
			a.missed = append(a.missed, missed)
		}
		for _, u := range r.Levels[0].Reuses {
			if u.Nest == a.of && u.Operand == a.op {
				a.refs += u.Refs
				a.reuses = append(a.reuses, u)
			}
		}
		slices.SortStableFunc(a.reuses, func(a, b simcache.Reuse) int {
			return cmp.Or(cmp.Compare(b.Misses(), a.Misses()), cmp.Compare(b.Refs, a.Refs))
		})
		if slices.Max(a.missed) > 0 {
			all = append(all, a)
		}
	}
	if p := r.program; p != nil {
		for op, a := range p.source.Accesses {
			s := p.statement(op)
			add(access{name: fmt.Sprintf("%s:%d: %s", filepath.Base(s.File), s.Line, a.Text),
				kind: p.operands[op].Kind, loops: p.around[op], op: op})
		}
	}
	var different []nest.Nest
	for _, n := range r.Nests {
		n = n.Canonical()
		if slices.ContainsFunc(different, func(d nest.Nest) bool {
			return reflect.DeepEqual(d, n)
		}) {
			continue
		}
		for op, of := range n.Operands {
			add(access{name: of.Tensor, kind: of.Kind, nest: n, of: len(different), op: op})
		}
		different = append(different, n)
	}
	slices.SortStableFunc(all, func(a, b access) int {
		return cmp.Compare(b.missed[0], a.missed[0])
	})
	return all
}

var verbs = map[nest.Kind]string{nest.Read: "read", nest.Write: "written", nest.Modify: "updated"}

// words returns the paragraph of an access: its misses, its steps, and when its lines return.
func (r Run) words(a access) string {
	first, missed := r.Levels[0], a.missed[0]
	text := Say("%s is %s %s and misses %s in %s (%s)", a.name, verbs[a.kind], times(a.refs),
		times(missed), first.Name, percent(missed, a.refs))
	if last := len(r.Levels) - 1; last > 0 {
		text += Say(", %s in %s (%s)", times(a.missed[last]), r.Levels[last].Name,
			percent(a.missed[last], a.refs))
	}
	if all := first.Misses(); missed < all {
		text += Say(": %s of all misses in %s", percent(missed, all), first.Name)
	}
	said := []string{text + "."}
	returns := slices.DeleteFunc(slices.Clone(a.reuses), func(u simcache.Reuse) bool {
		return u.Since == engine.Never
	})
	lost := slices.DeleteFunc(slices.Clone(returns), func(u simcache.Reuse) bool {
		return u.Misses() == 0 || u.Misses()*10 < missed
	})
	if len(lost) == 0 { // the most frequent reuse of a line that it had left
		for _, u := range returns {
			missed -= u.Misses()
		}
		said = append(said, Say("Compulsory misses among these: %d.", missed))
		lost = slices.DeleteFunc(returns, func(u simcache.Reuse) bool {
			inner := max(len(a.loops), len(a.nest.Trips)) - 1
			return u.Misses() == 0 && (u.Since == engine.ThisIteration ||
				u.Since == engine.ThisLoop && u.Loop == inner)
		})
		lost = lost[:min(len(lost), 1)]
	}
	said = append(said, r.steps(a))
	if len(lost) == 0 {
		said = append(said, "It never returns to a line that it has left.")
	}
	for i, u := range lost {
		also := ""
		if i > 0 {
			also = "also "
		}
		text := Say("It %sreturns to a line %s", also, r.when(a, u))
		if u.Lines > 0 {
			text += Say(", after %s (%s)", Counted(int(u.Lines), "line"),
				simcache.Bytes(int(u.Lines)*r.Config.Levels[0].Line))
		}
		said = append(said, text+".", r.fates(a, u))
	}
	return sentences(said...)
}

// steps describes the inner loop of a pattern.
func (r Run) steps(a access) string {
	inner := len(a.nest.Trips) - 1
	if inner < 0 {
		return ""
	}
	line, trips, stride := r.Config.Levels[0].Line, a.nest.Trips[inner], a.stride(inner)
	backwards := ""
	if a.nest.Operands[a.op].Strides[inner] < 0 {
		backwards = " backwards"
	}
	switch {
	case stride == 0:
		return Say("The inner loop stays on one element for %d iterations.", trips)
	case stride >= line:
		return Say("The inner loop steps %d B%s, past the line of %d B: each of its %d accesses "+
			"is to another line.", stride, backwards, line, trips)
	}
	return Say("The inner loop steps %d B%s, so that up to %d accesses in a row share a line of "+
		"%d B.", stride, backwards, min((line+stride-1)/stride, trips), line)
}

// stride returns the bytes that a loop of a pattern moves the operand by, without its sign.
func (a access) stride(loop int) int {
	s := a.nest.Operands[a.op].Strides[loop]
	return max(s, -s)
}

// when says when a line was touched last.
func (r Run) when(a access, u simcache.Reuse) string {
	switch {
	case u.Since == engine.ThisIteration:
		return "of the same iteration"
	case u.Since == engine.EarlierPass:
		return "in the next pass"
	case u.Since == engine.ThisPass && (u.Loop == 0 || a.loops == nil):
		return "of the loops before"
	case u.Since == engine.ThisPass:
		return Say("from before loop %s, in the same iteration of loop %s", a.loops[u.Loop].Name,
			a.loops[u.Loop-1].Name)
	case a.loops != nil:
		return Say("in a later iteration of loop %s", a.loops[u.Loop].Name)
	}
	inner := len(a.nest.Trips) - 1 - u.Loop
	if inner == 0 {
		return "in a later iteration of the inner loop"
	}
	rounds := "the inner loop"
	if inner > 1 {
		rounds = Say("the inner %d loops", inner)
	}
	if stride := a.stride(u.Loop); stride > 0 && stride < r.Config.Levels[0].Line {
		return Say("in the next round of %s, for the neighbour at %d B", rounds, stride)
	}
	return "in a later round of " + rounds
}

// fates follows a reuse down the levels, to the first that nearly always hits.
func (r Run) fates(a access, first simcache.Reuse) string {
	var text []string
	for i, l := range r.Levels {
		at := slices.IndexFunc(l.Reuses, func(u simcache.Reuse) bool {
			return u.Nest == first.Nest && u.Operand == first.Operand && u.Since == first.Since &&
				u.Loop == first.Loop
		})
		if at < 0 {
			return sentences(text...)
		}
		u, of := l.Reuses[at], r.Config.Levels[i]
		name := Say("%s (%s)", l.Name, Counted(of.Sets()*of.Ways, "line"))
		lost, often := u.Misses(), ""
		if lost < u.Refs {
			often = " " + times(lost)
		}
		switch {
		case lost == 0:
			return sentences(append(text, name+" still has it.")...)
		case lost*100 < first.Refs:
			return sentences(append(text, Say("%s has it, except %s.", name, times(lost)))...)
		case u.Compulsory > lost/2:
			text = append(text, Say("%s does not have it%s, since no reference had fetched it.",
				name, often))
		case u.Conflict > lost/2:
			text = append(text, Say("%s has evicted it%s, mostly for lack of ways in its sets%s.",
				name, often, r.crowd(a, u, i)))
		default:
			text = append(text, Say("%s has evicted it%s, mostly for lack of capacity.", name,
				often))
		}
	}
	return sentences(append(text, "It comes from memory again.")...)
}

// listed is the most iterations whose lines are listed.
const listed = 1 << 20

// crowd describes the conflict set of a pattern's reuse: the level has enough lines, but too few
// ways in the sets of these. It is "" if less than an eighth of the operand's lines are in such
// sets.
func (r Run) crowd(a access, u simcache.Reuse, level int) string {
	n, l := a.nest, r.Config.Levels[level]
	if u.Since == engine.ThisLoop && n.Operands != nil {
		n = n.Inside(u.Loop + 1)
	}
	if n.Operands == nil || n.Iterations() > listed {
		return ""
	}
	sets, filled, own := uint64(l.Sets()), map[uint64]int{}, map[uint64]bool{}
	for _, block := range touched.Blocks(n, l.Line) {
		filled[block%sets]++
	}
	mine, busiest, lost := touched.Blocks(n.Only(a.op), l.Line), 0, 0
	for _, block := range mine {
		own[block%sets] = true
		busiest = max(busiest, filled[block%sets])
		if filled[block%sets] > l.Ways {
			lost++
		}
	}
	if lost <= len(mine)/8 {
		return ""
	}
	where := "crowd"
	if len(own) < l.Sets() {
		where = Say("fall into %d of its %d sets", len(own), l.Sets())
	}
	text := Say(": the lines of %s %s, up to %d to a set of %d", a.name, where, busiest, l.Ways)
	stride := a.stride(len(a.nest.Trips) - 1)
	if skip := nest.GCD(stride/l.Line, l.Sets()); stride%l.Line == 0 && skip > 1 {
		text += Say(" (steps of %d B reach one in %d sets)", stride, skip)
	}
	return text
}

// pages reports the misses of the TLB, and the pages that the inner loop needs at once.
func (r Run) pages(all []access) string {
	if len(r.TLB) == 0 || r.TLB[0].Refs() == 0 {
		return ""
	}
	var text []string
	for i, t := range r.TLB {
		c := r.Config.TLB[i]
		text = append(text, Say("%s (%d pages of %s, a reach of %s) misses %d of %d lookups (%s).",
			t.Name, c.Entries, simcache.Bytes(c.Page), simcache.Bytes(c.Entries*c.Page),
			t.Misses(), t.Refs(), percent(t.Misses(), t.Refs())))
	}
	last := r.TLB[len(r.TLB)-1]
	if last.Misses() > 0 {
		text = append(text, Say("Each miss of %s walks the page table: one walk for %.1f "+
			"references.",
			last.Name, float64(r.TLB[0].Refs())/float64(last.Misses())))
	}
	if len(all) == 0 || r.TLB[0].Misses() <= r.TLB[0].Refs()/100 {
		return sentences(text...)
	}
	inner := all[0].nest
	if len(inner.Trips) > 0 {
		inner = inner.Inside(len(inner.Trips) - 1)
	}
	if page := r.Config.TLB[0].Page; inner.Operands != nil && inner.Iterations() <= listed {
		round := Say("One round of the inner loop accesses %s of %s",
			Counted(len(touched.Blocks(inner, page)), "page"), simcache.Bytes(page))
		const large = 2 << 20
		if then := len(touched.Blocks(inner, large)); then < len(touched.Blocks(inner, page)) {
			round += Say("; with pages of 2 MiB it would be %d", then)
		}
		text = append(text, round+".")
	}
	return sentences(text...)
}

// accessWords returns the paragraphs about the accesses that miss most: three at most, each with at
// least a twentieth of all misses.
func (r Run) accessWords(all []access) (text []string) {
	for _, a := range all {
		if a.missed[0]*20 < r.Levels[0].Misses() {
			break
		}
		if len(text) == 3 {
			return append(text, "Other accesses miss too: see the table, or --json for each.")
		}
		text = append(text, r.words(a))
	}
	return text
}

// place names a statement and its text.
func (r Run) place(i int) string {
	const wide = 48
	s := r.program.source.Statements[i]
	text := []rune(strings.Join(strings.Fields(s.Text), " "))
	if len(text) > wide {
		text = append(text[:wide-3], []rune("...")...)
	}
	return fmt.Sprintf("%s:%d  %s", filepath.Base(s.File), s.Line, string(text))
}
