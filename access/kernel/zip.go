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
	few := func(rows Loop) bool { return 1 < rows.N && rows.N <= mostZipped }
	zips := few(to) && from.To == to.N*p.size && from.N >= side
	unzips := few(from) && to.From == from.N*p.size && to.N >= side
	if !p.set.amd64 || p.size > lane/2 || to.To != p.size || from.From != p.size ||
		!zips && !unzips {
		return false
	}
	rows, along := from, to
	if zips {
		rows, along = to, from
	}
	n, groups := rows.N, along.N/side
	loop, pitch, apart := Loop{groups, line, n * line}, rows.To, rows.To
	body, masks := unzipBody(n, pitch), unzipMasks(p.size, n)
	if zips {
		loop, pitch, apart = Loop{groups, n * line, line}, rows.From, 0
		body, masks = zipBody(n, pitch), zipMasks(p.size, n)
	}
	p.Steps = append(p.Steps, Step{Loops: append(slices.Clone(outer), loop), Body: body, in: 1,
		past: func(s *Step, to uintptr) bool { // as runs, since input and output are a few
			return p.written() >= p.set.Tuning().Runs && s.aligned(to, apart)
		},
		run: func(s *Step, dst, src []byte, to, from int) {
			f := p.set.functions()
			move := f.unzip
			if zips {
				move = f.zip
			}
			move(&dst[to], &src[from], &masks[0], groups, pitch, n, s.stores(&dst[to]))
		}})
	if start := groups * side; start < along.N {
		along.N -= start
		rest := []Loop{rows, along}
		if zips {
			rest = []Loop{along, rows}
		}
		p.elements(start*along.To, start*along.From, slices.Concat(outer, rest))
	}
	return true
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
func unzipBody(n, pitch int) (all []Access) {
	for half := range 2 {
		for part := range n {
			for i := range 2 {
				all = append(all, Access{Offset: ((2*half+i)*n + part) * lane, Width: lane})
			}
		}
	}
	for row := range n {
		for half := range 2 {
			all = append(all, Access{Write: true, Offset: row*pitch + half*line/2,
				Width: line / 2})
		}
	}
	return all
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
