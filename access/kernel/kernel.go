// Package kernel moves bytes at the speed of the memory: sums, fills and copies
// of runs, and transposed copies, in vectors of AVX2, AVX-512 or NEON where the
// CPU has them and in plain Go elsewhere. Whatever the set of kernels, the result
// is the same on every input, of floating-point sums to the last bit.
//
// The assembly of amd64 is written by internal/gen (make generate), that of arm64
// by hand.
package kernel

import (
	"fmt"
	"slices"
	"strings"
	"unsafe"
)

// line is the cache line that tiles are wide, and the least that the vector
// kernels move: rows are cut into whole lines, and what is left is moved
// element by element, after all rows.
const line = 64

// A Set is one implementation of all kernels. What it plans is the same on every
// CPU; it runs where the CPU has its instructions.
type Set struct {
	name   string
	width  int          // bytes of a vector; 0 for an element
	tiles  map[int]tile // that it transposes in registers, by the bytes of an element
	pairs  []int        // bytes of the elements of which it transposes two tiles together
	blocks []int        // bytes of the elements that it moves in blocks
	// by which it transposes what goes by panels, by the bytes of an element
	panels map[int]smallTile
	spares bool // panels, where tiles are close
	like   *Set // what it is but for more blocks and panels, or nil

	halves  bool       // it adds up floats of 16 bits
	streams bool       // it has stores past the caches
	zips    bool       // it interleaves rows in registers
	run     *functions // nil where this CPU does not run it
	tuning  *Tuning    // nil for Default
}

// A tile says how one is transposed in registers: high rows are read at a time,
// part bytes of each, and become columns of so many elements.
type tile struct{ part, high int }

// functions are the vector kernels, nil where there are none. Pitches and steps
// are in bytes, groups are lines. What streams writes past the caches. Those of
// tiles and blocks are by the bytes of an element.
type functions struct {
	add                        adders[adder]
	addAsk                     adders[asker]
	fill                       func(dst *byte, value uint64, groups, rows, pitch int)
	copy, stream               func(dst, src *byte, groups, rows, dstPitch, srcPitch int)
	transpose, transposeStream map[int]transposer
	pairs, pairsStream         map[int]transposer
	block, blockStream         map[int]blockMover
	gather                     map[int]gatherer
	drain, drainStream         map[int]drainer // by the bytes of a vector
	move                       func(dst *byte, to *int, src *byte, from *int, rows, bytes int)
	zip, zipStream             map[int]zipper // by the number of rows
	unzip, unzipStream         map[int]zipper
	pick, pickStream           map[int]picker
	ask                        func(asked uintptr, lines int) // of what is next to each other
	fence                      func()                         // ends what wrote past the caches
}

// Adders add rows up, by the type of their elements.
type adders[F any] struct{ int32, float32, float64, float16, bfloat16 F }

type adder = func(lanes, x *byte, groups, rows, pitch int)

// An asker is an adder that asks for lines so many bytes ahead.
type asker = func(lanes, x *byte, groups, rows, pitch, ahead int)

// A transposer transposes n tiles, or pairs of them. It asks for lines so many tiles ahead, where
// it does so at all.
type transposer = func(dst, src *byte, n, dstPitch, srcPitch, dstStep, srcStep, ahead int)

// A gatherer transposes small tiles, so many side by side where they are read, in
// strips one below the other, of rows that begin where a list says. It asks for lines
// where asks says, which are read next.
type gatherer = func(dst, src *byte, rows *int, strips, tiles, dstPitch int,
	asked uintptr, asks *int)

// A drainer copies rows of so many groups from where one list says to where another does,
// and asks for a line a group.
type drainer = func(dst *byte, to *int, src *byte, from *int, rows, groups int,
	asked uintptr, asks *int)

// pairs are the bytes of elements of which a tile has few rows.
var pairs = []int{8, 16}

var (
	// portable runs everywhere.
	portable = &Set{name: "portable", halves: true, run: &functions{}}
	avx2     = &Set{
		name: "avx2", width: 32, halves: true, streams: true, zips: true,
		tiles: map[int]tile{1: {8, 64}, 2: {16, 32}, 4: {16, 16}, 8: {16, 8}, 16: {32, 4}},
		pairs: pairs, blocks: []int{4, 8}, panels: smallTiles, spares: true,
	}
	// avx2blocks is a set of its own, since blocks and panels change what is touched, and are
	// better than tiles on some CPUs, and worse on others, of what tiles leave little beside,
	// and of what is too long for the caches, whose rows neither collide nor are parts of lines.
	avx2blocks = &Set{
		name: "avx2-blocks", width: 32, halves: true, streams: true, zips: true,
		tiles: avx2.tiles, pairs: pairs, blocks: []int{1, 2, 4, 8}, panels: smallTiles, like: avx2,
	}
	avx512 = &Set{
		name: "avx512", width: 64, halves: true, streams: true, zips: true,
		tiles: map[int]tile{1: {16, 64}, 2: {16, 32}, 4: {64, 16}, 8: {64, 8}, 16: {64, 4}},
		pairs: pairs, panels: smallTiles, spares: true,
	}
	neon = &Set{
		name: "neon", width: 16,
		tiles: map[int]tile{1: {16, 16}, 2: {16, 8}, 4: {16, 4}, 8: {16, 2}, 16: {16, 1}},
	}
)

