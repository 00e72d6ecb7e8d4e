package node

import (
	"strings"
	"testing"
)

func TestWarnings(t *testing.T) {
	for _, test := range []struct {
		machine  Machine
		pinned   bool
		activity *Activity
		want     string // the kinds
	}{
		{Machine{}, true, nil, ""},
		{Machine{Governors: []string{"performance"}, Turbo: "off"}, true,
			&Activity{CPUs: 2, Others: 0.1, Steal: 0.002}, ""},
		{Machine{CPUs: 2, CPUQuota: 2}, true, nil, ""},
		{Machine{CPUs: 2, CPUQuota: 1.5}, true, nil,
			"quota"},
		{Machine{Governors: []string{"performance", "powersave"}, Turbo: "on"}, false,
			&Activity{CPUs: 2, Others: 1.5, Steal: 0.05}, "frequency turbo unpinned load steal"},
	} {
		var kinds []string
		for _, w := range Warnings(test.machine, test.pinned, test.activity) {
			kind, text, ok := strings.Cut(w, ": ")
			if !ok || !strings.Contains(text, ": ") {
				t.Errorf("%q has no kind, or does not say what to do", w)
			}
			kinds = append(kinds, kind)
		}
		if got := strings.Join(kinds, " "); got != test.want {
			t.Errorf("%+v: %q, want %q", test.machine, got, test.want)
		}
	}
}

// TestUnpinned: on Linux the kernel refused, which is said; where nothing pins, interleaved
// samples help.
func TestUnpinned(t *testing.T) {
	for system, want := range map[string]string{"linux": "sched_setaffinity", "darwin": "only Linux",
		"windows": "only Linux"} {
		all := Warnings(Machine{GOOS: system}, false, nil)
		if len(all) != 1 || !strings.Contains(all[0], want) || !strings.Contains(all[0], "(--ab)") {
			t.Errorf("on %s: %q, want %q and --ab", system, all, want)
		}
	}
}
