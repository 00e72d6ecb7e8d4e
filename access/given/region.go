package given

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
)

var (
	pragmas    = regexp.MustCompile(`(?ms)^[ \t]*#\s*pragma\s+scop\b.*?^[ \t]*#\s*pragma\s+endscop\b`)
	definition = regexp.MustCompile(`(?m)(?:^|[;{}])\s*\w[\w\s*]*?\b(\w+)\s*\([^;{}]*\)\s*\{`)
)

// FindRegion finds the lines between #pragma scop and #pragma endscop in the text of a file, and
// the function that they are in: the last definition whose braces are open there. Without these,
// or where there are several such regions, the lines are 0.
func FindRegion(text []byte) (function string, from, to int) {
	all := pragmas.FindAllIndex(text, 2)
	if len(all) != 1 {
		return
	}
	line := func(at int) int { return 1 + bytes.Count(text[:at], []byte("\n")) }
	before := text[:all[0][0]]
	for _, m := range slices.Backward(definition.FindAllSubmatchIndex(before, -1)) {
		function, inside := string(before[m[2]:m[3]]), before[m[3]:]
		isOpen := bytes.Count(inside, []byte("{")) > bytes.Count(inside, []byte("}"))
		if isOpen && !strings.Contains(" if for while switch ", " "+function+" ") {
			return function, line(all[0][0]), line(all[0][1])
		}
	}
	return
}
