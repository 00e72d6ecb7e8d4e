package explain

import (
	"strings"

	"github.com/stridebench/stridebench/simcache"
)

var verbs = map[simcache.Kind]string{simcache.Read: "read", simcache.Write: "written", simcache.Modify: "updated"}

// tensor says what a tensor misses, how the walk steps through it, and what
// becomes of its lines until the walk comes back to them.
func (r Run) tensor(w walk) string {
	return sentences(r.pays(w), r.steps(w), r.comesBack(w))
}

func (r Run) pays(w walk) string {
	op := w.operand()
	for _, t := range r.Tensors {
		if t.Function != op.Tensor {
			continue
		}
		c := t.Counts
		first, last := r.Levels[0], r.Levels[len(r.Levels)-1]
		text := say("%s is %s %d times and misses %d times in %s (%s)", op.Tensor, verbs[op.Kind], c.Refs(), c.D1Misses(), first.Name, percent(c.D1Misses(), c.Refs()))
		if len(r.Levels) > 1 {
			text += say(", %d times in %s (%s)", c.LLMisses(), last.Name, percent(c.LLMisses(), c.Refs()))
		}
		if all := first.Misses(); len(r.Tensors) > 1 && all > 0 {
			text += say(": %s of all misses in %s", percent(c.D1Misses(), all), first.Name)
		}
		return text + "."
	}
	return ""
}

func (r Run) steps(w walk) string {
	line, trips, stride := r.Config.Levels[0].Line, w.Trips[w.inner()], w.stride(w.inner())
	backwards := ""
	if w.operand().Strides[w.inner()] < 0 {
		backwards = " backwards"
	}
	switch {
	case stride == 0:
		return say("The inner loop stays on one element for %d iterations.", trips)
	case stride >= line:
		return say("The inner loop steps %d B%s, past the line of %d B: each of its %d accesses is to another line.", stride, backwards, line, trips)
	case line/stride == 1:
		return say("The inner loop steps %d B%s, so that hardly two accesses share a line of %d B.", stride, backwards, line)
	}
	return say("The inner loop steps %d B%s, so that %d accesses in a row share a line of %d B.", stride, backwards, min(line/stride, trips), line)
}

// comesBack tells of the lines that pass until the walk returns to a line.
func (r Run) comesBack(w walk) string {
	line := r.Config.Levels[0].Line
	loop := w.returns(line)
	if loop < 0 {
		return "It never comes back to a line that it has left."
	}
	reach := w.within(loop).reach(line)
	text := say("It comes back to a line %s, after %s (%s)", r.when(w, loop), plural(reach.lines, "line"), size(reach.lines*line))
	if len(w.Operands) > 1 {
		text += " of all tensors"
	}
	if reach.all == nil {
		text = strings.Replace(text, "after ", "after about ", 1)
	}
	return text + ". " + r.fates(w, loop)
}

// when says which step it is that returns.
func (r Run) when(w walk, loop int) string {
	stride := w.stride(loop)
	switch {
	case loop == 0 && r.Passes > 1:
		return "in the next pass"
	case stride == 0:
		return say("when the inner loop starts over, as it does %d times", w.Trips[loop])
	case loop == w.inner()-1:
		return say("for the neighbour %d B on, in the next round of the inner loop", stride)
	}
	return say("for the neighbour %d B on, in the next round of the inner %d loops", stride, w.inner()-loop)
}

// fates tells level by level whether the lines are still there, up to the first
// that keeps them.
func (r Run) fates(w walk, loop int) string {
	var text []string
	for i, c := range r.Config.Levels {
		reach := w.within(loop).reach(c.Line)
		name, lines := r.Levels[i].Name, c.Sets()*c.Ways
		switch crowd := reach.fate(c); crowd.fate {
		case kept:
			return sentences(append(text, say("%s (%s) still has it.", name, plural(lines, "line")))...)
		case tooMany:
			text = append(text, say("%s (%s) has lost it by then.", name, plural(lines, "line")))
		case crowded:
			text = append(text, r.crowding(w, i, reach.own, crowd))
		}
	}
	return sentences(append(text, "It comes from memory again.")...)
}

// crowding tells of lines that a level has lost for want of sets, not of lines.
func (r Run) crowding(w walk, i, own int, of crowd) string {
	c := r.Config.Levels[i]
	where := say("are up to %d", of.busiest)
	if of.sets < c.Sets() {
		where = say("fall into %d of its %d sets, up to %d", of.sets, c.Sets(), of.busiest)
	}
	gone := "it has lost it"
	if of.lost < own {
		gone = say("it has lost %d of these %d", of.lost, own)
	}
	return say("%s has %s, enough for that, but %s's %s to a set of %d%s: %s.", r.Levels[i].Name, plural(c.Sets()*c.Ways, "line"),
		w.operand().Tensor, where, c.Ways, every(w.stride(w.inner()), c), gone)
}

// every says which sets steps of a stride reach, where they skip some.
func every(stride int, c simcache.Level) string {
	skip := gcd(stride/c.Line, c.Sets())
	switch {
	case stride%c.Line != 0 || skip == 1:
		return ""
	case skip == c.Sets():
		return say(" (steps of %d B always reach the same set)", stride)
	}
	return say(" (steps of %d B reach every %s set)", stride, ordinal(skip))
}

func ordinal(n int) string {
	suffix := "th"
	if n/10%10 != 1 {
		suffix = map[int]string{1: "st", 2: "nd", 3: "rd"}[n%10]
		if suffix == "" {
			suffix = "th"
		}
	}
	return say("%d%s", n, suffix)
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// pages tells what the TLB misses, and how many pages the walk needs at once.
func (r Run) pages(walks []walk) string {
	if len(r.TLB) == 0 || r.TLB[0].Refs() == 0 {
		return ""
	}
	var text []string
	for i, t := range r.TLB {
		c := r.Config.TLB[i]
		text = append(text, say("%s (%d pages of %s, a reach of %s) misses %d of %d lookups (%s).",
			t.Name, c.Entries, size(c.Page), size(c.Entries*c.Page), t.Misses(), t.Refs(), percent(t.Misses(), t.Refs())))
	}
	last := r.TLB[len(r.TLB)-1]
	if last.Misses() > 0 {
		text = append(text, say("Each miss of %s walks the page table: one walk for %.1f references.",
			last.Name, float64(r.TLB[0].Refs())/float64(last.Misses())))
	}
	if r.TLB[0].Misses() > r.TLB[0].Refs()/100 && walks != nil {
		text = append(text, r.pagesAtOnce(walks[0]))
	}
	return sentences(text...)
}

// pagesAtOnce compares the pages of the inner loop with those of larger ones.
func (r Run) pagesAtOnce(w walk) string {
	page := r.Config.TLB[0].Page
	inner := w.within(w.inner() - 1)
	now := inner.reach(page).lines
	text := say("One round of the inner loop touches %s of %s.", plural(now, "page"), size(page))
	const large = 2 << 20
	if then := inner.reach(large).lines; page < large && then < now {
		text = text[:len(text)-1] + say("; with pages of 2 MiB it would be %d.", then)
	}
	return text
}
