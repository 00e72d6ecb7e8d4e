package probe_test

import (
	"fmt"
	"os"

	"github.com/stridebench/stridebench/access/probe"
)

// Read what was measured of a machine (probe.Measure does it, and takes 20 s).
func Example() {
	text, err := os.ReadFile("testdata/zen4-vm-1.yaml")
	if err != nil {
		fmt.Println(err)
		return
	}
	m, err := probe.Parse("zen4-vm-1.yaml", text)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, l := range m.Levels {
		fmt.Println(l.Name, l.Capacity)
	}
	// Output:
	// L1D 32KiB
	// L2 768KiB
	// L3 16MiB
}
