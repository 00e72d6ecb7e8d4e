package reports

import (
	"strings"
	"testing"

	"github.com/stridebench/stridebench/results"
)

// TestBest: the best choice is that of the least cycles, by caches, and charts of one
// machine leave a sweep out.
func TestBest(t *testing.T) {
	set, err := results.Parse("sweep", []byte(`
BenchmarkTraverse/op=sum/order=row/shape=8x8/dtype=int32/kernel=scalar/caches=a 1 64 D-refs/op 4 D1-misses/op 0 LL-misses/op
BenchmarkTraverse/op=sum/order=col/shape=8x8/dtype=int32/kernel=scalar/caches=a 1 64 D-refs/op 64 D1-misses/op 0 LL-misses/op
BenchmarkTraverse/op=sum/order=row/shape=8x8/dtype=int32/kernel=scalar/caches=b 1 64 D-refs/op 64 D1-misses/op 64 LL-misses/op
BenchmarkTraverse/op=sum/order=col/shape=8x8/dtype=int32/tile=4/kernel=scalar/caches=b 1 64 D-refs/op 4 D1-misses/op 4 LL-misses/op
`))
	if err != nil {
		t.Fatal(err)
	}
	r, err := Make(set, Options{})
	if err != nil || len(r.Charts) != 1 || len(r.Rows) != 4 {
		t.Fatal(r.Charts, err)
	}
	want := "Of 1 tensors and operations on 2 caches, the choice matters most for sum 8x8 int32 on b: col, tile 4 costs the least, and the worst 14.1 times as much (by simulated misses)."
	if c := r.Charts[0]; c.Name != "best" || c.Sentence != want || !strings.Contains(string(c.SVG), "row: 6.77x") {
		t.Errorf("%s: %s", c.Name, c.Sentence)
	}
}
