package explain

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/stridebench/stridebench/simcache"
)

// Summary formats the counts as Cachegrind does (cachegrind/cg_main.c, cg_fini), without the
// "==pid== " before each line. Rates round up only if more than half of the last digit is left:
// 18.75 is printed as 18.7. A denominator of 0 counts as 1.
//
// Without instructions, their lines are left out. Then LL's references are D1's misses; its miss
// rate is of the data references.
func Summary(c simcache.Counts, instructions bool) string {
	s := columns{total: len(number(c.Refs())), read: len(number(c.Dr)), write: len(number(c.Dw))}
	all := [3]uint64{c.Refs(), c.Dr, c.Dw}
	if instructions {
		s.total = len(number(c.Ir))
		// Of all references. Cachegrind has replaced denominators of 0 by now, before it adds them.
		all = [3]uint64{max(c.Ir, 1) + max(c.Refs(), 1), max(c.Ir, 1) + max(c.Dr, 1), max(c.Dw, 1)}
		s.one("I   refs:     ", c.Ir)
		s.one("I1  misses:   ", c.I1mr)
		s.one("LLi misses:   ", c.ILmr)
		s.line("I1  miss rate: %*s%%\n", s.total, percentOf(c.I1mr, c.Ir, 2))
		s.line("LLi miss rate: %*s%%\n", s.total, percentOf(c.ILmr, c.Ir, 2))
		s.line("\n")
	}
	s.data(c)
	s.counts("LL refs:      ", c.I1mr+c.D1mr, c.D1mw)
	s.counts("LL misses:    ", c.ILmr+c.DLmr, c.DLmw)
	s.rates("LL miss rate: ", [3]uint64{c.ILmr + c.LLMisses(), c.ILmr + c.DLmr, c.DLmw}, all)
	return s.String()
}

// columns are total, read and write, as wide as their largest counts.
type columns struct {
	strings.Builder
	total, read, write int
}

func (s *columns) line(format string, args ...any) { fmt.Fprintf(s, format, args...) }

func (s *columns) one(label string, n uint64) { s.line("%s %*s\n", label, s.total, number(n)) }

func (s *columns) counts(label string, read, write uint64) {
	s.line("%s %*s  (%*s rd   + %*s wr)\n", label, s.total, number(read+write), s.read,
		number(read), s.write, number(write))
}

func (s *columns) rates(label string, part, whole [3]uint64) {
	s.line("%s %*s%% (%*s%%     + %*s%%  )\n", label, s.total, percentOf(part[0], whole[0], 1),
		s.read, percentOf(part[1], whole[1], 1), s.write, percentOf(part[2], whole[2], 1))
}

func (s *columns) data(c simcache.Counts) {
	refs := [3]uint64{c.Refs(), c.Dr, c.Dw}
	s.counts("D   refs:     ", c.Dr, c.Dw)
	s.counts("D1  misses:   ", c.D1mr, c.D1mw)
	s.counts("LLd misses:   ", c.DLmr, c.DLmw)
	s.rates("D1  miss rate:", [3]uint64{c.D1Misses(), c.D1mr, c.D1mw}, refs)
	s.rates("LLd miss rate:", [3]uint64{c.LLMisses(), c.DLmr, c.DLmw}, refs)
	s.line("\n")
}

func percentOf(part, whole uint64, decimals int) string {
	whole = max(whole, 1)
	unit := uint64(10) // parts of a percent
	if decimals == 2 {
		unit = 100
	}
	high, low := bits.Mul64(part%whole, 100*unit) // the product of large counts exceeds 64 bits
	n, left := bits.Div64(high, low, whole)
	n += part / whole * 100 * unit
	if left > whole-left {
		n++
	}
	return fmt.Sprintf("%d.%0*d", n/unit, decimals, n%unit)
}

// missRate returns misses as a share of references, 0 to 1.
func missRate(l simcache.LevelCounts) float64 { return part(l.Misses(), l.Refs()) }

// usedPart returns the touched share of the bytes brought in, 0 to 1, if they are observed.
func usedPart(l simcache.LevelCounts) float64 { return part(l.BytesUsed, l.BytesFilled) }

func part(n, of uint64) float64 { return float64(n) / float64(max(of, 1)) }

// A spread is the distribution of misses over a level's sets.
type spread struct {
	Sets   int `json:"sets"`
	Missed int `json:"missed"` // sets with a miss
	// misses of the busiest set over the mean: 1 is even, Sets is all in one
	Uneven float64 `json:"uneven"`
	// up to 4 sets with more misses than the mean, the busiest first
	Busiest []busySet `json:"busiest"`
}

// A busySet is a set and the lookups that missed in it.
type busySet struct {
	Set    int    `json:"set"`
	Misses uint64 `json:"misses"`
}

// spreadOf summarizes SetMisses. ok is false without observed misses.
func spreadOf(l simcache.LevelCounts) (s spread, ok bool) {
	total := uint64(0)
	var all []busySet
	for set, misses := range l.SetMisses {
		total += misses
		if misses > 0 {
			s.Missed++
		}
		all = append(all, busySet{set, misses})
	}
	if total == 0 {
		return spread{}, false
	}
	slices.SortStableFunc(all, func(a, b busySet) int { return cmp.Compare(b.Misses, a.Misses) })
	s.Sets = len(all)
	s.Uneven = float64(all[0].Misses) * float64(s.Sets) / float64(total)
	s.Busiest = []busySet{}
	for _, b := range all[:min(len(all), 4)] {
		if b.Misses*uint64(s.Sets) > total {
			s.Busiest = append(s.Busiest, b)
		}
	}
	return s, true
}
