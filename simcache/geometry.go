// Package simcache simulates data caches as Cachegrind does, with equal counts: set-associative,
// LRU, write-allocate, with a first level (D1) and a last level (LL) that sees the misses of D1. It
// also simulates any number of levels, other policies, inclusion, a TLB and prefetchers ([Config]).
//
// The rules come from Valgrind's cachegrind/cg_sim.c; its manual describes them under "Cache
// Simulation Specifics". This package knows nothing of tensors or time.
//
// A simulation takes four steps, which example_test.go shows:
//
//  1. A [Config] says what to simulate: levels ([TwoLevels] are Cachegrind's), a
//     TLB, and what to observe. Package cpu returns the Config of this CPU, package
//     machines Configs of files and of real machines.
//  2. [NewHierarchy] makes these caches. They start cold.
//  3. A [Hierarchy] takes single accesses ([Hierarchy.Access]), complete nests of
//     loops ([Hierarchy.Run]), or a trace (package trace).
//     [SteadyPass] simulates a pass of the steady state.
//  4. [Hierarchy.Counts] returns Cachegrind's events, [Hierarchy.Levels] and
//     [Hierarchy.TLBs] the counts of each level. Package explain interprets them,
//     and package reuse finds the misses of caches of other sizes.
//
// Three engines in simcache/internal do the work. Package lookup looks up references in independent
// LRU levels: in batches, or one by one if levels are observed. Package exact counts nests and
// programs on such levels without looking up every access ([Hierarchy.Work] returns how many it
// looked up). Package policies simulates everything else, one reference after another. All are
// tested against package reference, which defines a cache.
package simcache

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
)

// A Geometry is the shape of one cache. Its set count is Size/Line/Ways.
type Geometry struct {
	Size int // capacity in bytes
	Ways int // associativity: lines in a set
	Line int // line size in bytes
}

// Sets returns the number of sets.
func (g Geometry) Sets() int { return g.Size / g.Line / g.Ways }

// String formats the geometry as Cachegrind's flags do: "32768,8,64".
func (g Geometry) String() string { return fmt.Sprintf("%d,%d,%d", g.Size, g.Ways, g.Line) }

// ParseGeometry reads and checks "size,associativity,line" as Cachegrind's --D1 and --LL have it,
// in bytes or with units.
func ParseGeometry(text string) (Geometry, error) {
	parts := strings.Split(text, ",")
	if len(parts) != 3 {
		return Geometry{}, errors.New("want size,associativity,line, such as 32KiB,8,64 or, in " +
			"bytes, 32768,8,64")
	}
	var n [3]int
	for i, what := range []string{"size", "associativity", "line size"} {
		var err error
		if n[i], err = strconv.Atoi(parts[i]); err != nil && i != 1 {
			n[i], err = ParseBytes(parts[i])
		}
		if err != nil || n[i] <= 0 {
			return Geometry{}, fmt.Errorf("%s %q: want size,associativity,line, such as "+
				"32KiB,8,64 or, in bytes, 32768,8,64; units: %s", what, parts[i], byteUnits)
		}
	}
	g := Geometry{Size: n[0], Ways: n[1], Line: n[2]}
	return g, g.Check()
}

// Bytes formats bytes with a binary prefix and at most two decimals: "32 KiB".
func Bytes(n int) string {
	value, unit := float64(n), "B"
	for _, u := range []string{"KiB", "MiB", "GiB", "TiB"} {
		if value < 1024 {
			break
		}
		value, unit = value/1024, u
	}
	text := strconv.FormatFloat(value, 'f', 2, 64)
	return strings.TrimRight(strings.TrimRight(text, "0"), ".") + " " + unit
}

// units of bytes. KB is missing: it means 1000 to some and 1024 to others.
var units = map[string]float64{"": 1, "b": 1, "k": 1 << 10, "kib": 1 << 10, "m": 1 << 20,
	"mib": 1 << 20, "g": 1 << 30, "gib": 1 << 30}

const byteUnits = "B, KiB or K, MiB or M, GiB or G" // of sizes in bytes

// ParseBytes reads a number of bytes, such as 32KiB, 32k, 1.25MiB or 4096.
func ParseBytes(text string) (int, error) {
	number := strings.TrimRight(text, "BKMGIbkmgi ")
	scale, ok := units[strings.ToLower(strings.TrimSpace(text[len(number):]))]
	n, err := strconv.ParseFloat(number, 64)
	bytes := n * scale
	if !ok || err != nil || !(bytes > 0) || bytes > 1<<52 || bytes != math.Trunc(bytes) {
		return 0, fmt.Errorf("%q is not a size (want a whole number of bytes, such as 32KiB, "+
			"1.25MiB or 4096; units: %s)", text, byteUnits)
	}
	return int(bytes), nil
}

// cachegrindLine is Cachegrind's MIN_LINE_SIZE (cachegrind/cg_arch.c).
const cachegrindLine = 32

// byCachegrind returns an error for lines under 32 B and a single line, which Cachegrind rejects
// (cachegrind/cg_arch.c, check_cache).
func (g Geometry) byCachegrind() error {
	switch {
	case g.Line < cachegrindLine:
		return fmt.Errorf("lines of %d B, which Cachegrind does not have (want at least %d)",
			g.Line, cachegrindLine)
	case g.Size == g.Line:
		return fmt.Errorf("a single line, which Cachegrind does not have (want more than %d B)",
			g.Size)
	}
	return nil
}

// Check returns an error unless all figures are positive, set count and line size are powers of
// two, and the size is a multiple of ways*line.
func (g Geometry) Check() error {
	if err := g.check(); err != nil || isPowerOfTwo(g.Sets()) {
		return err
	}
	below := g.Ways * g.Line << (bits.Len(uint(g.Sets())) - 1)
	return fmt.Errorf("set count %d (size/line/associativity) is not a power of two (with "+
		"associativity %d and lines of %d B, %d or %d B would do)", g.Sets(), g.Ways, g.Line,
		below, 2*below)
}

// check is Check for modulo indexing: any set count.
func (g Geometry) check() error {
	switch {
	case g.Size <= 0 || g.Ways <= 0 || g.Line <= 0:
		return fmt.Errorf("size %d, associativity %d and line size %d must all be positive", g.Size,
			g.Ways, g.Line)
	case !isPowerOfTwo(g.Line):
		return fmt.Errorf("line size %d is not a power of two", g.Line)
	case g.Size < g.Line:
		return fmt.Errorf("cache size %d is below the line size %d", g.Size, g.Line)
	case g.Ways > g.Size/g.Line:
		return fmt.Errorf("associativity %d exceeds the %d lines that the size holds", g.Ways,
			g.Size/g.Line)
	}
	// Cachegrind refuses it as well (cg_arch.c, check_cache)
	if set := g.Ways * g.Line; g.Size%set != 0 {
		return fmt.Errorf("size %d is not a multiple of %d, which is a set of associativity %d "+
			"and line size %d", g.Size, set, g.Ways, g.Line)
	}
	return nil
}

func isPowerOfTwo(n int) bool { return n > 0 && n&(n-1) == 0 }
