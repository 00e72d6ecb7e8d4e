package layouts_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stridebench/stridebench/layouts"
)

// What a view is, why it is not contiguous, and where its elements lie.
func ExampleLayout_WhyContiguous() {
	stored, err := layouts.Contiguous(3, 4)
	if err != nil {
		fmt.Println(err)
		return
	}
	view, err := stored.Apply(layouts.MustParseChain("transpose(0,1)"))
	if err != nil {
		fmt.Println(err)
		return
	}
	text, err := layouts.SideBySide(stored, view, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(view.Facts(layouts.Float32), view.WhyContiguous(), text)
	// Output:
	// shape       (4, 3)
	// strides     (1, 4) elements, (4, 16) bytes of float32
	// offset      0 elements, 0 bytes
	// elements    12
	// contiguous  no
	// overlap     no
	// Contiguous means: from the last dim on, each stride is the product of the sizes after it.
	//   dim 1: stride 4, but 1 would be contiguous: this dim breaks it
	// storage, in order    view
	//  0  1  2  3          tensor([[ 0,  4,  8],
	//  4  5  6  7                  [ 1,  5,  9],
	//  8  9 10 11                  [ 2,  6, 10],
	//                              [ 3,  7, 11]])
}

// TestSideBySide: what is no tensor of PyTorch's, or too large, is told in words.
func TestSideBySide(t *testing.T) {
	for shape, want := range map[int]string{4: "flip copies.\nIt visits the storage in this order:\n3 2 1 0\n", 500: "flip copies.\nStorage and view are printed for up to 400 elements"} {
		stored, err := layouts.Contiguous(shape)
		if err != nil {
			t.Fatal(err)
		}
		view, err := stored.Flip(0)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := layouts.SideBySide(stored, view, 0); err != nil || !strings.Contains(got, want) {
			t.Errorf("%d elements: %q, %v", shape, got, err)
		}
	}
}

// TestPictureWithin: where there are too few columns for a storage beside a view, it is above it.
func TestPictureWithin(t *testing.T) {
	p := layouts.Picture{Shape: []int{3, 4}, DType: layouts.Float32, View: layouts.MustParseChain("t()")}
	const above = "\nstorage, in order\n 0  1  2  3\n 4  5  6  7\n 8  9 10 11\n\nview\ntensor([[ 0,  4,  8],\n        [ 1,  5,  9],\n        [ 2,  6, 10],\n        [ 3,  7, 11]])\n"
	for columns, want := range map[int]string{0: "", 43: "", 42: above, 20: above} { // 17, 4 and 22 are 43
		p.Columns = columns
		_, drawing, err := p.Text()
		if err != nil || want != "" && drawing != want || want == "" && !strings.HasPrefix(drawing, "\nstorage, in order    view\n 0  1  2  3          tensor([[ 0,  4,  8],\n") {
			t.Errorf("in %d columns: %v\n%s", columns, err, drawing)
		}
	}
	p.View, p.Columns = layouts.MustParseChain("t().contiguous()"), 30
	if _, drawing, err := p.Text(); err != nil || !strings.Contains(drawing, "\n\nview\n") {
		t.Errorf("of a copy: %v\n%s", err, drawing)
	}
}

// TestPictureOfTooMuch: as in PyTorch, bytes that an int cannot count are no storage, and of what may be
// stored all figures are right.
func TestPictureOfTooMuch(t *testing.T) {
	const gib4 = 1 << 32
	for _, test := range []struct {
		p    layouts.Picture
		want string
	}{
		{layouts.Picture{Shape: []int{gib4, gib4 / 8}, DType: layouts.Float32}, "shape 4294967296x536870912: "},
		{layouts.Picture{Shape: []int{gib4, gib4 / 8}, DType: layouts.Int8, View: layouts.MustParseChain("float().bool()")}, `view "float().bool()": float: `},
		{layouts.Picture{Shape: []int{4}, DType: layouts.Int8, View: layouts.MustParseChain("expand(576460752303423488,4).clone().double()")}, "double: "},
		{layouts.Picture{Shape: []int{gib4, gib4/8 - 1}, DType: layouts.Float32, Format: must(layouts.ParseTag("aB16b"))}, "format aB16b: "},
	} {
		text, _, err := test.p.Text()
		if err == nil || !strings.Contains(err.Error(), test.want) || !strings.HasSuffix(err.Error(), "more bytes than an int can count") {
			t.Errorf("%+v: %v\n%s", test.p, err, text)
		}
	}
	for _, test := range []struct {
		shape []int
		view  string
		want  string
	}{
		{[]int{gib4 - 1, gib4 / 8}, "[-1]", "offset      2305843008139952128 elements, 9223372032559808512 bytes\n"},
		{[]int{0, gib4, gib4 / 8}, "", "strides     (2305843009213693952, 536870912, 1) elements, (9223372036854775808, 2147483648, 4) bytes of float32\n"},
		{[]int{4}, "unfold(0,1,9223372036854775807)", "strides     (9223372036854775807, 1) elements, (36893488147419103228, 4) bytes of float32\n"},
	} {
		p := layouts.Picture{Shape: test.shape, DType: layouts.Float32, View: layouts.MustParseChain(test.view)}
		if text, _, err := p.Text(); err != nil || !strings.Contains(text, test.want) {
			t.Errorf("%v %s: %v\n%s", test.shape, test.view, err, text)
		}
	}
}
