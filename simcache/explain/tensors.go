package explain

import (
	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache"
)

var verbs = map[nest.Kind]string{nest.Read: "read", nest.Write: "written", nest.Modify: "updated"}

// tensor describes the misses of a tensor, its strides, and the reuse of its lines.
func (r Run) tensor(s story) string {
	text := []string{r.pays(s.path), r.steps(s.path)}
	if s.counted {
		text = append(text, r.comesBack(s), r.others(s))
	}
	return sentences(text...)
}

func (r Run) pays(w path) string {
	op := w.operand()
	for _, t := range r.Tensors {
		if t.Function != op.Tensor {
			continue
		}
		c := t.Counts
		first, last := r.Levels[0], r.Levels[len(r.Levels)-1]
		text := Say("%s is %s %s and misses %s in %s (%s)", op.Tensor, verbs[op.Kind],
			times(c.Refs()), times(c.D1Misses()), first.Name, percent(c.D1Misses(), c.Refs()))
		if len(r.Levels) > 1 {
			text += Say(", %s in %s (%s)", times(c.LLMisses()), last.Name,
				percent(c.LLMisses(), c.Refs()))
		}
		if all := first.Misses(); len(r.Tensors) > 1 && all > 0 {
			text += Say(": %s of all misses in %s", percent(c.D1Misses(), all), first.Name)
		}
		return text + "."
	}
	return ""
}

func (r Run) steps(w path) string {
	line, trips, stride := r.Config.Levels[0].Line, w.Trips[w.inner()], w.stride(w.inner())
	backwards := ""
	if w.operand().Strides[w.inner()] < 0 {
		backwards = " backwards"
	}
	switch {
	case stride == 0:
		return Say("The inner loop stays on one element for %d iterations.", trips)
	case stride >= line:
		return Say("The inner loop steps %d B%s, past the line of %d B: each of its %d accesses "+
			"is to another line.", stride, backwards, line, trips)
	case line/stride == 1:
		return Say("The inner loop steps %d B%s, so that few accesses share a line of %d B.",
			stride, backwards, line)
	}
	about := ""
	if line%stride != 0 {
		about = "about "
	}
	return Say("The inner loop steps %d B%s, so that %s%d accesses in a row share a line of %d B.",
		stride, backwards, about, min(line/stride, trips), line)
}

func (r Run) comesBack(s story) string {
	var text []string
	for i, c := range s.told() {
		also := ""
		if i > 0 {
			also = "also "
		}
		text = append(text, Say("It %sreturns to a line %s%s. ", also, r.when(s, c),
			r.after(s, c))+r.fates(s, c))
	}
	if text == nil {
		return "It never returns to a line that it has left."
	}
	return sentences(text...)
}

func (r Run) when(s story, c comeback) string {
	switch c.since {
	case simcache.ThisIteration:
		return "of the same iteration"
	case simcache.ThisPass:
		return "of the loops before these"
	case simcache.EarlierPass:
		return "in the next pass"
	}
	stride, inside, over := s.stride(c.loop), "the inner loop", "starts over, as it does"
	if s.inner()-c.loop > 1 {
		inside, over = Say("the inner %d loops", s.inner()-c.loop), "start over, as they do"
	}
	switch {
	case c.loop == s.inner():
		return "in a later iteration of the inner loop"
	case stride == 0:
		return Say("when %s %s %d times", inside, over, s.Trips[c.loop])
	case stride >= r.Config.Levels[0].Line:
		return "in a later round of " + inside
	}
	return Say("in the next round of %s, for the neighbour at %d B", inside, stride)
}

// after returns the reuse distance in lines. If it was not counted, after estimates it, unless that
// would contradict the counts.
func (r Run) after(s story, c comeback) string {
	line, about, lines := r.Config.Levels[0].Line, "", int(c.lines)
	if lines == 0 {
		alone := c.since == simcache.ThisLoop || c.since == simcache.EarlierPass &&
			len(r.Nests) == 1
		first, has := c.fates[0], r.Config.Levels[0].Sets()*r.Config.Levels[0].Ways
		about, lines = "about ", s.inside(c).reach(line).lines
		if !alone || first.capacity == first.came != (lines > has) {
			return ""
		}
	}
	text := Say(", after %s%s (%s)", about, Counted(lines, "line"), size(lines*line))
	if len(s.Operands) > 1 {
		text += " of all tensors"
	}
	return text
}

// fates says how often, and why, each level had lost the lines, up to the first that had them all.
func (r Run) fates(s story, c comeback) string {
	var text []string
	for _, f := range c.fates {
		name := Say("%s (%s)", r.Levels[f.level].Name, Counted(r.lines(f.level), "line"))
		switch {
		case f.lost() == 0 && s.loses[f.level]: // in another comeback
			return sentences(append(text, name+" has it.")...)
		case f.lost() == 0:
			return sentences(append(text, name+" still has it.")...)
		case f.capacity == f.came:
			text = append(text, name+" has evicted it.")
		case f.conflict == f.came:
			text = append(text, r.crowding(s, c, f, name))
		default:
			text = append(text, r.mixed(s, c, f, name))
		}
	}
	last := c.fates[len(c.fates)-1]
	if last.lost() < c.fates[0].came {
		return sentences(append(text, Say("It comes from memory again %s.", times(last.lost())))...)
	}
	return sentences(append(text, "It comes from memory again.")...)
}

