package simcache

import (
	"fmt"
	"strings"
)

// Summary writes the counts as the D and LL lines of Cachegrind's own summary
// (cachegrind/cg_main.c, cg_fini), with its widths, commas and rounding: a rate
// is rounded up only where more than half of a tenth is left over, so that
// 18.75 is printed as 18.7. Without instructions, LL's references are D1's
// misses and its miss rate is that of the data references.
func (c Counts) Summary() string {
	total := len(commas(c.Refs()))
	reads, writes := len(commas(c.Dr)), len(commas(c.Dw))
	var b strings.Builder
	counts := func(label string, r, w uint64) {
		fmt.Fprintf(&b, "%s %*s  (%*s rd   + %*s wr)\n", label, total, commas(r+w), reads, commas(r), writes, commas(w))
	}
	rates := func(label string, r, w uint64) {
		fmt.Fprintf(&b, "%s %*s%% (%*s%%     + %*s%%  )\n", label,
			total, percent(r+w, c.Refs()), reads, percent(r, c.Dr), writes, percent(w, c.Dw))
	}
	counts("D   refs:     ", c.Dr, c.Dw)
	counts("D1  misses:   ", c.D1mr, c.D1mw)
	counts("LLd misses:   ", c.DLmr, c.DLmw)
	rates("D1  miss rate:", c.D1mr, c.D1mw)
	rates("LLd miss rate:", c.DLmr, c.DLmw)
	b.WriteByte('\n')
	counts("LL refs:      ", c.D1mr, c.D1mw)
	counts("LL misses:    ", c.DLmr, c.DLmw)
	rates("LL miss rate: ", c.DLmr, c.DLmw)
	return b.String()
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

// percent writes part of whole in percent with one decimal. A whole of 0 counts
// as 1, as in Cachegrind.
func percent(part, whole uint64) string {
	whole = max(whole, 1)
	tenths := part / whole * 1000
	rest := part % whole * 1000
	tenths += rest / whole
	if left := rest % whole; left > whole-left {
		tenths++
	}
	return fmt.Sprintf("%d.%d", tenths/10, tenths%10)
}
