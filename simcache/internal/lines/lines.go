// Package lines maps cache lines to numbers. Its memory grows with the number of lines seen, not
// with their addresses.
package lines

import (
	"math/bits"
	"slices"
)

// Page is the number of lines in a page: few, since distant lines take one page each, and enough
// for a stream's neighbours.
const Page = 16

// A Map maps a line to a number, initially 0. Pages of lines are found by open addressing; line n
// is in page n/Page + 1. The zero Map is empty.
type Map struct {
	Numbers []uint64 // Page numbers for each page, by its index
	pages   []page
	// indices in pages plus one; the length is a power of two, at most half in use; 0 is free
	table []uint64
}

type page struct {
	number uint64
	next   int // index of the page to which a stream last moved from here
}

// From returns the index of the page that a stream reaches from the page at index. A repeated step
// needs no search.
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

// A Finger is the last position of a stream in a Map.
type Finger struct {
	page  uint64 // 0 for none
	index int
}

// Along returns the permanent index in Numbers of a stream's line. A stream that repeats its steps
// hardly searches.
func (l *Map) Along(f *Finger, line uint64) int {
	if page := line/Page + 1; page != f.page {
		f.index = l.From(f.index, page)
		f.page = page
	}
	return f.index*Page + int(line%Page)
}

// Line returns the line whose number is at an index of Numbers.
func (l *Map) Line(place int) uint64 {
	return (l.pages[place/Page].number-1)*Page + uint64(place%Page)
}

// Find returns the index of a page, and adds the page if it is missing.
func (l *Map) Find(number uint64) int {
	if 2*len(l.pages) >= len(l.table) {
		l.grow()
	}
	e := l.entry(number)
	if *e == 0 {
		if len(l.pages) == cap(l.pages) { // append would grow by a quarter, and copy much
			l.pages = slices.Grow(l.pages, max(16, len(l.pages)))
			l.Numbers = slices.Grow(l.Numbers, max(16, len(l.pages))*Page)
		}
		l.pages = append(l.pages, page{number: number})
		l.Numbers = append(l.Numbers, make([]uint64, Page)...)
		*e = uint64(len(l.pages))
	}
	return int(*e - 1)
}

func (l *Map) entry(number uint64) *uint64 {
	// The upper bits of the product with 2^64 over the golden ratio spread pages at any stride
	// (Knuth, vol. 3, 6.4).
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
