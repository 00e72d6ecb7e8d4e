package kernel

import (
	"slices"
	"unsafe"
)

const (
	// mostZipped is the most rows that are interleaved in registers, as the channels
	// of images are: two registers for each row are all that there are.
	mostZipped = 7
	// lane is what shuffles of bytes reach, half of a vector.
	lane = line / 4
	// picked is how many lines are read at a time where rows take turns, so that a first-level
	// cache holds them, and leastPicked how many a row must have.
	picked, leastPicked = 384, 32
)

// A zipper interleaves rows that lie pitch bytes apart, or takes apart what it then
// writes to such rows: a line of each of them a group, by masks.
type zipper = func(dst, src, masks *byte, groups, pitch int)

// A picker takes one row out of what is read, by its masks, a line a group, and asks for
// a line with each.
type picker = func(dst, src, masks *byte, groups int, asked uintptr)

// zipped plans a copy that interleaves a few rows or takes them apart, and tells
// whether it did: where these are all that lies side by side along one loop, and
// follow each other along the other one. What is no whole line of a row comes last.
func (p *Plan) zipped(outer []Loop, to, from Loop) bool {
	side := line / p.size
	// rest copies what is no whole line of rows, the elements of the loop along.
	rest := func(along *Loop) bool {
		start := along.N / side * side
		if along.N -= start; along.N > 0 {
			p.elements(start*along.To, start*along.From, append(slices.Clone(outer), from, to))
		}
		return true
	}
	switch {
	case !p.set.zips || p.size > lane/2 || to.To != p.size || from.From != p.size:
	case 1 < to.N && to.N <= mostZipped && from.To == to.N*p.size && from.N >= side:
		p.zip(outer, to, from)
		return rest(&from)
	case 1 < from.N && from.N <= mostZipped && to.From == from.N*p.size && to.N >= side:
		if lines := to.N / side; p.written() >= longFrom && lines >= leastPicked && !p.set.spares {
			p.picks(outer, from, lines)
		} else {
			p.unzip(outer, to, from)
		}
		return rest(&to)
	}
	return false
}

// zip reads to.N rows, and writes one.
func (p *Plan) zip(outer []Loop, to, from Loop) {
	n := to.N
	s := Step{Loops: append(slices.Clone(outer), Loop{from.N * p.size / line, n * line, line}),
		Body: zipBody(n, to.From)}
	p.zipStep(s, zipMasks(p.size, n), to.From, 0, func(f *functions) (zip, stream zipper) {
		return f.zip[n], f.zipStream[n]
	})
}

// unzip reads one row, and writes from.N rows.
func (p *Plan) unzip(outer []Loop, to, from Loop) {
	n := from.N
	s := Step{Loops: append(slices.Clone(outer), Loop{to.N * p.size / line, line, n * line}),
		Body: unzipBody(n, from.To)}
	p.zipStep(s, unzipMasks(p.size, n), from.To, from.To,
		func(f *functions) (unzip, stream zipper) {
			return f.unzip[n], f.unzipStream[n]
		})
}

// picks reads one row a few lines at a time, once for each of from.N rows, of which it
// writes so many lines one after the other, those of the next row then: memory takes lines
// side by side sooner than those of several rows by turns.
func (p *Plan) picks(outer []Loop, from Loop, lines int) {
	n := from.N
	masks := unzipMasks(p.size, n)
	for at := 0; at < lines; {
		groups := min(picked/n, lines-at)
		parts := (lines - at) / groups
		s := Step{
			Loops: append(slices.Clone(outer), Loop{parts, groups * line, n * groups * line},
				Loop{n, from.To, 0}, Loop{groups, line, n * line}),
			To: at * line, From: at * n * line, Body: pickBody(n), picked: n,
		}
		s.in, s.past = 2, p.zipPast(from.To)
		s.run = func(s *Step, dst, src []byte, to, of int) {
			pick := p.set.functions().pick[n]
			if s.past(s, uintptr(unsafe.Pointer(&dst[to]))) {
				pick = p.set.functions().pickStream[n]
			}
			asked := uintptr(unsafe.Pointer(&src[of])) + uintptr(n*groups*line) // what is read next
			for row := range n {
				pick(&dst[to+row*from.To], &src[of], &masks[row*n*2*lane], groups,
					asked+uintptr(row*groups*line))
			}
		}
		p.Steps = append(p.Steps, s)
		at += parts * groups
	}
}

