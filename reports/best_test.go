package reports

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stridebench/stridebench/results"
)

// TestBestApart: copies of the suite that do different work are not choices of one, and a number
// says of what it is.
func TestBestApart(t *testing.T) {
	for name, want := range map[string]string{
		"Copy/layout=nchw-nhwc/shape=1x2x3x4/dtype=float32/kernel=scalar":           "copy nchw-nhwc 1x2x3x4 float32",
		"Copy/layout=columns/shape=8x8/dtype=float32/step=2/kernel=scalar":          "copy columns 8x8 float32 step 2",
		"Copy/layout=padded/shape=8x8/dtype=float32/pad=16/kernel=scalar":           "copy 8x8 float32",
		"Copy/layout=contiguous/shape=8x8/dtype=float32/kernel=scalar":              "copy 8x8 float32",
		"Copy/layout=view/shape=8x8/dtype=float32/view=t()/kernel=scalar":           "copy 8x8 float32 t()",
		"Broadcast/op=add/with=1x8/order=row/shape=8x8/dtype=float32/kernel=scalar": "broadcast add with 1x8 8x8 float32",
	} {
		if got, _ := taken(results.Row{Name: name + "/caches=a"}); got != want {
			t.Errorf("%s is of %q, want %q", name, got, want)
		}
	}
}

// TestBestLeftOut: what a chart has no room for, it says.
func TestBestLeftOut(t *testing.T) {
	var text strings.Builder
	for n := range maxTensors + 6 {
		for k := range maxCaches + 2 {
			for _, order := range []string{"row", "col"} {
				fmt.Fprintf(&text, "BenchmarkTraverse/op=sum/order=%s/shape=%dx8/dtype=int32/kernel=scalar/caches=c%d 1 64 D-refs/op %d D1-misses/op 0 LL-misses/op\n", order, n+1, k, len(order)*n)
			}
		}
	}
	text.WriteString("BenchmarkTraverse/op=sum/order=col/shape=1x8/dtype=int32/tile=4/kernel=scalar/caches=c0 1 64 D-refs/op 9 D1-misses/op 0 LL-misses/op\n")
	set, err := results.Parse("sweep", []byte(text.String()))
	if err != nil {
		t.Fatal(err)
	}
	r, err := Make(set, Options{})
	if err != nil || len(r.Charts) != 1 {
		t.Fatal(r.Charts, err)
	}
	c := r.Charts[0]
	if strings.Contains(string(c.SVG), "…") || !strings.Contains(string(c.SVG), ">row<") {
		t.Error("what has no room for its gain is cut")
	}
	if want := fmt.Sprintf("Of %d combinations of tensor and operation on %d kinds of caches, ", maxTensors+6,
		maxCaches+2); !strings.HasPrefix(c.Sentence, want) {
		t.Errorf("%q, want %q first", c.Sentence, want)
	}
	for _, want := range []string{
		fmt.Sprintf("shown: the %d of %d tensors and operations with the largest effect",
			maxTensors, maxTensors+6),
		fmt.Sprintf("shown: the first %d of %d caches", maxCaches, maxCaches+2),
		"cycles as KCachegrind estimates them: 1 per access, plus 10 per D1 miss and 100 per " +
			"LL miss",
	} {
		if !strings.Contains(string(c.SVG), want) {
			t.Errorf("the chart does not say %q", want)
		}
	}
}
