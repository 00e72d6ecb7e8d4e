package workload

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/kernel"
	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/layouts/blocked"
)

// sameText compares chains of views and formats by the texts that they were read from.
var sameText = cmp.Options{
	cmp.Comparer(func(a, b layouts.Chain) bool { return a.String() == b.String() }),
	cmp.Comparer(func(a, b blocked.Tag) bool { return a.String() == b.String() }),
}

// checkError wants an error that begins with a place and names all else of a list.
func checkError(t *testing.T, text string, err error, want string) {
	t.Helper()
	place, others, _ := strings.Cut(want, " | ")
	if err == nil || !strings.HasPrefix(err.Error(), place) {
		t.Errorf("%.300q gives %v, want %s", text, err, want)
		return
	}
	for other := range strings.SplitSeq(others, " | ") {
		if !strings.Contains(err.Error(), other) {
			t.Errorf("%.300q gives %v, want %q", text, err, other)
		}
	}
}

// groups are the names of each comparison.
func groups(w Workload) [][]string {
	var all [][]string
	for _, c := range w.Comparisons {
		var names []string
		for _, b := range c {
			names = append(names, b.Name)
		}
		all = append(all, names)
	}
	return all
}

const head = `tensors:
  a: {shape: 64x48, dtype: int32}
  b: {shape: 64x48, dtype: int32, pad: 16}
  c: {shape: 8x8x8}
benchmarks:
`

// TestParse: an entry is the product of its lists, in comparisons of one
// operation and dtype, with the names that the flags of bench run give.
func TestParse(t *testing.T) {
	w, err := Parse("f", []byte(head+`
  - {tensor: [a, b], order: [row, col]}
  - {tensor: [a, c], op: [copy, add], with: ["1", 1x1], name: both}
  - {tensor: c, view: ["permute(2,0,1)", none], op: copy, tile: [none, 2x4x2], order: "0,2,1"}
`))
	if err != nil {
		t.Fatal(err)
	}
	want := [][]string{{
		"Traverse/op=sum/order=row/shape=64x48/dtype=int32/kernel=scalar",
		"Traverse/op=sum/order=col/shape=64x48/dtype=int32/kernel=scalar",
		"Traverse/op=sum/order=row/shape=64x48/dtype=int32/pad=16/kernel=scalar",
		"Traverse/op=sum/order=col/shape=64x48/dtype=int32/pad=16/kernel=scalar",
	}, {
		"Copy/name=both/layout=contiguous/shape=64x48/dtype=int32/kernel=scalar",
	}, {
		"Broadcast/name=both/op=add/with=1/order=row/shape=64x48/dtype=int32/kernel=scalar",
		"Broadcast/name=both/op=add/with=1x1/order=row/shape=64x48/dtype=int32/kernel=scalar",
	}, {
		"Copy/name=both/layout=contiguous/shape=8x8x8/dtype=float32/kernel=scalar",
	}, {
		"Broadcast/name=both/op=add/with=1/order=row/shape=8x8x8/dtype=float32/kernel=scalar",
		"Broadcast/name=both/op=add/with=1x1/order=row/shape=8x8x8/dtype=float32/kernel=scalar",
	}, {
		"Copy/layout=view/order=0,2,1/shape=8x8x8/dtype=float32/view=permute(2,0,1)/kernel=scalar",
		"Copy/layout=view/order=0,2,1/shape=8x8x8/dtype=float32/view=permute(2,0,1)/tile=2x4x2/kernel=scalar",
		"Copy/layout=contiguous/order=0,2,1/shape=8x8x8/dtype=float32/kernel=scalar",
		"Copy/layout=contiguous/order=0,2,1/shape=8x8x8/dtype=float32/tile=2x4x2/kernel=scalar",
	}}
	if diff := cmp.Diff(want, groups(w), sameText); diff != "" {
		t.Error(diff)
	}
	spec := w.Comparisons[0][3].Spec
	if diff := cmp.Diff(access.Spec{Op: access.Sum, Shape: []int{64, 48}, Pad: 16,
		DType: layouts.Int32, Order: access.Col, Kernel: access.Scalar}, spec,
		sameText); diff != "" {
		t.Error(diff)
	}
	if err := w.Errorf(w.Comparisons[2][1].Name, "is large"); err.Error() != "f:8:6: is large" {
		t.Error(err)
	}
}

