package export_test

import (
	"fmt"
	"os"

	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/results/export"
)

// Results as a spreadsheet takes them.
func Example() {
	const run = `goos: linux
cpu: a CPU
# commit: 80fe105
Unit D1-misses/op assume=exact better=lower
BenchmarkTraverse/order=row/shape=64x64 1 1000 ns/op 256 D1-misses/op
BenchmarkTraverse/order=row/shape=64x64 1 1020 ns/op 256 D1-misses/op
BenchmarkTraverse/order=row/shape=64x64 1 1010 ns/op 256 D1-misses/op
`
	// 1. Read results.
	set, err := results.Parse("run.txt", []byte(run))
	if err != nil {
		fmt.Println(err)
		return
	}

	// 2. Sum them up: a record for each benchmark and unit, the median of its
	// samples first.
	records, err := export.Records(set)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range records {
		fmt.Println(r.Name, r.Unit, r.Median, "better", r.Better)
	}

	// 3. Say where they are from: commit, date and machine, as far as the file
	// tells.
	if err := export.Of(set, records); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("of commit", records[0].Commit)

	// 4. Write them in one of the formats.
	if err := export.Formats["github-action-benchmark"](os.Stdout, records[:1]); err != nil {
		fmt.Println(err)
	}
	// Output:
	// BenchmarkTraverse/order=row/shape=64x64 ns/op 1010 better lower
	// BenchmarkTraverse/order=row/shape=64x64 D1-misses/op 256 better lower
	// of commit 80fe105
	// [
	//   {
	//     "name": "BenchmarkTraverse/order=row/shape=64x64 - ns/op",
	//     "unit": "ns/op",
	//     "value": 1010,
	//     "extra": "median of 3 samples"
	//   }
	// ]
}
