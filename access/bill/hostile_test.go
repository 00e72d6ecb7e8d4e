package bill

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stridebench/stridebench/access/operators"
)

// TestHostile: operators of any names with operands of any sizes and strides are
// priced or not, and no one takes long.
func TestHostile(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 9))
	names := strings.Fields("add mul_ where copy_ clone cat stack sum mean _softmax native_layer_norm mm index_select flip repeat _foreach_add fill_ relu odd native_batch_norm std amax topk threshold_backward")
	number := func() int {
		return []int{0, 1, 2, 3, 60, 64, 1000, 1 << 20, 1 << 30, 1 << 40}[r.IntN(10)]
	}
	list := func(n int) string {
		var all []string
		for range n {
			all = append(all, fmt.Sprint(number()))
		}
		return "[" + strings.Join(all, ",") + "]"
	}
	for range 150 {
		var events []event
		for n := range 1 + r.IntN(8) {
			e := event{name: "aten::" + names[r.IntN(len(names))], ts: 10 * n, dur: 5}
			var shapes, strides, types, arguments []string
			rank := r.IntN(5)
			for range 1 + r.IntN(3) {
				if r.IntN(4) == 0 {
					rank = r.IntN(5)
				}
				shape, stride := list(rank), list(rank)
				if r.IntN(6) == 0 {
					shape, stride = "["+shape+","+shape+"]", "["+stride+","+stride+"]"
				}
				shapes, strides = append(shapes, shape), append(strides, stride)
				types = append(types, []string{float, `"c10::BFloat16"`, `"bool"`, `"c10::odd"`, `"TensorList"`}[r.IntN(5)])
				arguments = append(arguments, []string{`""`, `"[0]"`, `"1"`, `"-1"`, `"[0, 1]"`}[r.IntN(5)])
			}
			e.shapes, e.strides, e.types, e.arguments = strings.Join(shapes, ","), strings.Join(strides, ","), strings.Join(types, ","), strings.Join(arguments, ",")
			events = append(events, e)
		}
		text := trace(events...)
		p, err := operators.Read(operators.File{Name: "f", Reader: strings.NewReader(text)})
		if err != nil {
			continue
		}
		b, err := Of(context.Background(), p, typical(t), nil)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		for _, i := range b.Operators {
			if !(i.Layout >= 0 && i.Layout <= i.Ns) {
				t.Errorf("%s: layout %v of %v ns\n%s", i.Op, i.Layout, i.Ns, text)
			}
		}
		if _, err := b.Suite(Limits{Budget: time.Minute, Memory: 1 << 30}); err != nil && err != errNoSuite {
			t.Errorf("%v\n%s", err, text)
		}
	}
}
