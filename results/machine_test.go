package results

import (
	"strings"
	"testing"
)

func TestParseMeminfo(t *testing.T) {
	total, available := parseMeminfo(strings.NewReader("MemTotal:       24684188 kB\nMemFree: 1 kB\nMemAvailable:   24307024 kB\nHugePages_Total:       0\nBroken: x kB\n"))
	if total != 24684188<<10 || available != 24307024<<10 {
		t.Errorf("%d and %d", total, available)
	}
	if total, available := parseMeminfo(strings.NewReader("")); total != 0 || available != 0 {
		t.Errorf("of nothing: %d and %d", total, available)
	}
}
