package results

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/stridebench/stridebench/results/keys"
)

// A Setup is the machine and the simulation, by a file's configuration.
type Setup struct {
	GOOS, GOARCH string // "" if unknown, as for all texts
	GoVersion    string
	CPU          string // the model
	CPUs         int    // logical, 0 if unknown
	Pages        string // of the tensors' memory
	Caches       []Cache
	D1, LL       Cache // simulated, zero if unknown
	LLCores      int   // that share LL, with simulated threads; 0 for all or unknown
	TLB          []TLB // simulated, the first level first
}

// A Cache is one level of a hierarchy. All figures are above 0.
type Cache struct {
	Name string // "L1d"; "D1" and "LL" if simulated
	Size int    // bytes
	Ways int
	Line int // bytes
}

// A TLB is one level of a simulated TLB. All figures are above 0.
type TLB struct {
	Entries, Ways int
	Page          int // bytes
}

// Limits of a machine: more is a mistake, or a stranger's joke.
const (
	maxLevels  = 16
	maxCache   = 1 << 40 // bytes
	maxEntries = 1 << 20
	maxPage    = 1 << 32 // bytes
	maxCPUs    = 1 << 20
)

// SetupOf decodes a file's configuration, see [Set.Config]. A setup only explains results, and
// files may come from strangers. So it drops values that are malformed, not positive, too large, or
// of a cache without a whole set, and levels after the 16th.
func SetupOf(config map[string]string) Setup {
	return Setup{
		GOOS: config["goos"], GOARCH: config["goarch"], GoVersion: config["goversion"],
		CPU: config["cpu"], CPUs: positive(config["cpus"], maxCPUs), Pages: config["pages"],
		Caches: caches(config[keys.Caches]),
		D1:     cacheOf("D1", config[keys.D1]), LL: cacheOf("LL", config[keys.LL]),
		LLCores: positive(config[keys.LLCores], maxCPUs),
		TLB:     tlbLevels(config[keys.TLB]),
	}
}

// Config returns the lines that [SetupOf] decodes, in the files' order. Lines that decide whether
// times compare are included even if unknown.
func (s Setup) Config() []Pair {
	var sizes []string
	for _, c := range s.Caches {
		sizes = append(sizes, c.Name+"="+c.String())
	}
	config := []Pair{
		{"goos", s.GOOS}, {"goarch", s.GOARCH}, {"cpu", s.CPU}, {"cpus", strconv.Itoa(s.CPUs)},
		{keys.Caches, strings.Join(sizes, " ")}, {"goversion", s.GoVersion},
		{keys.D1, s.D1.String()}, {keys.LL, s.LL.String()},
	}
	if s.LLCores > 0 {
		config = append(config, Pair{keys.LLCores, strconv.Itoa(s.LLCores)})
	}
	if s.TLB != nil {
		var levels []string
		for _, t := range s.TLB {
			levels = append(levels, fmt.Sprintf("%d,%d,%d", t.Entries, t.Ways, t.Page))
		}
		config = append(config, Pair{keys.TLB, strings.Join(levels, " ")})
	}
	if s.Pages != "" {
		config = append(config, Pair{"pages", s.Pages})
	}
	return config
}

// String returns the cache as Cachegrind writes it, "32768,8,64".
func (c Cache) String() string { return fmt.Sprintf("%d,%d,%d", c.Size, c.Ways, c.Line) }

func caches(text string) (found []Cache) {
	for field := range strings.FieldsSeq(text) {
		name, geometry, _ := strings.Cut(field, "=")
		if c := cacheOf(name, geometry); name != "" && c != (Cache{}) && len(found) < maxLevels {
			found = append(found, c)
		}
	}
	return found
}

// cacheOf reads "32768,8,64", size, ways and line as in Cachegrind.
func cacheOf(name, geometry string) Cache {
	n, ok := triple(geometry, maxCache, maxCache, maxCache)
	if size, ways, line := n[0], n[1], n[2]; !ok || ways > size/line {
		return Cache{}
	}
	return Cache{name, n[0], n[1], n[2]}
}

func tlbLevels(text string) (found []TLB) {
	for level := range strings.FieldsSeq(text) {
		if n, ok := triple(level, maxEntries, maxEntries, maxPage); ok && n[1] <= n[0] &&
			len(found) < maxLevels {
			found = append(found, TLB{n[0], n[1], n[2]})
		}
	}
	return found
}

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

func positive(text string, most int) int {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > most {
		return 0
	}
	return n
}
