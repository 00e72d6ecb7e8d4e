// Package explain says in words what the counts of a simulation mean: which
// tensor misses at which level and why. It uses the counts and the loops that
// were walked.
package explain

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/reuse"
)

// A Run is what was simulated and counted.
type Run struct {
	Config  simcache.Config
	Levels  []simcache.LevelCounts // of Hierarchy.Levels
	TLB     []simcache.LevelCounts // of Hierarchy.TLBs, if there is one
	Tensors []simcache.Line        // counts of each tensor
	Nests   []nest.Nest            // of one pass; none for a trace
	Passes  int

	Counts          simcache.Counts // of Hierarchy.Counts
	Visited, Proved uint64          // of Hierarchy.Work

	Curve *reuse.Table // misses of caches of other sizes, nil if these were not counted

	program *program // of RunOfProgram
}

// RunOf returns what a hierarchy with this configuration counted.
func RunOf(h *simcache.Hierarchy, c simcache.Config, tensors []simcache.Line, nests []nest.Nest, passes int) Run {
	r := Run{Config: c, Levels: h.Levels(), Tensors: tensors, Nests: nests, Passes: passes, Counts: h.Counts()}
	r.Visited, r.Proved = h.Work()
	if len(c.TLB) > 0 {
		r.TLB = h.TLBs()
	}
	return r
}

// Text returns the paragraphs: the tensors, the levels, the TLB, memory, and
// what would help. Sentences without anything to say are left out; with more in
// Config.Observe and Config.WriteBacks there is more to say.
func (r Run) Text() []string {
	var paragraphs []string
	add := func(p string) {
		if p != "" {
			paragraphs = append(paragraphs, p)
		}
	}
	stories := r.stories()
	for _, s := range stories {
		add(r.tensor(s))
	}
	for _, s := range r.sources() {
		add(s)
	}
	for i := range r.Levels {
		add(r.level(i))
	}
	add(r.pages(stories))
	add(r.memory())
	if stories != nil {
		add(r.advice(stories))
	}
	return paragraphs
}

var english = message.NewPrinter(language.English)

// Say formats with commas in whole numbers: "1,200 lines".
func Say(format string, args ...any) string { return english.Sprintf(format, args...) }

// size writes bytes with a unit, and decimals where they say something.
func size[T int | uint64](bytes T) string {
	n, unit := float64(bytes), "B"
	for _, u := range []string{"KiB", "MiB", "GiB", "TiB"} {
		if n < 1024 {
			break
		}
		n, unit = n/1024, u
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", n), ".0") + " " + unit
}

func percent(n, of uint64) string {
	return fmt.Sprintf("%.2f%%", 100*float64(n)/float64(max(of, 1)))
}

// List joins words as a sentence does: "D1, L2 and LL".
func List(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}

// sentences joins those that are not empty.
func sentences(all ...string) string {
	return strings.Join(slices.DeleteFunc(all, func(s string) bool { return s == "" }), " ")
}

// Counted is "1 line", "1,200 lines".
func Counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return Say("%d %ss", n, what)
}

// times is how often: once, or so many times.
func times(n uint64) string {
	if n == 1 {
		return "once"
	}
	return Say("%d times", n)
}

