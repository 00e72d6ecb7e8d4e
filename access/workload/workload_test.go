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
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/kernel"
	"github.com/stridebench/stridebench/layouts"
)

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
	if diff := cmp.Diff(want, groups(w)); diff != "" {
		t.Error(diff)
	}
	spec := w.Comparisons[0][3].Spec
	if diff := cmp.Diff(access.Spec{Op: access.Sum, Shape: []int{64, 48}, Pad: 16, DType: layouts.Int32, Order: access.Col, Kernel: access.Scalar}, spec, cmpopts.EquateComparable(access.Order{}, access.Kernel{})); diff != "" {
		t.Error(diff)
	}
	if err := w.Errorf(w.Comparisons[2][1].Name, "is large"); err.Error() != "f:8:6: is large" {
		t.Error(err)
	}
}

// TestVector: the word stands for the best kernels of this CPU, where they can
// walk the rest.
func TestVector(t *testing.T) {
	w, err := Parse("f", []byte(head+"  - {tensor: a, order: [row, col], kernel: [scalar, vector]}\n"))
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
		err.Error() != "f:6:3: nothing to run: this CPU has no vector kernels that walk any of these" {
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
	w, err := Parse("f", []byte(head+"  - {tensor: a, view: ['view(torch.float32)', none, 'view(torch.float32).t()', t()]}\n"))
	if err != nil || len(w.Comparisons) != 2 || len(w.Comparisons[0]) != 2 || len(w.Comparisons[1]) != 2 {
		t.Errorf("%v, %v", groups(w), err)
	}
}

// TestNamesStay: whatever the order of entries and lists, the benchmarks and
// their names are the same.
func TestNamesStay(t *testing.T) {
	entries := []string{
		"  - {tensor: %s, order: %s}\n", "  - {tensor: %s, order: %s, op: copy}\n", "  - {tensor: %s, order: %s, op: add, with: 64x1, name: x}\n",
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
		{"", "f: no benchmarks (want a list of them)"},
		{"benchmarks: []\n", "f:1:13: no benchmarks"},
		{"benchmarks: 3\n", "f:1:13: "},
		{"tensor: 3\n", `f:1:1: unknown field "tensor" (want one of tensors, benchmarks)`},
		{"tensors:\n  a: {shape: 4, dtyp: int8}\n", `f:2:17: unknown field "dtyp" (want one of shape, dtype, pad)`},
		{"tensors:\n  a: {dtype: int8}\n", "f:2:7: tensor a has no shape (such as shape: 4000x4000)"},
		{"tensors:\n  a: {shape: [4, 4]}\n", "f:2:14: a list (want a word or a number; sizes are joined by x: 64x64)"},
		{"tensors:\n  a: {shape: 4x}\n", `f:2:14: shape "4x": a size is missing (want non-negative integers joined by x`},
		{"tensors:\n  a: {shape: 4294967296x4294967296}\n", `f:2:14: shape "4294967296x4294967296": `},
		{"tensors:\n  a: {shape: 2147483648x2147483648, dtype: float64}\n", "f:2:14: shape 2147483648x2147483648: of float64 it is more bytes than the address space holds"},
		{"tensors:\n  a: {shape: " + strings.Repeat("1x", 64) + "1}\n", "f:2:14: 65 dims (want at most 64)"},
		{"tensors:\n  a: {shape: 4, dtype: int23}\n", `f:2:24: dtype "int23": no such dtype (known: bool, `},
		{"tensors:\n  a: {shape: 4, pad: -1}\n", "f:2:22: pad -1: negative"},
		{"tensors:\n  a: {shape: 4, pad: 1.5}\n", "f:2:22: 1.5 where a whole number is wanted"},
		{"tensors:\n  a: {shape: 4x4, pad: 9223372036854775807}\n", "f:2:24: pad 9223372036854775807: more than the address space holds"},
		{"tensors:\n  a b: {shape: 4}\n", `f:2:3: "a b" is not a name of a tensor (want letters`},
		{"tensors:\n  a: {shape: 4}\n  a: {shape: 5}\n", `f:3:3: mapping key "a" already defined`},
		{head + "  - {order: col}\n", "f:6:6: no tensor (there are a, b, c)"},
		{"benchmarks:\n  - {order: col}\n", "f:2:6: no tensor (there are none)"},
		{head + "  - {tensor: d}\n", `f:6:14: tensor "d" is not among the tensors (there are a, b, c)`},
		{head + "  - {tensor: a, tiles: 2x2}\n", `f:6:17: unknown field "tiles" (want one of name, tensor, view, op, with, from, to, order, tile, kernel, operands, dims, twin)`},
		{head + "  - {tensor: a, view: []}\n", "f:6:23: an empty list (want one value or more, or leave the key out)"},
		{head + "  - {tensor: a, view: ''}\n", "f:6:23: a view of 0 characters (want none, or a chain"},
		{head + "  - {tensor: a, view: [none, {t: 1}]}\n", "f:6:30: no value"},
		{head + "  - {tensor: a, view: [none, 'transpose(0,2)']}\n", `f:6:30: view "transpose(0,2)": transpose: dim 2 is out of range`},
		{head + "  - {tensor: a, view: [transpose(0,1)]}\n", `f:6:24: view "transpose(0": transpose: the parenthesis is not closed in "transpose(0"; in brackets commas part the values: quote a view that has one`},
		{head + "  - {tensor: a, view: t().reshape(-1)}\n", `f:6:23: view "t().reshape(-1)": reshape copies here, since`},
		{head + "  - {tensor: a, op: mul}\n", `f:6:21: op "mul": no such operation (known: sum, fill, copy, add`},
		{head + "  - {tensor: a, op: chase}\n", "f:2:28: dtype int32: a chase reads addresses, which are of int64: want int64"},
		{"tensors:\n  a: {shape: 4294967295, dtype: int64}\nbenchmarks:\n  - {tensor: a, op: chase}\n", "f:2:14: shape 4294967295: a chase goes round at most 16777216 elements"},
		{head + "  - {tensor: a, op: add}\n", "f:6:6: op add wants the shape of the tensor to add (such as with: 1x4000)"},
		{head + "  - {tensor: a, with: 1x48}\n", "f:6:23: with goes with op: add"},
		{head + "  - {tensor: a, op: add, with: [1x48, 2x48]}\n", "f:6:39: with 2x48: broadcast: sizes 64 and 2 of dim -2"},
		{head + "  - {tensor: a, order: [row, up]}\n", `f:6:30: order "up": "up" is not a dim`},
		{head + "  - {tensor: c, order: '1,0'}\n", `f:6:24: order "1,0": not each of the view's 3 dims once`},
		{head + "  - {tensor: a, tile: 32}\n", "f:6:23: tile 32: 1 sizes for the 2 dims"},
		{head + "  - {tensor: a, tile: 0x4}\n", "f:6:23: tile 0x4: size 0 of dim 0 is not positive"},
		{head + "  - {tensor: a, tile: big}\n", `f:6:23: tile "big": "big" is not a size`},
		{head + "  - {tensor: a, kernel: mmx}\n", "f:6:25: kernel \"mmx\": no such kernel (there are scalar, builtin, portable, avx2-blocks, avx2, avx512, neon)"},
		{head + "  - {tensor: a, kernel: portable, order: col}\n", "f:6:25: kernel portable: elements that are walked"},
		{head + "  - {tensor: a, name: a/b}\n", `f:6:23: "a/b" is not a name of benchmarks`},
		{head + "  - {tensor: a, name: run-2}\n", `f:6:23: "run-2" is not a name of benchmarks (want letters, digits, _ . -, at most 64, a letter first, no -<digits> last)`},
		{head + "  - {tensor: a}\n  - tensor: a\n", "f:7:5: Traverse/op=sum/order=row/shape=64x48/dtype=int32/kernel=scalar is on line 6 already (a name: would tell them apart)"},
		{head + "  - {tensor: [a, a]}\n", "f:6:6: Traverse/op=sum/order=row/shape=64x48/dtype=int32/kernel=scalar comes twice of this entry: leave one of two like values out"},
		{head + "  - {tensor: a, order: [" + strings.Repeat("row,", 1000) + "row]}\n", "f:6:6: more than 1000 benchmarks in a file"},
		{head + "  - {tensor: a, order: [" + strings.Repeat("row,", 40) + "row], tile: [" + strings.Repeat("2x2,", 40) + "2x2]}\n", "f:6:6: more than 1000 benchmarks in a file"},
		{"tensors:\n  e: {shape: 0x4}\nbenchmarks:\n  - {tensor: e}\n", "f:4:6: Traverse/op=sum/order=row/shape=0x4/dtype=float32/kernel=scalar: the view has no element to time"},
	} {
		_, err := Parse("f", []byte(test.text))
		if err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%.300q gives %v\nwant %s", test.text, err, test.want)
		}
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
	f.Add(head + "  - {tensor: [a, b], order: [row, col, '1,0'], tile: [none, 7x5], op: [copy, fill], kernel: [scalar, vector, builtin]}\n")
	f.Add(head + "  - {tensor: c, view: 'as_strided((2,2),(1,2),3).flip(0)', op: add, with: '2', name: x}\n")
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
				if err != nil && !errors.Is(err, access.ErrForeign) {
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
	if diff := cmp.Diff(want, groups(w)); diff != "" {
		t.Error(diff)
	}
	for text, want := range map[string]string{
		"{tensor: c, op: reorder, from: abc}":            "f:6:6: op reorder wants the format that it makes (such as to: aBcd16b)",
		"{tensor: c, op: reorder, to: abc}":              "f:6:21: op reorder: it wants the format that x is in (from, such as abcd)",
		"{tensor: c, op: sum, from: aBc4b, to: abc}":     "f:6:43: to goes with op: reorder",
		"{tensor: c, op: reorder, from: aBc, to: abc}":   `f:6:36: from "aBc": format "aBc", character 4: B has no block after the dims, such as aBc16b; without one it is b`,
		"{tensor: a, op: reorder, from: abc, to: abc}":   "f:6:36: from abc: format abc has 3 dims, shape 64x48 has 2",
		"{tensor: b, op: sum, from: ba}":                 "f:6:6: pad 16: a format says itself how far its rows are apart",
		"{tensor: c, op: sum, from: cab, view: flip(0)}": `f:6:43: view "flip(0)": a tensor in a format has no views`,
	} {
		if _, err := Parse("f", []byte(head+"  - "+text)); err == nil || err.Error() != want {
			t.Errorf("%s:\n%v\nwant\n%s", text, err, want)
		}
	}
}
