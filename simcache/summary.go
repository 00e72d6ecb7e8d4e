package simcache

import (
	"fmt"
	"math/bits"
	"strings"
)

// String is a line of the counts by Cachegrind's names: "Dr=16 D1mr=3 DLmr=1 Dw=0
// D1mw=0 DLmw=0". Those of instructions come first, if any was fetched.
func (c Counts) String() string {
	data := fmt.Sprintf("Dr=%d D1mr=%d DLmr=%d Dw=%d D1mw=%d DLmw=%d", c.Dr, c.D1mr, c.DLmr, c.Dw,
		c.D1mw, c.DLmw)
	if c.Ir == 0 {
		return data
	}
	return fmt.Sprintf("Ir=%d I1mr=%d ILmr=%d %s", c.Ir, c.I1mr, c.ILmr, data)
}

// Summary writes the counts as Cachegrind prints them at the end of a run
// (cachegrind/cg_main.c, cg_fini), without the "==pid== " before each line. A
// rate is rounded up only where more than half of its last digit is left over,
// so that 18.75 is printed as 18.7, and a denominator of 0 counts as 1.
func (c Counts) Summary() string {
	s := columns{total: len(commas(c.Ir)), read: len(commas(c.Dr)), write: len(commas(c.Dw))}
	s.one("I   refs:     ", c.Ir)
	s.one("I1  misses:   ", c.I1mr)
	s.one("LLi misses:   ", c.ILmr)
	s.line("I1  miss rate: %*s%%\n", s.total, percent(c.I1mr, c.Ir, 2))
	s.line("LLi miss rate: %*s%%\n", s.total, percent(c.ILmr, c.Ir, 2))
	s.line("\n")
	s.data(c)
	s.counts("LL refs:      ", c.I1mr+c.D1mr, c.D1mw)
	s.counts("LL misses:    ", c.ILmr+c.DLmr, c.DLmw)
	// Of all references; Cachegrind has patched denominators of 0 by now, and
	// a patched sum is not the sum of the patched.
	ir, dr, dw, d := max(c.Ir, 1), max(c.Dr, 1), max(c.Dw, 1), max(c.Dr+c.Dw, 1)
	s.rates("LL miss rate: ", [3]uint64{c.ILmr + c.LLMisses(), c.ILmr + c.DLmr, c.DLmw},
		[3]uint64{ir + d, ir + dr, dw})
	return s.String()
}

// DataSummary is the part of Summary that is about data, for a walk without
// instructions: LL's references are D1's misses, its miss rate that of the data
// references.
func (c Counts) DataSummary() string {
	s := columns{total: len(commas(c.Refs())), read: len(commas(c.Dr)), write: len(commas(c.Dw))}
	s.data(c)
	s.counts("LL refs:      ", c.D1mr, c.D1mw)
	s.counts("LL misses:    ", c.DLmr, c.DLmw)
	s.rates("LL miss rate: ", [3]uint64{c.LLMisses(), c.DLmr, c.DLmw},
		[3]uint64{c.Refs(), c.Dr, c.Dw})
	return s.String()
}

// columns writes lines whose three columns, total, read and write, have the
// widths of the largest counts in them.
type columns struct {
	strings.Builder
	total, read, write int
}

func (s *columns) line(format string, args ...any) { fmt.Fprintf(s, format, args...) }

func (s *columns) one(label string, n uint64) { s.line("%s %*s\n", label, s.total, commas(n)) }

func (s *columns) counts(label string, read, write uint64) {
	s.line("%s %*s  (%*s rd   + %*s wr)\n", label, s.total, commas(read+write), s.read,
		commas(read), s.write, commas(write))
}

// rates writes parts of wholes in percent, for total, read and write.
func (s *columns) rates(label string, part, whole [3]uint64) {
	s.line("%s %*s%% (%*s%%     + %*s%%  )\n", label, s.total, percent(part[0], whole[0], 1),
		s.read, percent(part[1], whole[1], 1), s.write, percent(part[2], whole[2], 1))
}

// data writes the D lines and the blank line after them.
func (s *columns) data(c Counts) {
	refs := [3]uint64{c.Refs(), c.Dr, c.Dw}
	s.counts("D   refs:     ", c.Dr, c.Dw)
	s.counts("D1  misses:   ", c.D1mr, c.D1mw)
	s.counts("LLd misses:   ", c.DLmr, c.DLmw)
	s.rates("D1  miss rate:", [3]uint64{c.D1Misses(), c.D1mr, c.D1mw}, refs)
	s.rates("LLd miss rate:", [3]uint64{c.LLMisses(), c.DLmr, c.DLmw}, refs)
	s.line("\n")
}

// commas writes a count with a comma before every three digits.
func commas(n uint64) string {
	digits := fmt.Sprint(n)
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}

// percent writes part of whole in percent with 1 or 2 decimals.
func percent(part, whole uint64, decimals int) string {
	whole = max(whole, 1)
	unit := uint64(10) // parts of a percent
	if decimals == 2 {
		unit = 100
	}
	high, low := bits.Mul64(part%whole, 100*unit) // 64 bits hold no such product of large counts
	n, left := bits.Div64(high, low, whole)
	n += part / whole * 100 * unit
	if left > whole-left {
		n++
	}
	return fmt.Sprintf("%d.%0*d", n/unit, decimals, n%unit)
}
