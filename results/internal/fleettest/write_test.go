package fleettest

import (
	"os"
	"testing"
)

// TestWrite writes a fleet of a thousand nodes, some of them faulty, into the folder
// that FLEET_DIR names, for who wants to see a page of one.
func TestWrite(t *testing.T) {
	dir := os.Getenv("FLEET_DIR")
	nodes := 1000
	if dir == "" {
		dir, nodes = t.TempDir(), 3
	}
	f := Fleet{Nodes: nodes, Benchmarks: 120, Samples: 6,
		Slow: func(node int, memory bool) float64 {
			switch {
			case node%211 == 17 && memory:
				return 1.25
			case node%307 == 5:
				return 1.15
			}
			return 1
		},
		Scatter: func(node int) float64 {
			if node%401 == 33 {
				return 0.08
			}
			return 0.01
		}}
	if err := f.Write(dir); err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != nodes {
		t.Error(len(files), err)
	}
}
