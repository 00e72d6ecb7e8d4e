package reports_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/stridebench/stridebench/reports"
	"github.com/stridebench/stridebench/results"
)

// From a file of results to charts, what they say in words, and a page.
func Example() {
	dir, err := os.MkdirTemp("", "report")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)

	// 1. Read results. Of several files, the last is compared with the first.
	set, err := results.Read(filepath.Join("testdata", "old.txt"), filepath.Join("testdata", "new.txt"))
	if err != nil {
		fmt.Println(err)
		return
	}

	// 2. Make the charts that there are data for.
	report, err := reports.Make(set, reports.Options{Theme: reports.Dark})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range report.Charts {
		fmt.Printf("%s: %s\n", c.Name, c.Sentence)
	}

	// 3. The others say which command makes their data.
	fmt.Printf("%s: %s\n", report.Absent[0].Name, report.Absent[0].Command)

	// 4. Write pictures, a summary and a page into a folder.
	paths, err := report.Write(dir)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(paths), "files, the last is", filepath.Base(paths[len(paths)-1]))
	// Output:
	// copy-bandwidth: The fastest copy (contiguous) moves 14.36 GiB/s, the slowest (transpose) 1.058 GiB/s.
	// compare: Of 3 benchmarks in both files, 0 became slower and 0 faster by more than their intervals; the largest change is in Copy contiguous 4096x4096 float32 (-16.6%).
	// traverse-time: bench run --filter .name:Traverse
	// 6 files, the last is index.html
}
