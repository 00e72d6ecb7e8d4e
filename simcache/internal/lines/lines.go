// Package lines maps cache lines to numbers, in memory that grows with the lines
// seen and not with where they lie.
package lines

import (
	"math/bits"
	"slices"
)

// Page is the number of lines in a page: few enough that lines far apart cost
// little memory, enough that a stream finds its neighbours in one page.
const Page = 16

// A Map maps a line to a number, 0 at first: pages of neighbouring lines, found
// by open addressing. Line n is in page n/Page + 1. The zero Map is empty.
type Map struct {
	Numbers []uint64 // Page for each page, by its index
	pages   []page
	// indices in pages plus one, a power of two of them, at most half in use; 0 is free
	table []uint64
}

type page struct {
	number uint64
	next   int // index of the page where a stream last went from here
}

// From returns the index of a page that a stream goes to from the page at
// index. A stream that repeats its steps needs no search.
func (l *Map) From(index int, number uint64) int {
	if index < len(l.pages) {
		if next := l.pages[index].next; l.pages[next].number == number {
			return next
		}
	}
	next := l.Find(number)
	l.pages[index].next = next
	return next
}

// A Finger is where in a Map a stream was last.
type Finger struct {
	page  uint64 // 0 for nowhere
	index int
}

// Along is the place in Numbers of the number of a stream's line, for which it hardly
// searches where the stream repeats its steps. It stays there.
func (l *Map) Along(f *Finger, line uint64) int {
	if page := line/Page + 1; page != f.page {
		f.index = l.From(f.index, page)
		f.page = page
	}
	return f.index*Page + int(line%Page)
}

// Line is the line whose number has a place in Numbers.
func (l *Map) Line(place int) uint64 {
	return (l.pages[place/Page].number-1)*Page + uint64(place%Page)
}

// Find returns the index of a page, which it makes if there is none.
func (l *Map) Find(number uint64) int {
	if 2*len(l.pages) >= len(l.table) {
		l.grow()
	}
	e := l.entry(number)
	if *e == 0 {
		if len(l.pages) == cap(l.pages) { // append would grow them by a quarter, and copy much
			l.pages = slices.Grow(l.pages, max(16, len(l.pages)))
			l.Numbers = slices.Grow(l.Numbers, max(16, len(l.pages))*Page)
		}
		l.pages = append(l.pages, page{number: number})
		l.Numbers = append(l.Numbers, make([]uint64, Page)...)
		*e = uint64(len(l.pages))
	}
	return int(*e - 1)
}

// entry returns the entry of a page, or the free one where it belongs.
func (l *Map) entry(number uint64) *uint64 {
	// The upper bits of a product with 2^64 over the golden ratio spread
	// pages that lie at any stride (Knuth, vol. 3, 6.4).
	mask := uint64(len(l.table) - 1)
	i := number * 0x9E3779B97F4A7C15 >> (64 - uint(bits.Len64(mask)))
	for l.table[i] != 0 && l.pages[l.table[i]-1].number != number {
		i = (i + 1) & mask
	}
	return &l.table[i]
}

func (l *Map) grow() {
	l.table = make([]uint64, max(16, 2*len(l.table)))
	for i, p := range l.pages {
		*l.entry(p.number) = uint64(i + 1)
	}
}
