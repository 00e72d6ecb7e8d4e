package results

import (
	"fmt"
	"strconv"
	"strings"
)

// Keys of configuration lines that [SetupOf] decodes and [Setup.Config] writes,
// beside TLBKey.
const (
	CachesKey = "caches" // of the machine: "L1d=32768,8,64 L3=33554432,16,64"
	D1Key     = "sim-d1" // simulated, the first level: "32768,8,64"
	LLKey     = "sim-ll" // simulated, the last level

	llCoresKey = "sim-ll-cores" // that share the last level, of threads that not all share one
)

// LevelsKey is the configuration key of all that bench sim simulates but the TLB: a hash of its
// description, and whether lines are written back, which changes misses behind the first level.
const LevelsKey = "sim-levels"

// A Setup is what the configuration lines of a file say of what was measured on
// and what was simulated.
type Setup struct {
	GOOS, GOARCH string // "" if unknown, as all texts
	GoVersion    string
	CPU          string // the model
	CPUs         int    // logical ones, 0 if unknown
	Pages        string // of the tensors' memory
	Caches       []Cache
	D1, LL       Cache // simulated, zero if unknown
	LLCores      int   // that share LL, of simulated threads; 0 for all, and unknown
	TLB          []TLB // simulated, the first level first
}

// A Cache is one level of a hierarchy, all of it above 0.
type Cache struct {
	Name string // "L1d", or "D1" and "LL" of the simulated ones
	Size int    // bytes
	Ways int
	Line int // bytes
}

// A TLB is one level of a simulated TLB, all of it above 0.
type TLB struct {
	Entries, Ways int
	Page          int // bytes
}

// What a file may say of a machine: more is taken for a mistake or a stranger's joke.
const (
	maxLevels  = 16
	maxCache   = 1 << 40 // bytes
	maxEntries = 1 << 20
	maxPage    = 1 << 32 // bytes
	maxCPUs    = 1 << 20
)

// SetupOf decodes the configuration of a file, see [Set.Config]. Files come from
// strangers, and what a setup says only explains results: a value that is
// malformed, not positive, larger than any machine has or of a cache without a
// whole set is left out, and so are levels after the 16th.
func SetupOf(config map[string]string) Setup {
	return Setup{
		GOOS: config["goos"], GOARCH: config["goarch"], GoVersion: config["goversion"],
		CPU: config["cpu"], CPUs: positive(config["cpus"], maxCPUs), Pages: config["pages"],
		Caches: caches(config[CachesKey]),
		D1:     cacheOf("D1", config[D1Key]), LL: cacheOf("LL", config[LLKey]),
		LLCores: positive(config[llCoresKey], maxCPUs),
		TLB:     tlbLevels(config[TLBKey]),
	}
}

// Config returns the configuration lines that [SetupOf] decodes, in the order in which
// files have them. Lines that decide whether times can be compared are included even
// if their values are unknown.
func (s Setup) Config() []Pair {
	var sizes []string
	for _, c := range s.Caches {
		sizes = append(sizes, c.Name+"="+c.String())
	}
	config := []Pair{
		{"goos", s.GOOS}, {"goarch", s.GOARCH}, {"cpu", s.CPU}, {"cpus", strconv.Itoa(s.CPUs)},
		{CachesKey, strings.Join(sizes, " ")}, {"goversion", s.GoVersion},
		{D1Key, s.D1.String()}, {LLKey, s.LL.String()},
	}
	if s.LLCores > 0 {
		config = append(config, Pair{llCoresKey, strconv.Itoa(s.LLCores)})
	}
	if s.TLB != nil {
		var levels []string
		for _, t := range s.TLB {
			levels = append(levels, fmt.Sprintf("%d,%d,%d", t.Entries, t.Ways, t.Page))
		}
		config = append(config, Pair{TLBKey, strings.Join(levels, " ")})
	}
	if s.Pages != "" {
		config = append(config, Pair{"pages", s.Pages})
	}
	return config
}

// String is the size, ways and line size as Cachegrind writes them, "32768,8,64".
func (c Cache) String() string { return fmt.Sprintf("%d,%d,%d", c.Size, c.Ways, c.Line) }

// Simulated are D1 and LL, those that are known.
func (s Setup) Simulated() (known []Cache) {
	for _, c := range []Cache{s.D1, s.LL} {
		if c != (Cache{}) {
			known = append(known, c)
		}
	}
	return known
}

// caches reads "L1d=32768,8,64 L3=33554432,16,64".
func caches(text string) (found []Cache) {
	for field := range strings.FieldsSeq(text) {
		name, geometry, _ := strings.Cut(field, "=")
		if c := cacheOf(name, geometry); name != "" && c != (Cache{}) && len(found) < maxLevels {
			found = append(found, c)
		}
	}
	return found
}

// cacheOf reads size, ways and line size, "32768,8,64", as Cachegrind writes them;
// a zero Cache if that is none.
func cacheOf(name, geometry string) Cache {
	n, ok := triple(geometry, maxCache, maxCache, maxCache)
	if size, ways, line := n[0], n[1], n[2]; !ok || ways > size/line {
		return Cache{}
	}
	return Cache{name, n[0], n[1], n[2]}
}

// tlbLevels reads "64,4,4096 1536,12,4096": entries, ways and bytes of a page by
// level.
func tlbLevels(text string) (found []TLB) {
	for level := range strings.FieldsSeq(text) {
		if n, ok := triple(level, maxEntries, maxEntries, maxPage); ok && n[1] <= n[0] &&
			len(found) < maxLevels {
			found = append(found, TLB{n[0], n[1], n[2]})
		}
	}
	return found
}

// triple reads three numbers joined by commas, each from 1 to its most.
func triple(text string, most ...int) (n [3]int, ok bool) {
	part := strings.Split(text, ",")
	if len(part) != len(n) {
		return n, false
	}
	for i := range n {
		if n[i] = positive(part[i], most[i]); n[i] == 0 {
			return n, false
		}
	}
	return n, true
}

// positive reads a number from 1 to most, 0 if it is none.
func positive(text string, most int) int {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > most {
		return 0
	}
	return n
}