func (r Run) lines(level int) int {
	return r.Config.Levels[level].Sets() * r.Config.Levels[level].Ways
}

// crowding explains a conflict set: the level lacked ways for its lines.
func (r Run) crowding(s story, c comeback, f fate, name string) string {
	where := r.where(s, c, f.level)
	if where == "" || c.lines > uint64(r.lines(f.level)) {
		return Say("%s has evicted it, which a fully associative LRU cache of its size would not.",
			name)
	}
	return Say("%s has evicted it: %s.", name, where)
}

func (r Run) mixed(s story, c comeback, f fate, name string) string {
	var causes []string
	add := func(times uint64, cause string) {
		switch times {
		case 0:
		case f.lost():
			causes = append(causes, cause)
		default:
			causes = append(causes, Say("%d ", times)+cause)
		}
	}
	add(f.capacity, "for lack of capacity")
	if where := r.where(s, c, f.level); f.conflict > 0 && where != "" {
		add(f.conflict, "for lack of ways in its sets ("+where+")")
	} else {
		add(f.conflict, "where a fully associative LRU cache of its size would hold it")
	}
	add(f.never, "since no reference had fetched it")
	lost := "has evicted it"
	if f.never > 0 {
		lost = "does not have it"
	}
	return Say("%s %s %d of %d times: %s.", name, lost, f.lost(), f.came, List(causes))
}

// where describes the conflict set of a comeback, "" if there is none.
func (r Run) where(s story, c comeback, level int) string {
	l := r.Config.Levels[level]
	crowd := s.inside(c).reach(l.Line).falls(l)
	if crowd.outlook != crowded {
		return ""
	}
	where := Say("crowd, up to %d", crowd.busiest)
	if crowd.sets < l.Sets() {
		where = Say("fall into %d of its %d sets, up to %d", crowd.sets, l.Sets(), crowd.busiest)
	}
	return Say("the lines of %s %s to a set of %d%s", s.operand().Tensor, where, l.Ways,
		every(s.stride(s.inner()), l))
}

func (r Run) others(s story) string {
	if s.elsewhere+s.again == 0 {
		return ""
	}
	var when []string
	if s.elsewhere > 0 {
		when = append(when, Say("%d compulsory", s.elsewhere))
	}
	if s.again > 0 {
		when = append(when, Say("%d later", s.again))
	}
	return Say("The other loops, as at the edges of tiles, add %s: %s.",
		number(s.elsewhere+s.again)+" "+agree(s.elsewhere+s.again, "miss", "misses"), List(when))
}

func every(stride int, c simcache.Level) string {
	skip := nest.GCD(stride/c.Line, c.Sets())
	switch {
	case stride%c.Line != 0 || skip == 1:
		return ""
	case skip == c.Sets():
		return Say(" (steps of %d B always reach the same set)", stride)
	}
	return Say(" (steps of %d B reach every %s set)", stride, ordinal(skip))
}

func ordinal(n int) string {
	suffix := "th"
	if n/10%10 != 1 {
		suffix = map[int]string{1: "st", 2: "nd", 3: "rd"}[n%10]
		if suffix == "" {
			suffix = "th"
		}
	}
	return Say("%d%s", n, suffix)
}

// pages reports the misses of the TLB, and the pages needed at once.
func (r Run) pages(stories []story) string {
	if len(r.TLB) == 0 || r.TLB[0].Refs() == 0 {
		return ""
	}
	var text []string
	for i, t := range r.TLB {
		c := r.Config.TLB[i]
		text = append(text, Say("%s (%d pages of %s, a reach of %s) misses %d of %d lookups (%s).",
			t.Name, c.Entries, size(c.Page), size(c.Entries*c.Page), t.Misses(), t.Refs(),
			percent(t.Misses(), t.Refs())))
	}
	last := r.TLB[len(r.TLB)-1]
	if last.Misses() > 0 {
		text = append(text, Say("Each miss of %s walks the page table: one walk for %.1f "+
			"references.",
			last.Name, float64(r.TLB[0].Refs())/float64(last.Misses())))
	}
	if r.TLB[0].Misses() > r.TLB[0].Refs()/100 && stories != nil {
		text = append(text, r.pagesAtOnce(stories[0].path))
	}
	return sentences(text...)
}

func (r Run) pagesAtOnce(w path) string {
	page := r.Config.TLB[0].Page
	inner := w.within(w.inner() - 1)
	now := inner.reach(page)
	about := ""
	if now.all == nil {
		about = "about "
	}
	text := Say("One round of the inner loop accesses %s%s of %s.", about,
		Counted(now.lines, "page"), size(page))
	const large = 2 << 20
	if then := inner.reach(large).lines; page < large && then < now.lines {
		text = text[:len(text)-1] + Say("; with pages of 2 MiB it would be %d.", then)
	}
	return text
}