// All are the sets that there are, whatever this CPU runs: any of them can be
// planned with.
func All() []*Set { return []*Set{portable, avx2blocks, avx2, avx512, neon} }

// Sets are those of All that this CPU runs, the best one last; the first is
// always "portable".
func Sets() []*Set {
	return slices.DeleteFunc(All(), func(s *Set) bool { return !s.Runs() })
}

// Best is the last of Sets.
func Best() *Set { sets := Sets(); return sets[len(sets)-1] }

// Names are those of sets, in order and parted by a comma and a space.
func Names(sets []*Set) string {
	var names []string
	for _, s := range sets {
		names = append(names, s.name)
	}
	return strings.Join(names, ", ")
}

// ByName finds one of All.
func ByName(name string) (*Set, error) {
	for _, s := range All() {
		if s.name == name {
			return s, nil
		}
	}
	return nil, fmt.Errorf("no such set of kernels (there are %s)", Names(All()))
}

// Runs tells whether this CPU runs the set.
func (s *Set) Runs() bool { return s.run != nil }

// functions are what runs the set. It panics where this CPU does not.
func (s *Set) functions() *functions {
	if !s.Runs() {
		panic(fmt.Sprintf("kernel: this CPU does not run %s (it runs %s)", s.name, Names(Sets())))
	}
	return s.run
}

// Own tells whether the set copies elements of size bytes as no other one does:
// avx2-blocks is avx2 but for permutations more of which go through buffers.
func (s *Set) Own(size int) bool {
	_, panels := s.panels[size]
	return s.like == nil || panels || slices.Contains(s.blocks, size) &&
		!slices.Contains(s.like.blocks, size)
}

// Like is the set whose vectors this one uses, which is itself of all but avx2-blocks.
func (s *Set) Like() *Set {
	if s.like != nil {
		return s.like
	}
	return s
}

// Name is "portable", "avx2-blocks", "avx2", "avx512" or "neon".
func (s *Set) Name() string { return s.name }

// Halves reports whether the set has sums of floats of 16 bits.
func (s *Set) Halves() bool { return s.halves }

// Width is the bytes that one access to a run of elements of size bytes covers.
func (s *Set) Width(size int) int { return max(s.width, size) }

// Rows are runs of N elements in a slice: Count of them, the first at At, each
// Pitch elements (which may be 0 or negative) after the one before.
type Rows struct{ At, N, Count, Pitch int }

// check panics if a run leaves the slice of length n, as an index would.
func (r Rows) check(n int) {
	last := r.At + (r.Count-1)*r.Pitch
	if low, high := min(r.At, last), max(r.At, last)+r.N; r.N < 0 || r.Count < 0 || r.Count > 0 &&
		(low < 0 || high > n) {
		panic(fmt.Sprintf("kernel: %+v leaves a slice of length %d", r, n))
	}
}

// split cuts rows into whole lines of elements of size bytes, and what is left
// at the ends.
func (r Rows) split(size int) (whole, rest Rows) {
	whole, rest = r, r
	whole.N -= r.N % (line / size)
	rest.At += whole.N
	rest.N -= whole.N
	return whole, rest
}

// bytesAt points to element i.
func bytesAt[T any](x []T, i int) *byte { return (*byte)(unsafe.Pointer(&x[i])) }

// Element is a type whose size divides a vector.
type Element interface {
	~int8 | ~uint8 | ~int16 | ~uint16 | ~int32 | ~uint32 | ~int64 | ~uint64 | ~float32 | ~float64
}

// Fill writes value to the runs, N*Count elements. It panics where this CPU does
// not run the set.
func Fill[T Element](s *Set, x []T, value T, r Rows) {
	r.check(len(x))
	whole, rest := r.split(int(unsafe.Sizeof(value)))
	fill := s.functions().fill
	if fill == nil {
		whole, rest = Rows{}, r
	}
	if whole.N > 0 && whole.Count > 0 {
		var repeated [8]byte
		size := int(unsafe.Sizeof(value))
		for i := 0; i < 8; i += size {
			*(*T)(unsafe.Pointer(&repeated[i])) = value
		}
		fill(bytesAt(x, whole.At), *(*uint64)(unsafe.Pointer(&repeated)), whole.N*size/line,
			whole.Count, whole.Pitch*size)
	}
	for range rest.Count {
		run := x[rest.At:][:rest.N]
		for i := range run {
			run[i] = value
		}
		rest.At += rest.Pitch
	}
}
