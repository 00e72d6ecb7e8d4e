package sweep_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/stridebench/stridebench/access/sweep"
)

// A column of a matrix, with and without padding between its rows.
func Example() {
	space, err := sweep.Parse("space.yaml", []byte("shapes: [512x512]\norders: [col]\npads: [0, 16]\ncaches: [{name: L1, d1: '32768,8,64', ll: '8388608,16,64'}]\n"))
	if err != nil {
		fmt.Println(err)
		return
	}
	dir, err := os.MkdirTemp("", "sweep")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	out := filepath.Join(dir, "sweep.txt")
	if _, err := space.Run(context.Background(), out, sweep.Options{Index: 1, Of: 1}); err != nil {
		fmt.Println(err)
		return
	}
	text, err := os.ReadFile(out)
	if err != nil {
		fmt.Println(err)
		return
	}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "Benchmark") {
			fmt.Print(line)
		}
	}
	// Output:
	// BenchmarkTraverse/op=sum/order=col/shape=512x512/dtype=float32/kernel=scalar/caches=L1 1 262144 D-refs/op 262144 D1-misses/op 0 LL-misses/op
	// BenchmarkTraverse/op=sum/order=col/shape=512x512/dtype=float32/pad=16/kernel=scalar/caches=L1 1 262144 D-refs/op 16384 D1-misses/op 0 LL-misses/op
}
