package explain

import (
	"fmt"
	"strings"

	"github.com/stridebench/stridebench/simcache"
)

// Heading names the simulated caches with their sources, in one line; I1 only if it takes part.
func Heading(c simcache.Config, i1 bool) string {
	names, levels := c.LevelNames(), c.Levels
	if i1 {
		names = append([]string{"I1"}, names...)
		levels = append([]simcache.Level{{Geometry: c.I1, Source: c.I1Source}}, levels...)
	}
	var all []string
	for i, l := range levels {
		text := fmt.Sprintf("%s %s, %d-way, %d B lines", names[i], simcache.Bytes(l.Size), l.Ways,
			l.Line)
		if i == len(levels)-1 || levels[i+1].Source != l.Source {
			text += fmt.Sprintf(" (%s)", l.Source)
		}
		all = append(all, text)
	}
	return "caches: " + strings.Join(all, "; ") + "\n"
}