// TestVector: the word stands for the best kernels of this CPU, where they can
// walk the rest.
func TestVector(t *testing.T) {
	w, err := Parse("f", []byte(head+"  - {tensor: a, order: [row, col], kernel: [scalar, "+
		"vector]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"row/scalar", "col/scalar"}
	if len(kernel.Sets()) > 1 {
		want = []string{"row/scalar", "row/" + kernel.Best().Name(), "col/scalar"}
	}
	var got []string
	for _, b := range w.Comparisons[0] {
		got = append(got, b.Spec.Order.String()+"/"+b.Spec.Kernel.String())
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if _, err := Parse("f", []byte(head+"  - {tensor: a, order: col, kernel: vector}\n")); err == nil ||
		!strings.HasPrefix(err.Error(), "f:6:3: ") ||
		!strings.Contains(err.Error(), "vector kernels") {
		t.Error(err)
	}
}

// TestEverySet: a file that names sets of kernels has the same benchmarks on
// every CPU.
func TestEverySet(t *testing.T) {
	w, err := Parse("f", []byte(head+"  - {tensor: a, kernel: [scalar, portable, avx2, avx512]}\n"))
	if err != nil || len(w.Comparisons) != 1 || len(w.Comparisons[0]) != 4 {
		t.Errorf("%v, %v", groups(w), err)
	}
}

// TestViewsOfDTypes: what a view makes elements of another dtype of is compared with its like.
func TestViewsOfDTypes(t *testing.T) {
	w, err := Parse("f", []byte(head+"  - {tensor: a, view: ['view(torch.float32)', none, "+
		"'view(torch.float32).t()', t()]}\n"))
	if err != nil || len(w.Comparisons) != 2 || len(w.Comparisons[0]) != 2 ||
		len(w.Comparisons[1]) != 2 {
		t.Errorf("%v, %v", groups(w), err)
	}
}

// TestNamesStay: whatever the order of entries and lists, the benchmarks and
// their names are the same.
func TestNamesStay(t *testing.T) {
	entries := []string{
		"  - {tensor: %s, order: %s}\n", "  - {tensor: %s, order: %s, op: copy}\n",
		"  - {tensor: %s, order: %s, op: add, with: 64x1, name: x}\n",
	}
	var want []string
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		shuffled := func(list ...string) string {
			r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
			return "[" + strings.Join(list, ", ") + "]"
		}
		r.Shuffle(len(entries), func(i, j int) { entries[i], entries[j] = entries[j], entries[i] })
		text := head
		for _, e := range entries {
			text += fmt.Sprintf(e, shuffled("a", "b"), shuffled("row", "col", `"-1,0"`))
		}
		w, err := Parse("f", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		got := slices.Sorted(slices.Values(slices.Concat(groups(w)...)))
		if want == nil {
			want = got
		}
		if !slices.Equal(got, want) || len(got) != 18 {
			t.Fatalf("%s\nmakes %v, want %v", text, got, want)
		}
	}
}

// TestErrors: what is wrong, where, and what would be right.
func TestErrors(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"", "f: | no benchmarks"},
		{"benchmarks: []\n", "f:1:13: | no benchmarks"},
		{"benchmarks: 3\n", "f:1:13:"},
		{"tensor: 3\n", `f:1:1: | "tensor" | tensors, benchmarks`},
		{"tensors:\n  a: {shape: 4, dtyp: int8}\n", `f:2:17: | "dtyp" | shape, dtype, pad`},
		{"tensors:\n  a: {dtype: int8}\n", "f:2:7: | tensor a | shape: 4000x4000"},
		{"tensors:\n  a: {shape: [4, 4]}\n", "f:2:14: | list | 64x64"},
		{"tensors:\n  a: {shape: 4x}\n", `f:2:14: | "4x" | non-negative integers joined by x`},
		{"tensors:\n  a: {shape: 4294967296x4294967296}\n", `f:2:14: | "4294967296x4294967296"`},
		{"tensors:\n  a: {shape: 2147483648x2147483648, dtype: float64}\n",
			"f:2:14: | 2147483648x2147483648 | float64"},
		{"tensors:\n  a: {shape: " + strings.Repeat("1x", 64) + "1}\n",
			"f:2:14: | 65 dims | at most 64"},
		{"tensors:\n  a: {shape: 4, dtype: int23}\n", `f:2:24: | "int23" | bool,`},
		{"tensors:\n  a: {shape: 4, pad: -1}\n", "f:2:22: | pad -1 | negative"},
		{"tensors:\n  a: {shape: 4, pad: 1.5}\n", "f:2:22: | 1.5 | whole number"},
		{"tensors:\n  a: {shape: 4x4, pad: 9223372036854775807}\n",
			"f:2:24: | pad 9223372036854775807"},
		{"tensors:\n  a b: {shape: 4}\n", `f:2:3: | "a b" | letters`},
		{"tensors:\n  a: {shape: 4}\n  a: {shape: 5}\n", `f:3:3: | "a"`},
		{head + "  - {order: col}\n", "f:6:6: | no tensor | a, b, c"},
		{"benchmarks:\n  - {order: col}\n", "f:2:6: | no tensor | none"},
		{head + "  - {tensor: d}\n", `f:6:14: | "d" | a, b, c`},
		{head + "  - {tensor: a, tiles: 2x2}\n",
			`f:6:17: | "tiles" | name, tensor, view, op, with, from, to, order, tile, kernel, operands`},
		{head + "  - {tensor: a, view: []}\n", "f:6:23: | empty list"},
		{head + "  - {tensor: a, view: ''}\n", "f:6:23: | view | none"},
		{head + "  - {tensor: a, view: [none, {t: 1}]}\n", "f:6:30: | no value"},
		{head + "  - {tensor: a, view: [none, 'transpose(0,2)']}\n",
			`f:6:30: | "transpose(0,2)" | dim 2`},
		{head + "  - {tensor: a, view: [transpose(0,1)]}\n",
			`f:6:24: | "transpose(0" | a comma or ) | quote`},
		{head + "  - {tensor: a, view: t().reshape(-1)}\n", `f:6:23: | "t().reshape(-1)" | copies`},
		{head + "  - {tensor: a, op: mul}\n", `f:6:21: | "mul" | sum, fill, copy, add`},
		{head + "  - {tensor: a, op: chase}\n", "f:2:28: | dtype int32 | want int64"},
		{"tensors:\n  a: {shape: 4294967295, dtype: int64}\nbenchmarks:\n  - {tensor: a, op: " +
			"chase}\n",
			"f:2:14: | shape 4294967295 | 16777216"},
		{head + "  - {tensor: a, op: add}\n", "f:6:6: | op add | with: 1x4000"},
		{head + "  - {tensor: a, with: 1x48}\n", "f:6:23: | with | op: add"},
		{head + "  - {tensor: a, op: add, with: [1x48, 2x48]}\n",
			"f:6:39: | with 2x48 | 64 and 2 | dim -2"},
		{head + "  - {tensor: a, order: [row, up]}\n", `f:6:30: | "up"`},
		{head + "  - {tensor: c, order: '1,0'}\n", `f:6:24: | "1,0" | 3 dims`},
		{head + "  - {tensor: a, tile: 32}\n", "f:6:23: | tile 32 | 2 dims"},
		{head + "  - {tensor: a, tile: 0x4}\n", "f:6:23: | tile 0x4 | dim 0"},
		{head + "  - {tensor: a, tile: big}\n", `f:6:23: | "big"`},
		{head + "  - {tensor: a, kernel: mmx}\n",
			`f:6:25: | "mmx" | scalar, builtin, portable, avx2-blocks, avx2, avx512, neon`},
		{head + "  - {tensor: a, kernel: portable, order: col}\n", "f:6:25: | kernel portable"},
		{head + "  - {tensor: a, name: a/b}\n", `f:6:23: | "a/b"`},
		{head + "  - {tensor: a, name: run-2}\n",
			`f:6:23: | "run-2" | letters, digits, _ . -, at most 64, a letter first, no -<digits> last`},
		{head + "  - {tensor: a}\n  - tensor: a\n",
			"f:7:5: | Traverse/op=sum/order=row/shape=64x48/dtype=int32/kernel=scalar | line 6 " +
				"| name:"},
		{head + "  - {tensor: [a, a]}\n",
			"f:6:6: | Traverse/op=sum/order=row/shape=64x48/dtype=int32/kernel=scalar | twice"},
		{head + "  - {tensor: a, order: [" + strings.Repeat("row,", 1000) + "row]}\n",
			"f:6:6: | 1000 benchmarks"},
		{head + "  - {tensor: a, order: [" + strings.Repeat("row,", 40) + "row], " +
			"tile: [" + strings.Repeat("2x2,", 40) + "2x2]}\n",
			"f:6:6: | 1000 benchmarks"},
		{"tensors:\n  e: {shape: 0x4}\nbenchmarks:\n  - {tensor: e}\n",
			"f:4:6: | Traverse/op=sum/order=row/shape=0x4/dtype=float32/kernel=scalar | no element"},
	} {
		_, err := Parse("f", []byte(test.text))
		checkError(t, test.text, err, test.want)
	}
}

// TestDocs: the example is the one that docs/workload.md shows, and it makes
// benchmarks.
func TestDocs(t *testing.T) {
	example, err := os.ReadFile("../../docs/example/workload.yaml")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../docs/workload.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), "```yaml\n"+string(example)+"```\n") {
		t.Error("docs/workload.md does not show docs/example/workload.yaml")
	}
	w, err := Parse("workload.yaml", example)
	if err != nil || len(w.Comparisons) != 4 {
		t.Errorf("%v, %v", groups(w), err)
	}
}

