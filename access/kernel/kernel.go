// Package kernel is the program's own and promises nothing. It moves bytes at the speed of the
// memory: sums, fills and copies of runs, and transposed copies. It uses vectors of AVX2, AVX-512
// or NEON if the CPU has them, and else plain Go. Every set of kernels returns the same result on
// every input, bit for bit, also of floating-point sums.
//
// internal/gen writes the assembly of amd64 (make generate). The assembly of arm64 is written by
// hand.
package kernel

import (
	"fmt"
	"slices"
	"strings"
	"unsafe"
)

// line is the bytes of a cache line, and the least that vector kernels move. Rows are cut into
// whole lines; the rest is moved element by element, after all rows.
const line = 64

// A Set is one implementation of all kernels. Every CPU makes the same plans, but only CPUs with
// its instructions run it.
type Set struct {
	name   string
	width  int         // bytes of a vector; 0 for an element
	tiles  map[int]int // bytes of a row that tiles in registers read at a time, by an element's
	piece  int         // bytes of a column that such tiles make at a time
	blocks []int       // bytes of elements that have blocks
	like   *Set        // the set without the extra blocks, which prefers tiles to panels; or nil

	halves bool // sums 16-bit floats
	// has the other kernels of AVX2: stores past the caches, pairs of tiles, panels, and rows that
	// are interleaved in registers
	amd64  bool
	run    *functions // nil if this CPU does not run it
	tuning *Tuning    // or nil for Default
}

// functions are vector kernels, or nil. Pitches and steps are in bytes, groups are lines. Size is
// the bytes of an element. With past 1 instead of 0, stores bypass the caches.
type functions struct {
	add              adders
	fill             func(dst *byte, value uint64, groups, rows, pitch int)
	copy             func(dst, src *byte, groups, rows, dstPitch, srcPitch, past int)
	transpose, pairs transposer
	block            blockMover
	gather           gatherer
	drain            drainer
	move             func(dst *byte, to *int, src *byte, from *int, rows, bytes int)
	zip, unzip       zipper
	ask              func(asked uintptr, lines int) // prefetches adjacent lines
	fence            func()                         // ends stores past the caches
}

type adders struct{ int32, float32, float64, float16, bfloat16 adder }

// An adder prefetches lines, ahead bytes ahead, unless ahead is 0.
type adder = func(lanes, x *byte, groups, rows, pitch, ahead int)

// A transposer transposes n tiles or pairs of tiles, and prefetches the lines of a tile ahead tiles
// ahead, if at all.
type transposer = func(dst, src *byte, n, dstPitch, srcPitch, dstStep, srcStep, ahead, size,
	past int)

// A gatherer transposes strips of small tiles, which lie side by side in the input. Rows begin at
// the offsets in rows. It prefetches the next lines to read, at the offsets in asks.
type gatherer = func(dst, src *byte, rows *int, strips, tiles, dstPitch int,
	asked uintptr, asks *int, size int)

// A drainer copies rows between the offsets of two lists by vectors of 16 or 32 bytes, and
// prefetches a line with each group.
type drainer = func(dst *byte, to *int, src *byte, from *int, rows, groups int,
	asked uintptr, asks *int, vector, past int)

var (
	portable = &Set{name: "portable", halves: true, run: &functions{}}
	avx2     = &Set{name: "avx2", width: 32, halves: true, amd64: true, piece: line,
		tiles: map[int]int{1: 8, 2: 16, 4: 16, 8: 16, 16: 32}, blocks: []int{4, 8}}
	// avx2blocks is a set of its own because blocks and panels change the accesses. They are faster
	// than tiles on some CPUs and slower on others, for two kinds of copies. Tiles leave little of
	// the first kind. The second kind is too long for the caches, and its rows neither collide nor
	// end within a line.
	avx2blocks = &Set{name: "avx2-blocks", width: 32, halves: true, amd64: true, piece: line,
		tiles: avx2.tiles, blocks: []int{1, 2, 4, 8}, like: avx2}
	avx512 = &Set{name: "avx512", width: 64, halves: true, amd64: true, piece: line,
		tiles: map[int]int{1: 16, 2: 16, 4: 64, 8: 64, 16: 64}}
	neon = &Set{name: "neon", width: 16, piece: 16,
		tiles: map[int]int{1: 16, 2: 16, 4: 16, 8: 16, 16: 16}}
)

// All returns all sets. Every CPU can plan with any of them.
func All() []*Set { return []*Set{portable, avx2blocks, avx2, avx512, neon} }

// Sets returns the sets that this CPU runs, from "portable" to the best one.
func Sets() []*Set {
	return slices.DeleteFunc(All(), func(s *Set) bool { return !s.Runs() })
}

// Best returns the last of Sets.
func Best() *Set { sets := Sets(); return sets[len(sets)-1] }

// Names joins the names of sets by ", ".
func Names(sets []*Set) string {
	var names []string
	for _, s := range sets {
		names = append(names, s.name)
	}
	return strings.Join(names, ", ")
}

// ByName returns the set of a name, or an error that lists the names.
func ByName(name string) (*Set, error) {
	for _, s := range All() {
		if s.name == name {
			return s, nil
		}
	}
	return nil, fmt.Errorf("no such set of kernels (there are %s)", Names(All()))
}

// Runs reports whether this CPU runs the set.
func (s *Set) Runs() bool { return s.run != nil }

// functions panics if this CPU does not run the set.
func (s *Set) functions() *functions {
	if !s.Runs() {
		panic(fmt.Sprintf("kernel: this CPU does not run %s (it runs %s)", s.name, Names(Sets())))
	}
	return s.run
}

// Own reports whether the set copies elements of size bytes as no other set does. Only avx2-blocks
// is like another set, avx2, for some sizes.
func (s *Set) Own(size int) bool {
	_, panels := smallTiles[size]
	return s.like == nil || panels
}

// Like returns the set whose vectors this one uses: avx2 for avx2-blocks, else the set itself.
func (s *Set) Like() *Set {
	if s.like != nil {
		return s.like
	}
	return s
}

// Name returns "portable", "avx2-blocks", "avx2", "avx512" or "neon".
func (s *Set) Name() string { return s.name }

// Halves reports whether the set has sums of 16-bit floats.
func (s *Set) Halves() bool { return s.halves }

// Width returns the bytes of one access to a run of elements of size bytes.
func (s *Set) Width(size int) int { return max(s.width, size) }

// Rows are Count runs of N elements in a slice. The first is at At, and each further one Pitch
// elements after the previous one. Pitch may be 0 or negative.
type Rows struct{ At, N, Count, Pitch int }

// check panics if a run leaves a slice of length n.
func (r Rows) check(n int) {
	last := r.At + (r.Count-1)*r.Pitch
	if low, high := min(r.At, last), max(r.At, last)+r.N; r.N < 0 || r.Count < 0 || r.Count > 0 &&
		(low < 0 || high > n) {
		panic(fmt.Sprintf("kernel: %+v leaves a slice of length %d", r, n))
	}
}

func (r Rows) split(size int) (whole, rest Rows) {
	whole, rest = r, r
	whole.N -= r.N % (line / size)
	rest.At += whole.N
	rest.N -= whole.N
	return whole, rest
}

func bytesAt[T any](x []T, i int) *byte { return (*byte)(unsafe.Pointer(&x[i])) }

// Element is a type whose size divides a vector.
type Element interface {
	~int8 | ~uint8 | ~int16 | ~uint16 | ~int32 | ~uint32 | ~int64 | ~uint64 | ~float32 | ~float64
}

// Fill writes value to N*Count elements. It panics if this CPU does not run the set.
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
