package compiled

import (
	"slices"

	"github.com/stridebench/stridebench/layouts/nest"
)

const (
	rangeWidth = 16  // bytes of each access of a range, such as a memset's
	smallRange = 256 // bytes up to which compilers copy by single moves, from the start
	ofLibrary  = 4   // bit of a kind: memset, memcpy or memmove makes the access
)

type byteRange struct {
	place       int
	addr, bytes uint64
	kind        nest.Kind
	library     bool // by memset, memcpy or memmove

	next   uint64 // the first byte not accessed yet
	source int
	within placed // the addresses of source's object
}

// hold keeps a range until the next one shows whether it belongs to it.
func (d *decoder) hold(r byteRange) {
	if len(d.ranges) > 0 && r.bytes != d.ranges[0].bytes || len(d.ranges) == 4 {
		d.release()
	}
	r.next = r.addr
	d.ranges = append(d.ranges, r)
}

// release turns the held ranges into accesses. A read and a written range are a copy and advance
// together. A library's range is dropped if the compiler reported it before the call.
func (d *decoder) release() {
	held := d.ranges
	for len(held) > 0 {
		n := 1
		if len(held) > 1 && held[0].kind != held[1].kind && held[0].library == held[1].library {
			n = 2
			if held[0].kind != nest.Read {
				held[0], held[1] = held[1], held[0]
			}
		}
		d.walk(held[:n])
		told := held[:n]
		for held = held[n:]; len(held) > 0 && held[0].isToldBy(told); {
			held = held[1:]
		}
	}
	d.ranges, d.special = d.ranges[:0], false
}

func (r byteRange) isToldBy(told []byteRange) bool {
	return r.library && slices.ContainsFunc(told, func(t byteRange) bool {
		return !t.library && t.kind == r.kind && t.addr == r.addr
	})
}

// walk alternates between ranges, the first one first.
func (d *decoder) walk(ranges []byteRange) {
	for more := true; more; {
		more = false
		for i := range ranges {
			more = d.step(&ranges[i]) || more
		}
	}
}

func (d *decoder) step(r *byteRange) bool {
	end := r.addr + r.bytes
	if r.next == end {
		return false
	}
	if r.next-r.within.from >= r.within.size {
		r.source, r.within = d.source(&d.places[r.place], r.next, r.kind)
	}
	to := r.next + rangeWidth
	if r.bytes > smallRange {
		to &^= rangeWidth - 1
	}
	to = min(to, end)
	if r.source >= 0 {
		d.access(r.source, r.next+r.within.move, int(to-r.next))
	}
	r.next = to
	return true
}
