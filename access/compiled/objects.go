package compiled

import (
	"fmt"
	"path/filepath"
	"slices"
	"sort"
)

type span struct{ from, size uint64 }

func (s span) end() uint64 { return s.from + s.size }

// objects maps addresses to variables, allocations, and the stack. Allocations of one line are one
// object.
type objects struct {
	names   []string
	number  map[string]int
	large   []placed // sorted by address, without overlap
	small   map[uint64]*page
	stack   span
	changed uint64 // number of allocations
}

type placed struct {
	span
	object int
	move   uint64 // added to its addresses, modulo 2^64
	hidden bool   // its accesses are not reported
}

// A page has the objects of its granules of 16 B, malloc's alignment, from 1; 0 is none.
type page [pageSize / granule]int32

const (
	pageSize = 4096
	granule  = 16
	large    = 64 << 10 // bytes of the smallest large allocation
)

// elsewhere is the object of addresses of no known object.
const elsewhere = "other memory"

func newObjects(stack uint64) *objects {
	o := &objects{number: map[string]int{}, small: map[uint64]*page{}}
	const most = 100 << 20 // libraries begin 128 MiB below the stack's end
	o.stack = span{stack - most, most + 1<<20}
	return o
}

func (o *objects) named(name string) int {
	n, known := o.number[name]
	if !known {
		n = len(o.names)
		o.names, o.number[name] = append(o.names, name), n
	}
	return n
}

func (o *objects) allocate(addr, size uint64, by Place) {
	name := "heap"
	if by.File != "" {
		name = fmt.Sprintf("heap of %s:%d", filepath.Base(by.File), by.Line)
	}
	o.changed++
	object := o.named(name)
	if size >= large {
		o.put(placed{span: span{addr, size}, object: object})
		return
	}
	o.clear(span{addr, size})
	for at := addr &^ (granule - 1); at < addr+size; at += granule {
		p := o.small[at/pageSize]
		if p == nil {
			p = new(page)
			o.small[at/pageSize] = p
		}
		p[at%pageSize/granule] = int32(object) + 1
	}
}

func (o *objects) search(addr uint64) int {
	return sort.Search(len(o.large), func(i int) bool { return o.large[i].end() > addr })
}

func (o *objects) clear(s span) (at int) {
	from := o.search(s.from)
	to := from
	for to < len(o.large) && o.large[to].from < s.end() {
		to++
	}
	o.large = slices.Delete(o.large, from, to)
	return from
}

func (o *objects) put(p placed) { o.large = slices.Insert(o.large, o.clear(p.span), p) }

// find returns the object at an address, with other addresses of it.
func (o *objects) find(addr uint64) placed {
	if i := o.search(addr); i < len(o.large) && o.large[i].from <= addr {
		return o.large[i]
	}
	if addr-o.stack.from < o.stack.size {
		return placed{span: o.stack, object: o.named("stack")}
	}
	within := span{addr &^ (granule - 1), granule}
	if p := o.small[addr/pageSize]; p != nil && p[addr%pageSize/granule] != 0 {
		return placed{span: within, object: int(p[addr%pageSize/granule]) - 1}
	}
	return placed{span: within, object: o.named(elsewhere)}
}
