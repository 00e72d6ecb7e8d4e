package reuse

import (
	"math/bits"
	"slices"
)

// pageLines is the number of lines in a page: few enough that lines far apart
// cost little memory, enough that a stream finds its neighbours in one page.
const pageLines = 16

// lineTimes maps a line to the time of its last touch, 0 if there was none:
// pages of neighbouring lines, found by open addressing. Memory is that of the
// pages touched, wherever they lie. Line n is in page n/pageLines + 1.
type lineTimes struct {
	times []uint64 // pageLines for each page
	pages []page
	table []uint64 // indices in pages plus one, a power of two of them, at most half in use; 0 is free
}

type page struct {
	number uint64
	next   int // index of the page where a stream last went from here
}

// from returns the index of a page that a stream goes to from the page at
// index. A stream that repeats its steps needs no search.
func (l *lineTimes) from(index int, number uint64) int {
	if index < len(l.pages) {
		if next := l.pages[index].next; l.pages[next].number == number {
			return next
		}
	}
	next := l.find(number)
	l.pages[index].next = next
	return next
}

// find returns the index of a page, which it makes if there is none.
func (l *lineTimes) find(number uint64) int {
	if 2*len(l.pages) >= len(l.table) {
		l.grow()
	}
	e := l.entry(number)
	if *e == 0 {
		if len(l.pages) == cap(l.pages) { // append would grow them by a quarter, and copy much
			l.pages = slices.Grow(l.pages, max(16, len(l.pages)))
			l.times = slices.Grow(l.times, max(16, len(l.pages))*pageLines)
		}
		l.pages = append(l.pages, page{number: number})
		l.times = append(l.times, make([]uint64, pageLines)...)
		*e = uint64(len(l.pages))
	}
	return int(*e - 1)
}

// entry returns the entry of a page, or the free one where it belongs.
func (l *lineTimes) entry(number uint64) *uint64 {
	// The upper bits of a product with 2^64 over the golden ratio spread
	// pages that lie at any stride (Knuth, vol. 3, 6.4).
	mask := uint64(len(l.table) - 1)
	i := number * 0x9E3779B97F4A7C15 >> (64 - uint(bits.Len64(mask)))
	for l.table[i] != 0 && l.pages[l.table[i]-1].number != number {
		i = (i + 1) & mask
	}
	return &l.table[i]
}

func (l *lineTimes) grow() {
	l.table = make([]uint64, max(16, 2*len(l.table)))
	for i, p := range l.pages {
		*l.entry(p.number) = uint64(i + 1)
	}
}
