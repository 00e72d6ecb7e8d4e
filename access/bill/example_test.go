package bill_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/stridebench/stridebench/access/bill"
	"github.com/stridebench/stridebench/access/cost"
	"github.com/stridebench/stridebench/access/operators"
	"github.com/stridebench/stridebench/simcache"
)

// A reshape of a permuted tensor copies it. The copy is for the layout alone.
func Example() {
	trace := `{"traceEvents": [
		{"ph": "X", "cat": "cpu_op", "name": "aten::clone", "ts": 1, "dur": 20, "args": {
			"Input Dims": [[64, 12, 64]], "Input Strides": [[64, 4096, 1]], "Input type": ["float"]}},
		{"ph": "X", "cat": "cpu_op", "name": "aten::copy_", "ts": 2, "dur": 10, "args": {
			"Input Dims": [[64, 12, 64], [64, 12, 64]], "Input Strides": [[768, 64, 1], [64, 4096, 1]], "Input type": ["float", "float"]}}]}`
	profile, err := operators.Read(operators.File{Name: "trace.json", Reader: strings.NewReader(trace)})
	if err != nil {
		panic(err)
	}
	l1, _ := simcache.ParseGeometry("32768,8,64")
	l2, _ := simcache.ParseGeometry("1048576,16,64")
	model := cost.Model{Times: cost.Generic("an example"), Caches: simcache.Config{Levels: []simcache.Level{{Name: "L1", Geometry: l1}, {Name: "L2", Geometry: l2}}}}
	b, err := bill.Of(context.Background(), profile, model, nil)
	if err != nil {
		panic(err)
	}
	for _, item := range b.Operators {
		fmt.Println(item.Op, item.Tensors())
		fmt.Println("  " + item.Verdict)
	}
	// Output:
	// aten::copy_ float32 64x12x64[64,4096,1] -> 64x12x64
	//   produce 64x12x64[64,4096,1] contiguous: it is read in another order than it lies in
	// aten::clone float32 64x12x64[64,4096,1]
	//   nothing to change: it accesses no memory itself
}
