package kernel

import (
	"slices"
)

const (
	// mostZipped is the most rows that are interleaved in registers, such as channels of images.
	// Each row needs two registers.
	mostZipped = 7
	// lane is the bytes within which shuffles move bytes.
	lane = line / 4
)

// A zipper interleaves n rows that lie pitch bytes apart, or separates its input into such rows, by
// masks. A group has a line of each row.
type zipper = func(dst, src, masks *byte, groups, pitch, n, past int)

// zipped plans a copy that interleaves or separates a few rows, and reports whether it did. Only
// these rows may be adjacent along one loop, and they follow each other along the other. The rest,
// less than a line of a row, comes last.
func (p *Plan) zipped(outer []Loop, to, from Loop) bool {
	side := line / p.size
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
		p.unzip(outer, to, from)
		return rest(&to)
	}
	return false
}

func (p *Plan) zip(outer []Loop, to, from Loop) {
	n := to.N
	s := Step{Loops: append(slices.Clone(outer), Loop{from.N * p.size / line, n * line, line}),
		Body: zipBody(n, to.From)}
	p.zipStep(s, zipMasks(p.size, n), to.From, 0, n, func(f *functions) zipper { return f.zip })
}

func (p *Plan) unzip(outer []Loop, to, from Loop) {
	n := from.N
	s := Step{Loops: append(slices.Clone(outer), Loop{to.N * p.size / line, line, n * line}),
		Body: unzipBody(n, from.To)}
	p.zipStep(s, unzipMasks(p.size, n), from.To, from.To, n,
		func(f *functions) zipper { return f.unzip })
}

// zipBody is the accesses of a group of n rows: half a line of each becomes n halves, then the
// other halves follow.
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

// unzipBody is the reverse. It reads n lines in lanes; n lanes make a lane of each row. It reads
// two lanes alternately, since they make half a line, then writes each row's line.
func unzipBody(n, pitch int) []Access {
	all := lanesBody(n)
	for row := range n {
		all = append(all, lineBody(row*pitch)...)
	}
	return all
}

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

func lineBody(at int) []Access {
	return []Access{{Write: true, Offset: at, Width: line / 2},
		{Write: true, Offset: at + line/2, Width: line / 2}}
}

// zipStep adds a step whose innermost loop is groups of n rows. Written rows lie apart bytes apart.
func (p *Plan) zipStep(s Step, masks []byte, pitch, apart, n int, of func(*functions) zipper) {
	s.in, s.past = 1, p.zipPast(apart)
	s.run = func(s *Step, dst, src []byte, to, from int) {
		of(p.set.functions())(&dst[to], &src[from], &masks[0], s.Loops[len(s.Loops)-1].N, pitch, n,
			s.stores(&dst[to]))
	}
	p.Steps = append(p.Steps, s)
}

// zipPast is Step.past of rows. They bypass the caches as runs do, since input and output are a few
// runs.
func (p *Plan) zipPast(apart int) func(s *Step, to uintptr) bool {
	return func(s *Step, to uintptr) bool {
		return p.written() >= p.set.Tuning().Runs && s.aligned(to, apart)
	}
}

// zipMasks has the places of each output lane's bytes in each row's lane, twice, for both halves of
// a vector.
func zipMasks(size, n int) []byte {
	return masks(n, func(made, of, at int) (int, bool) {
		element, within := (made*lane+at)/size, at%size
		return element/n*size + within, element%n == of
	})
}

// unzipMasks has the same for each row's lane and n input lanes.
func unzipMasks(size, n int) []byte {
	return masks(n, func(made, of, at int) (int, bool) {
		from := (at/size*n+made)*size + at%size
		return from % lane, from/lane == of
	})
}

// masks makes masks for byte shuffles. Function where returns the place of byte at of lane made in
// lane of, if it is there.
func masks(n int, where func(made, of, at int) (int, bool)) (all []byte) {
	for made := range n {
		for of := range n {
			for at := range 2 * lane {
				from, in := where(made, of, at%lane)
				if !in {
					from = 0x80 // makes a 0
				}
				all = append(all, byte(from))
			}
		}
	}
	return all
}