// agree is the verb of one thing, or of so many.
func agree(n uint64, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// level says by what cause a level missed, what of its lines was used, and how
// the misses fall on its sets.
func (r Run) level(i int) string {
	l, c := r.Levels[i], r.Config.Levels[i]
	if l.Refs() == 0 {
		return Say("%s: nothing gets this far.", l.Name)
	}
	intro := Say("%s (%s: %d sets of %s of %d B) misses %d of the %s that %s it (%s).",
		l.Name, simcache.Bytes(c.Size), c.Sets(), Counted(c.Ways, "line"), c.Line, l.Misses(), Counted(int(l.Refs()), "reference"), agree(l.Refs(), "reaches", "reach"), percent(l.Misses(), l.Refs()))
	if l.Misses() == 0 {
		return Say("%s (%s) has all of the %s that %s it.", l.Name, simcache.Bytes(c.Size), Counted(int(l.Refs()), "reference"), agree(l.Refs(), "reaches", "reach"))
	}
	return sentences(intro, r.causes(i), r.fits(i), r.used(i), r.spread(i), helpers(l))
}

// fits compares all that is touched with the level.
func (r Run) fits(i int) string {
	first, c := r.Levels[0], r.Config.Levels[i]
	if first.Compulsory == 0 || first.Prefetches > 0 || r.Config.Levels[0].NoWriteAllocate {
		return "" // not all that is touched is known: not each line missed once, or some did again
	}
	all := first.Compulsory * uint64(r.Config.Levels[0].Line)
	text, least := size(all), ""
	if r.straddles() { // a first touch of two lines is one miss
		text, least = "at least "+text, "at least "
	}
	switch {
	case all > uint64(c.Size):
		return Say("All that is touched, %s, is %s%.1f times its size.", text, least, float64(all)/float64(c.Size))
	case least != "" && 2*all > uint64(c.Size):
		return Say("All that is touched is %s, which may fit in its %s.", text, simcache.Bytes(c.Size))
	}
	return Say("All that is touched, %s, fits in its %s.", text, simcache.Bytes(c.Size))
}

// straddles tells whether a reference may lie in two lines: those of a nest do
// not where they are whole parts of a line and their addresses multiples of their
// width. Of a trace it is not known.
func (r Run) straddles() bool {
	line := r.Config.Levels[0].Line
	if r.program != nil {
		return straddle(r.program.operands, line)
	}
	for _, n := range r.Nests {
		if straddle(n.Operands, line) {
			return true
		}
	}
	return len(r.Nests) == 0
}

// straddle tells whether an operand may lie in two lines.
func straddle(operands []nest.Operand, line int) bool {
	for _, op := range operands {
		if line%op.Width != 0 || op.Base%uint64(op.Width) != 0 || slices.ContainsFunc(op.Strides, func(s int) bool { return s%op.Width != 0 }) {
			return true
		}
	}
	return false
}

// causes splits the misses into the three classes.
func (r Run) causes(i int) string {
	l, c := r.Levels[i], r.Config.Levels[i]
	if r.Config.Observe&simcache.Classes == 0 {
		return ""
	}
	total := l.Misses()
	lines := c.Sets() * c.Ways
	var parts []string
	touch := "the first touch of a line"
	if r.storesPass(i) {
		touch = "of lines that no reference had brought in"
	}
	if l.Compulsory == total {
		return Say("All are compulsory, %s.", touch)
	}
	if l.Compulsory > 0 {
		parts = append(parts, Say("%d are compulsory (%s)", l.Compulsory, touch))
	}
	if l.Capacity > 0 {
		parts = append(parts, Say("%d are for want of capacity (%d lines in all are too few, however they are placed)", l.Capacity, lines))
	}
	switch {
	case l.Conflict > 0 && c.Sets() == 1:
		parts = append(parts, Say("%d are conflicts (%d lines under LRU would do)", l.Conflict, lines))
	case l.Conflict > 0:
		parts = append(parts, Say("%d are conflicts (%d lines would do, were they not bound to sets)", l.Conflict, lines))
	}
	return "Of these, " + List(parts) + "."
}

// storesPass reports whether stores that miss a level may bring nothing in, so that
// the same line is compulsory more than once.
func (r Run) storesPass(level int) bool {
	passes := slices.ContainsFunc(r.Config.Levels[:level], func(l simcache.Level) bool { return l.NoWriteAllocate || l.WriteThrough })
	return r.Config.Levels[level].NoWriteAllocate || passes && r.Config.Levels[level].Inclusion == simcache.Exclusive
}

// used says what part of the lines brought in was touched.
func (r Run) used(i int) string {
	l, line := r.Levels[i], r.Config.Levels[i].Line
	switch {
	case l.BytesFilled == 0 || r.Config.Levels[i].Inclusion == simcache.Exclusive: // which gives lines up when they are wanted
		return ""
	case l.BytesUsed == l.BytesFilled && i > 0:
		return ""
	case l.BytesUsed == l.BytesFilled:
		return "Every byte of the lines it fetched was used."
	}
	came := "fetched"
	if l.BytesIn > 0 && l.BytesIn != l.BytesFilled { // lines also come as write-backs of the level before
		came = "brought in"
	}
	return Say("While a line is in it, %.1f of its %d B are used on average: of %s %s, the program touches %s.",
		l.UsedPart()*float64(line), line, size(l.BytesFilled), came, size(l.BytesUsed))
}

// spread tells of misses that crowd in few sets. Even ones are not worth a word.
func (r Run) spread(i int) string {
	s, ok := r.Levels[i].Spread()
	if !ok || s.Uneven < 1.5 || r.Levels[i].Misses() < uint64(4*s.Sets) {
		return ""
	}
	var busiest []string
	for _, b := range s.Busiest {
		busiest = append(busiest, fmt.Sprint(b.Set))
	}
	if s.Missed < s.Sets {
		return Say("The misses fall on %d of the %d sets (set %s first), the busiest taking %.1f times the mean.",
			s.Missed, s.Sets, busiest[0], s.Uneven)
	}
	return Say("The misses are uneven: the busiest sets (%s) take up to %.1f times the mean.", List(busiest), s.Uneven)
}

// helpers tells of the victim cache and the prefetcher.
func helpers(l simcache.LevelCounts) string {
	var text []string
	if l.VictimHits > 0 {
		text = append(text, Say("Its victim cache saved %d more from missing.", l.VictimHits))
	}
	if l.Prefetches > 0 {
		text = append(text, Say("It prefetched %d lines: %d were used, %d were evicted before they were.", l.Prefetches, l.Useful, l.Useless))
	}
	return sentences(text...)
}

// memory compares what the program touches with what memory moves.
func (r Run) memory() string {
	last, level := r.Levels[len(r.Levels)-1], r.Config.Levels[len(r.Levels)-1]
	given, ok := r.given()
	if !ok || given+last.BytesOut == 0 {
		return ""
	}
	moved := "memory gives " + size(given)
	if r.Config.WriteBacks && (last.BytesOut > 0 || r.dirty()) {
		moved += " and takes back " + size(last.BytesOut)
	}
	text := strings.ToUpper(moved[:1]) + moved[1:] + "."
	if touched := r.touched(); touched > 0 {
		share := fmt.Sprintf("%.2f", float64(given+last.BytesOut)/float64(touched))
		if share == "0.00" {
			share = "less than 0.01"
		}
		text = Say("The program touches %s in all its references; %s (%s times as much).", size(touched), moved, share)
	}
	if last.WriteMisses > 0 && !r.Config.Levels[0].NoWriteAllocate {
		text += Say(" Of what it gives, up to %s is fetched only to be overwritten (write-allocate); stores that bypass the caches would save it.",
			size(min(last.WriteMisses*uint64(level.Line), given)))
	}
	switch {
	case r.dirty() && r.Config.WriteBacks:
		text += " What is still dirty in the caches at the end is not counted."
	case r.dirty():
		text += " What it takes back is counted with --writebacks alone."
	}
	return text
}

// given is the bytes that memory gives, if they are known: those that come into
// the last level. What an exclusive one misses goes past it to the level before,
// a line for each miss unless it was prefetched, lay in two lines, or was a store
// that was passed on and brings nothing.
func (r Run) given() (bytes uint64, ok bool) {
	last, level := r.Levels[len(r.Levels)-1], r.Config.Levels[len(r.Levels)-1]
	switch {
	case level.Inclusion == simcache.Exclusive:
		prefetches := slices.ContainsFunc(r.Levels, func(l simcache.LevelCounts) bool { return l.Prefetches > 0 })
		passes := slices.ContainsFunc(r.Config.Levels, func(l simcache.Level) bool { return l.NoWriteAllocate || l.WriteThrough })
		return last.Misses() * uint64(level.Line), !prefetches && !passes && !r.straddles()
	case r.Config.WriteBacks:
		return last.BytesIn, true
	}
	return last.BytesFilled, r.Config.Observe&simcache.UsedBytes != 0
}

// touched is the bytes that the program reads and writes, 0 if unknown.
func (r Run) touched() (bytes uint64) {
	for _, n := range r.Nests {
		for _, op := range n.Operands {
			bytes += uint64(r.Passes) * uint64(n.Iterations()) * uint64(op.Width)
		}
	}
	if r.program != nil {
		for op, c := range r.program.counts {
			bytes += c.Refs() * uint64(r.program.operands[op].Width)
		}
	}
	return bytes
}

// dirty reports whether anything was written; updates of a trace, which count as
// reads, are not known.
func (r Run) dirty() bool {
	for _, n := range r.Nests {
		if n.Iterations() > 0 && slices.ContainsFunc(n.Operands, func(op nest.Operand) bool { return op.Kind != nest.Read }) {
			return true
		}
	}
	return slices.ContainsFunc(r.Tensors, func(l simcache.Line) bool { return l.Counts.Dw > 0 })
}
