package bill

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stridebench/stridebench/access/operators"
)

// BenchmarkOf is the bill of 30,000 distinct operators, of which nearly all go over
// permuted tensors: reading, pricing and sorting. The issue wants less than 3 s.
func BenchmarkOf(b *testing.B) {
	text := distinct(30_000)
	for b.Loop() {
		p, err := operators.Read(operators.File{Name: "f", Reader: strings.NewReader(text)})
		if err != nil {
			b.Fatal(err)
		}
		if bill, err := Of(context.Background(), p, typical(b), nil); err != nil || len(bill.Operators) < 29_000 {
			b.Fatal(err)
		}
	}
}

// distinct is a trace of so many operators of transformers on batches and sequences of any
// length.
func distinct(operators int) string {
	r := rand.New(rand.NewPCG(7, 7))
	names := strings.Fields("add copy_ clone _softmax sum mul")
	list := func(n []int) string { return strings.ReplaceAll(fmt.Sprint(n), " ", ",") }
	var events []event
	for i := range operators {
		batch, length, heads := 1+r.IntN(64), 16+r.IntN(1000), []int{8, 12, 16}[r.IntN(3)]
		shape := [][]int{{batch, length, heads * 64}, {batch, heads, length, 64}, {batch * length, heads * 64}, {batch, heads, length, 8 + length/8*8}}[r.IntN(4)]
		strides := make([]int, len(shape))
		step := 1
		for d := len(shape) - 1; d >= 0; d-- {
			strides[d] = step
			step *= shape[d]
		}
		r.Shuffle(len(shape), func(i, j int) {
			shape[i], shape[j], strides[i], strides[j] = shape[j], shape[i], strides[j], strides[i]
		})
		events = append(events, event{name: "aten::" + names[r.IntN(len(names))], ts: 10 * i, dur: 5,
			shapes: list(shape), strides: list(strides), types: float, arguments: `"[0]"`})
	}
	return trace(events...)
}
