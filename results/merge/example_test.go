package merge_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/stridebench/stridebench/results/merge"
)

// The second of two shards has not come.
func Example() {
	dir, err := os.MkdirTemp("", "shards")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	shard := "goos: linux\n# suite: 3f2a90c1d04e\n# shard: 1/2\n\n# part: 1\nBenchmarkA 1 5 ns/op\n# end: 1 results\n"
	if err := os.WriteFile(filepath.Join(dir, "1.txt"), []byte(shard), 0o666); err != nil {
		fmt.Println(err)
		return
	}
	paths, err := merge.Find([]string{dir}, "")
	if err != nil {
		fmt.Println(err)
		return
	}
	plan, err := merge.Read(paths, nil, "", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, fault := range plan.Faults {
		fmt.Println(fault)
	}
	if err := plan.Write(os.Stdout); err != nil {
		fmt.Println(err)
	}
	// Output:
	// missing: shard 2 of 2
	// goos: linux
	// # suite: 3f2a90c1d04e
	// # partial: missing: shard 2 of 2
	//
	// BenchmarkA 1 5 ns/op
	// # end: 1 results
}
