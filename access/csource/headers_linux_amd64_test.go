package csource

import (
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestPredefined: what is defined before a file's first line is what gcc defines there.
func TestPredefined(t *testing.T) {
	text, err := exec.Command("gcc", "-std=gnu17", "-dM", "-E", "-x", "c", "/dev/null").Output()
	if err != nil {
		t.Fatal(err)
	}
	define := regexp.MustCompile(`(?m)^#define (\w+) (.*)$`)
	want := map[string]string{}
	for _, m := range define.FindAllStringSubmatch(string(text), -1) {
		want[m[1]] = m[2]
	}
	value := func(text string) any {
		if n, err := strconv.ParseUint(strings.TrimRight(text, "UL"), 0, 64); err == nil {
			return n
		}
		number := strings.TrimSuffix(strings.TrimPrefix(text, "((double)"), "L)")
		if x, err := strconv.ParseFloat(strings.TrimSuffix(number, "F"), 64); err == nil {
			return x
		}
		// of the words of a type, whatever their order
		return len(strings.ReplaceAll(text, " int", ""))
	}
	compared := 0
	for _, m := range define.FindAllStringSubmatch(predefinedMacros, -1) {
		name, have := m[1], m[2]
		if name == "__FUNCTION__" { // a keyword of gcc
			continue
		}
		if value(have) != value(want[name]) {
			t.Errorf("%s is %q, gcc's %q", name, have, want[name])
		}
		compared++
	}
	if compared < 40 {
		t.Errorf("%d macros compared", compared)
	}
}
