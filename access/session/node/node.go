package node

import (
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/results/keys"
	"github.com/stridebench/stridebench/results/show"
)

// Comments identify the machine: its name, kernel release, microcode, memory size, and
// frequency settings, if known.
func Comments(m Machine) []results.Pair { return comments(m, os.DirFS("/")) }

func comments(m Machine, root fs.FS) (all []results.Pair) {
	add := func(key, value string) {
		if value != "" {
			all = append(all, results.Pair{Key: key, Value: value})
		}
	}
	if name, err := os.Hostname(); err == nil {
		add(keys.Node, name)
	}
	add("kernel-release", fileText(root, "proc/sys/kernel/osrelease"))
	for line := range strings.Lines(fileText(root, "proc/cpuinfo")) {
		if key, value, _ := strings.Cut(line, ":"); strings.TrimSpace(key) == "microcode" {
			add("microcode", strings.TrimSpace(value))
			break
		}
	}
	if m.Memory > 0 {
		add("memory", show.Bytes(m.Memory))
	}
	add("hypervisor", m.Hypervisor)
	add("governor", strings.Join(m.Governors, " "))
	add("turbo", m.Turbo)
	return all
}

// Comment returns the value of [ActivityKey].
func (a Activity) Comment() string {
	return fmt.Sprintf("others=%.2f steal=%.4f",
		a.Others, a.Steal)
}
