package simcache

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// FormatTLB writes the levels of a TLB as "entries,associativity,page" each, in
// bytes, the nearest first: "64,4,4096 1536,12,4096".
func FormatTLB(levels []TLB) string {
	var parts []string
	for _, t := range levels {
		parts = append(parts, fmt.Sprintf("%d,%d,%d", t.Entries, t.Ways, t.Page))
	}
	return strings.Join(parts, " ")
}

// ParseTLB reads what FormatTLB writes, and checks it (see Config.Check).
func ParseTLB(text string) ([]TLB, error) {
	const want = "want entries,associativity,page in bytes of each level, such as '64,4,4096 " +
		"1536,12,4096'"
	var levels []TLB
	for level := range strings.FieldsSeq(text) {
		parts := strings.Split(level, ",")
		if len(parts) != 3 {
			return nil, fmt.Errorf("level %q: %s", level, want)
		}
		var n [3]int
		for i, what := range []string{"entries", "associativity", "page size"} {
			var err error
			if n[i], err = strconv.Atoi(parts[i]); err != nil && i == 2 {
				n[i], err = ParseBytes(parts[i])
			}
			if err != nil || n[i] <= 0 {
				return nil, fmt.Errorf("%s %q is not a positive integer (%s)", what, parts[i], want)
			}
			if most := [...]int{1 << 20, 1 << 20, 1 << 32}[i]; n[i] > most {
				return nil, fmt.Errorf("%s %s is too much (want at most %d)", what, parts[i], most)
			}
		}
		levels = append(levels, TLB{Entries: n[0], Ways: n[1], Page: n[2]})
	}
	if levels == nil {
		return nil, errors.New(want)
	}
	return levels, Config{TLB: levels}.checkTLB()
}

// PageLevels are the levels of a TLB as those of caches whose lines are pages.
// A hierarchy of them alone counts what the TLB beside caches counts, since a
// TLB knows nothing of these; and it finds a steady state on its own.
func PageLevels(levels []TLB) []Level {
	var caches []Level
	for i, t := range levels {
		caches = append(caches, Level{Name: t.name(i), Geometry: t.geometry(), Modulo: true})
	}
	return caches
}

// geometry is that of a cache whose lines are pages.
func (t TLB) geometry() Geometry {
	return Geometry{Size: t.Entries * t.Page, Ways: t.Ways, Line: t.Page}
}