// FuzzParse: what is read has patterns that can be timed and names that are
// told apart; what is not gives an error with the file.
func FuzzParse(f *testing.F) {
	example, err := os.ReadFile("../../docs/example/workload.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(example))
	f.Add(head + "  - {tensor: [a, b], order: [row, col, '1,0'], tile: [none, 7x5], op: [copy, " +
		"fill], kernel: [scalar, vector, builtin]}\n")
	f.Add(head + "  - {tensor: c, view: 'as_strided((2,2),(1,2),3).flip(0)', op: add, with: '2', " +
		"name: x}\n")
	f.Fuzz(func(t *testing.T, text string) {
		w, err := Parse("f", []byte(text))
		if err != nil {
			if !strings.HasPrefix(err.Error(), "f:") {
				t.Errorf("error %q", err)
			}
			return
		}
		names := map[string]bool{}
		for _, c := range w.Comparisons {
			for _, b := range c {
				if names[b.Name] || strings.ContainsAny(b.Name, " \t\n") || procs(b.Name) {
					t.Errorf("the name %q is taken or malformed", b.Name)
				}
				names[b.Name] = true
				if b.Spec.Op != c[0].Spec.Op || b.Spec.DType != c[0].Spec.DType {
					t.Errorf("%s cannot be compared with %s", b.Name, c[0].Name)
				}
				p, err := b.Spec.Pattern()
				if err == nil {
					err = access.Measurable(p, 0)
				}
				if _, foreign := errors.AsType[*access.FieldError](err); err != nil && !foreign {
					t.Errorf("%s: %v", b.Name, err)
				}
				if e := w.Errorf(b.Name, "x").Error(); !strings.HasPrefix(e, "f:") {
					t.Error(e)
				}
			}
		}
		if len(names) == 0 || len(names) > maxBenchmarks {
			t.Errorf("%d benchmarks", len(names))
		}
	})
}

// TestFormats: tensors in formats, and conversions of them, are entries like others.
func TestFormats(t *testing.T) {
	w, err := Parse("f", []byte(head+`
  - {tensor: c, op: [reorder, sum], from: [abc, aBc4b], to: [Abc8a, cab], order: [row, from]}
`))
	if err != nil {
		t.Fatal(err)
	}
	want := [][]string{{
		"Reorder/from=abc/to=Abc8a/shape=8x8x8/dtype=float32/kernel=scalar",
		"Reorder/from=abc/to=Abc8a/order=from/shape=8x8x8/dtype=float32/kernel=scalar",
		"Reorder/from=abc/to=cab/shape=8x8x8/dtype=float32/kernel=scalar",
		"Reorder/from=abc/to=cab/order=from/shape=8x8x8/dtype=float32/kernel=scalar",
		"Reorder/from=aBc4b/to=Abc8a/shape=8x8x8/dtype=float32/kernel=scalar",
		"Reorder/from=aBc4b/to=Abc8a/order=from/shape=8x8x8/dtype=float32/kernel=scalar",
		"Reorder/from=aBc4b/to=cab/shape=8x8x8/dtype=float32/kernel=scalar",
		"Reorder/from=aBc4b/to=cab/order=from/shape=8x8x8/dtype=float32/kernel=scalar",
	}, {
		"Traverse/op=sum/order=row/shape=8x8x8/dtype=float32/from=abc/kernel=scalar",
		"Traverse/op=sum/order=from/shape=8x8x8/dtype=float32/from=abc/kernel=scalar",
		"Traverse/op=sum/order=row/shape=8x8x8/dtype=float32/from=aBc4b/kernel=scalar",
		"Traverse/op=sum/order=from/shape=8x8x8/dtype=float32/from=aBc4b/kernel=scalar",
	}}
	if diff := cmp.Diff(want, groups(w), sameText); diff != "" {
		t.Error(diff)
	}
	for text, want := range map[string]string{
		"{tensor: c, op: reorder, from: abc}":            "f:6:6: | op reorder | to: aBcd16b",
		"{tensor: c, op: reorder, to: abc}":              "f:6:21: | op reorder | from",
		"{tensor: c, op: sum, from: aBc4b, to: abc}":     "f:6:43: | to | op: reorder",
		"{tensor: c, op: reorder, from: aBc, to: abc}":   `f:6:36: | "aBc"`,
		"{tensor: a, op: reorder, from: abc, to: abc}":   "f:6:36: | abc | 3 dims | 64x48",
		"{tensor: b, op: sum, from: ba}":                 "f:6:6: | pad 16 | format",
		"{tensor: c, op: sum, from: cab, view: flip(0)}": `f:6:43: | "flip(0)"`,
	} {
		_, err := Parse("f", []byte(head+"  - "+text))
		checkError(t, text, err, want)
	}
}
