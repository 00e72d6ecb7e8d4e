package bill

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stridebench/stridebench/access/operators"
)

// BenchmarkOf is the bill of 30,000 distinct operators, nearly all over
// permuted tensors: reading, pricing and sorting.
func BenchmarkOf(b *testing.B) {
	text := distinct(b, 30_000)
	for b.Loop() {
		if bill := priceOf(b, profileOf(b, text)); len(bill.Operators) < 29_000 {
			b.Fatalf("%d operators", len(bill.Operators))
		}
	}
}

// distinct is a trace of so many operators of transformers on batches and sequences of any
// length.
func distinct(b *testing.B, count int) string {
	r := rand.New(rand.NewPCG(7, 7))
	names := strings.Fields("add copy_ clone _softmax sum mul")
	var calls []call
	for range count {
		batch, length, heads := 1+r.IntN(64), 16+r.IntN(1000), []int{8, 12, 16}[r.IntN(3)]
		shape := [][]int{
			{batch, length, heads * 64}, {batch, heads, length, 64},
			{batch * length, heads * 64}, {batch, heads, length, 8 + length/8*8},
		}[r.IntN(4)]
		o := fresh(shape, "float32").Tensor
		o.Role = operators.Input
		r.Shuffle(len(shape), func(i, j int) {
			shape[i], shape[j], o.Strides[i], o.Strides[j] = shape[j], shape[i], o.Strides[j], o.Strides[i]
		})
		c := call{Op: "aten::" + names[r.IntN(len(names))], Args: []string{"", "[0]"}}
		c.Inputs = []placed{{Tensor: o}}
		calls = append(calls, c)
	}
	return traceOf(b, true, calls...)
}