// zipBody is what a group of n rows touches: half a line of each is read and becomes
// as many halves that are written, and then the others.
func zipBody(n, pitch int) (all []Access) {
	for half := range 2 {
		for row := range n {
			all = append(all, Access{Offset: row*pitch + half*line/2, Width: line / 2})
		}
		for part := range n {
			all = append(all, Access{Write: true, Offset: (half*n + part) * line / 2,
				Width: line / 2})
		}
	}
	return all
}

// unzipBody is the reverse: n lines are read in lanes, of which n make one of each
// row, two of them by turns since they make half a line; then each row's line is
// written.
func unzipBody(n, pitch int) []Access {
	all := lanesBody(n)
	for row := range n {
		all = append(all, lineBody(row*pitch)...)
	}
	return all
}

// pickBody is what a group of one of n rows touches.
func pickBody(n int) []Access { return append(lanesBody(n), lineBody(0)...) }

// lanesBody are n lines that are read in lanes.
func lanesBody(n int) (all []Access) {
	for half := range 2 {
		for part := range n {
			for i := range 2 {
				all = append(all, Access{Offset: ((2*half+i)*n + part) * lane, Width: lane})
			}
		}
	}
	return all
}

// lineBody is a line that is written in halves.
func lineBody(at int) []Access {
	return []Access{{Write: true, Offset: at, Width: line / 2},
		{Write: true, Offset: at + line/2, Width: line / 2}}
}

// zipStep adds a step of groups, which are the last of its loops. Rows lie pitch bytes
// apart, and those that are written apart bytes.
func (p *Plan) zipStep(s Step, masks []byte, pitch, apart int,
	functions func(f *functions) (zip, stream zipper)) {
	s.in, s.past = 1, p.zipPast(apart)
	s.run = func(s *Step, dst, src []byte, to, from int) {
		move, stream := functions(p.set.functions())
		if s.past(s, uintptr(unsafe.Pointer(&dst[to]))) {
			move = stream
		}
		move(&dst[to], &src[from], &masks[0], s.Loops[len(s.Loops)-1].N, pitch)
	}
	p.Steps = append(p.Steps, s)
}

// zipPast is Step.past of rows that are written so many bytes apart: they go past the
// caches as runs do, since what is read and written are a few of these.
func (p *Plan) zipPast(apart int) func(s *Step, to uintptr) bool {
	return func(s *Step, to uintptr) bool {
		return p.written() >= p.set.Tuning().Runs && s.aligned(to, apart)
	}
}

// zipMasks say for each of the n lanes that n rows' become where its bytes are in
// each of these, twice, for both halves of a vector.
func zipMasks(size, n int) []byte {
	return masks(n, func(made, of, at int) (int, bool) {
		element, within := (made*lane+at)/size, at%size
		return element/n*size + within, element%n == of
	})
}

// unzipMasks say so of each row's lane that n lanes become.
func unzipMasks(size, n int) []byte {
	return masks(n, func(made, of, at int) (int, bool) {
		from := (at/size*n+made)*size + at%size
		return from % lane, from/lane == of
	})
}

// masks for shuffles of bytes: where tells for a byte of each lane that is made where
// it is in another one, if it is in that.
func masks(n int, where func(made, of, at int) (int, bool)) (all []byte) {
	for made := range n {
		for of := range n {
			for at := range 2 * lane {
				from, in := where(made, of, at%lane)
				if !in {
					from = 0x80 // which makes a 0
				}
				all = append(all, byte(from))
			}
		}
	}
	return all
}
