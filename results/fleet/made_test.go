package fleet

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/results/keys"
)

// madeFleet describes files as the nodes of a fleet write them.
type madeFleet struct {
	Nodes, Benchmarks, Samples int
	// Slow returns the factor for benchmarks of memory (true) and others on a node; nil means 1.
	Slow func(node int, memory bool) float64
	// Scatter returns the deviation of the logarithm of a node's samples; nil means 0.01.
	Scatter func(node int) float64
}

// write writes a file for each node; equal fleets give equal files. Nodes differ by 1%, and every
// second benchmark misses the last cache.
func (f madeFleet) write(dir string) error {
	for node := range f.Nodes {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("node%d.txt", node+1)), f.node(node),
			0o666); err != nil {
			return err
		}
	}
	return nil
}

func (f madeFleet) node(node int) []byte {
	random := rand.New(rand.NewPCG(1, uint64(node)))
	var b strings.Builder
	cache := results.Cache{Name: "L1d", Size: 32 << 10, Ways: 8, Line: 64}
	last := results.Cache{Name: "L3", Size: 32 << 20, Ways: 16, Line: 64}
	setup := results.Setup{GOOS: "linux", GOARCH: "amd64", GoVersion: "go1.26.8",
		CPU: "Example 9000", CPUs: 64, Pages: "4k", Caches: []results.Cache{cache, last},
		D1: cache, LL: last}
	w, err := results.NewWriter(&b, append(setup.Config(),
		results.Pair{Key: "host", Value: fmt.Sprintf("node%d", node+1)}), []results.Pair{
		{Key: "date", Value: "2026-11-21T02:00:00Z"}, {Key: "version", Value: "v1.0.0"},
		{Key: "commit", Value: "0123456789ab"},
		{Key: keys.Suite, Value: "0123456789ab"},
		{Key: keys.Node, Value: fmt.Sprintf("node%d", node+1)}})
	scatter := 0.01
	if f.Scatter != nil {
		scatter = f.Scatter(node)
	}
	own := 0.01 * random.NormFloat64()
	for k := range f.Benchmarks {
		memory, slow := k%2 == 1, 1.0
		if f.Slow != nil {
			slow = f.Slow(node, memory)
		}
		misses := 0.0
		if memory {
			misses = 65536
		}
		family := []string{"Traverse", "Stream", "Copy", "Tile"}[4*k/f.Benchmarks]
		name := fmt.Sprintf("%s/order=row/shape=%dx%d/dtype=int32/kernel=scalar", family, k+1, k+1)
		for range f.Samples {
			ns := 1000 * float64(k+1) * slow * math.Exp(own+scatter*random.NormFloat64())
			if err == nil {
				err = w.Write(name, 1000, []results.Value{{Value: ns, Unit: "ns/op"},
					{Value: ns / 4096, Unit: "ns/elem"}, {Value: 4e12 / ns, Unit: "B/s"},
					{Value: 1048576, Unit: "D-refs/op"}, {Value: 65536, Unit: "D1-misses/op"},
					{Value: misses, Unit: "LL-misses/op"}, {Value: 0, Unit: "TLB-misses/op"}})
			}
		}
	}
	if err == nil {
		err = w.Comment(fmt.Sprintf("%s: others=0.01 steal=0.0000", keys.Activity))
	}
	if err == nil {
		err = w.Comment(fmt.Sprintf("%s: %d results", keys.End, f.Benchmarks*f.Samples))
	}
	if err != nil {
		panic(err) // a strings.Builder never fails
	}
	return []byte(b.String())
}
