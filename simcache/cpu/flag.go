package cpu

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/stridebench/stridebench/simcache"
)

// FormatTLB formats levels as "entries,associativity,page" in bytes, the nearest first: "64,4,4096
// 1536,12,4096".
func FormatTLB(levels []simcache.TLB) string {
	var parts []string
	for _, t := range levels {
		parts = append(parts, fmt.Sprintf("%d,%d,%d", t.Entries, t.Ways, t.Page))
	}
	return strings.Join(parts, " ")
}

// ParseTLB reads and checks what FormatTLB writes.
func ParseTLB(text string) ([]simcache.TLB, error) {
	const want = "want entries,associativity,page in bytes of each level, such as '64,4,4096 " +
		"1536,12,4096'"
	var levels []simcache.TLB
	for level := range strings.FieldsSeq(text) {
		parts := strings.Split(level, ",")
		if len(parts) != 3 {
			return nil, fmt.Errorf("level %q: %s", level, want)
		}
		var n [3]int
		for i, what := range []string{"entries", "associativity", "page size"} {
			var err error
			if n[i], err = strconv.Atoi(parts[i]); err != nil && i == 2 {
				n[i], err = simcache.ParseBytes(parts[i])
			}
			if err != nil || n[i] <= 0 {
				return nil, fmt.Errorf("%s %q is not a positive integer (%s)", what, parts[i], want)
			}
			if most := [...]int{1 << 20, 1 << 20, 1 << 32}[i]; n[i] > most {
				return nil, fmt.Errorf("%s %s is too much (want at most %d)", what, parts[i], most)
			}
		}
		levels = append(levels, simcache.TLB{Entries: n[0], Ways: n[1], Page: n[2]})
	}
	if levels == nil {
		return nil, errors.New(want)
	}
	c := Choose(nil)
	c.TLB = levels
	return levels, c.Check()
}
