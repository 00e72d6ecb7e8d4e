package reports

import (
	"bytes"
	"fmt"
	"image/png"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/layouts/blocked"
)

// drawingOf is what is drawn of views of a tensor.
func drawingOf(t *testing.T, p layouts.Picture, views ...string) layouts.Drawing {
	t.Helper()
	for _, view := range views {
		p.Views = append(p.Views, layouts.MustParseChain(view))
	}
	d, err := p.Drawing()
	if err != nil {
		t.Fatalf("%v: %v", views, err)
	}
	return d
}

// sightOf lays it out.
func sightOf(t *testing.T, d layouts.Drawing) *storagePicture {
	t.Helper()
	p, err := newStoragePicture(d)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The views that the tests draw, of tensors of up to 4 dims.
var views = []string{"", "t()", "x[1:, ::2]", "expand(3,2,5,4)", "flip(1)", "x[..., 1:3]", "x[-1]",
	"transpose(0,-1)", "unfold(-1,2,1)", "permute(0,2,3,1)", "diagonal()", "x[:, None]", "flatten()",
	"permute(0,2,3,1).contiguous()", "as_strided((3,4),(1,1))", "view(-1)"}

// TestStorage: up to 64 elements are there in full and in order; each place of the strip has a
// colour if and only if the view has it, and says how many elements share it; and larger views
// show the same of their corners.
func TestStorage(t *testing.T) {
	r, drawn := rand.New(rand.NewPCG(63, 1)), 0
	for range 400 {
		p := layouts.Picture{DType: layouts.Float32}
		for range 1 + r.IntN(4) {
			p.Shape = append(p.Shape, 1+r.IntN(6))
		}
		view, err := layouts.ParseChain(views[r.IntN(len(views))])
		if err != nil {
			t.Fatal(err)
		}
		p.Views = []layouts.Chain{view}
		d, err := p.Drawing()
		if err != nil {
			continue // of another rank
		}
		drawn++
		checkStorage(t, fmt.Sprintf("%v of %v", view, p.Shape), d)
	}
	for _, format := range []string{"nChw8c", "nhwc", "ABcd4b2a"} {
		checkStorage(t, format, blockedDrawing(t, format, 2, 5, 2, 3))
	}
	if drawn < 100 {
		t.Errorf("drawn %d", drawn)
	}
}

func checkStorage(t *testing.T, name string, d layouts.Drawing) {
	t.Helper()
	p, v := sightOf(t, d), d.Views[0]
	offsets, shared := slices.Collect(v.Offsets()), map[int]int{}
	for _, at := range offsets {
		shared[at]++
	}
	var cells []int
	for _, g := range p.grids {
		cells = append(cells, slices.Concat(g.rows...)...)
	}
	if whole := len(offsets) <= wholeCells; whole && !slices.Equal(cells, offsets) {
		t.Errorf("%s: cells %v, want %v", name, cells, offsets)
	} else if !whole && (cells[0] != offsets[0] || cells[len(cells)-1] != offsets[len(offsets)-1]) {
		t.Errorf("%s: cells %v of %v", name, cells, offsets)
	}
	strip := slices.Concat(p.strip...)
	if d.Storage <= wholeCells && !slices.Equal(strip, shownIn(d.Storage, true, 0)) {
		t.Errorf("%s: strip %v of %d elements", name, strip, d.Storage)
	}
	last := -1
	for i, at := range strip {
		switch {
		case at == gap:
			if i == 0 || i == len(strip)-1 || strip[i+1] <= last+1 {
				t.Errorf("%s: a gap of nothing: %v", name, strip)
			}
			continue
		case at <= last || at > last+1 && strip[i-1] != gap:
			t.Errorf("%s: strip %v", name, strip)
		case (p.shades[at] != nil) != (shared[at] > 0) || p.shared[at] != shared[at]:
			t.Errorf("%s: %d elements at %d, shown as %d, %v", name, shared[at], at, p.shared[at],
				p.shades[at])
		}
		last = at
	}
	for _, at := range cells {
		if at != gap && !slices.Contains(strip, at) {
			t.Errorf("%s: %d is not in the strip %v", name, at, strip)
		}
	}
}

// TestStorageTexts: what a SVG shows, in the order in which it is drawn.
func TestStorageTexts(t *testing.T) {
	text := regexp.MustCompile(`<text [^>]*>([^<]*)</text>`)
	of := func(view string, shape ...int) layouts.Drawing {
		return drawingOf(t, layouts.Picture{Shape: shape, DType: layouts.Float32}, view)
	}
	for _, c := range []struct {
		name string
		d    layouts.Drawing
		want []string // after the title, words in the footer left out
	}{
		{"broadcast", of("expand(2,2)", 1, 2),
			[]string{"expand(2,2)", "shape 2x2, strides (0, 1), offset 0", "0", "1", "0", "1",
				"storage, in order: 2 elements", "0", "×2", "1", "×2"}},
		{"slice with an offset", of("x[1:, 1:]", 2, 3),
			[]string{"x[1:, 1:]", "shape 1x2, strides (3, 1), offset 4", "4", "5",
				"storage, in order: 6 elements", "0", "1", "2", "3", "4", "5"}},
		{"values of a copy", of("t().contiguous()", 2, 2),
			[]string{"t().contiguous()", "shape 2x2, strides (2, 1), offset 0", "0", "2", "1", "3",
				"storage, in order: 4 elements", "0", "0", "2", "1", "3", "3"}},
		{"padding", blockedDrawing(t, "Ab2a", 3, 1),
			[]string{"Ab2a", "shape 3x1, padded to 4x1, strides ((2, 1), 2), offset 0", "0", "1", "2",
				"storage, in order: 4 elements", "0", "0", "1", "2", "3"}},
	} {
		chart, err := DrawLayout(c.d)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, found := range text.FindAllSubmatch(chart.SVG, -1) {
			got = append(got, string(found[1]))
		}
		foot := slices.IndexFunc(got, regexp.MustCompile("^Numbers").MatchString)
		got = slices.Delete(got[1:], foot-1, foot+len(wrapped(t, c.d))-1)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: -want +got\n%s", c.name, diff)
		}
	}
}

func blockedDrawing(t *testing.T, format string, shape ...int) layouts.Drawing {
	t.Helper()
	tag, err := blocked.Parse(format)
	if err != nil {
		t.Fatal(err)
	}
	d, err := blocked.Picture{Format: tag, Shape: shape, DType: layouts.Float32}.Drawing()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func wrapped(t *testing.T, d layouts.Drawing) []string {
	p := sightOf(t, d)
	return p.look.footer(p.legend()).lines
}

// TestStorageShared: two views of one storage have a colour each under what they have.
func TestStorageShared(t *testing.T) {
	square := layouts.Picture{Shape: []int{3, 3}, DType: layouts.Float32}
	p := sightOf(t, drawingOf(t, square, "x[0]", "x[:, 0]"))
	var both []int
	for at := range maps.Keys(p.seen[0]) {
		if p.seen[0][at] && p.seen[1][at] {
			both = append(both, at)
		}
	}
	if !slices.Equal(both, []int{0}) || p.shades[3] == nil || p.shades[4] != nil {
		t.Errorf("both have %v; colours %v", both, p.shades)
	}
	square.Views = []layouts.Chain{layouts.MustParseChain("x[0]"), layouts.MustParseChain("clone()")}
	_, err := square.Drawing()
	if err == nil || !strings.HasPrefix(err.Error(), `view "clone()": it copies`) {
		t.Errorf("a copy beside a view: %v", err)
	}
}

// TestStorageLarge: a view of more elements than are looked at is drawn by its corners alone.
func TestStorageLarge(t *testing.T) {
	large := layouts.Picture{Shape: []int{100_000, 100_000}, DType: layouts.Float32}
	p := sightOf(t, drawingOf(t, large, "x[::2, 1:]"))
	for _, at := range slices.Concat(p.strip...) {
		if at != gap && (p.shades[at] == nil || at%100_000 == 0 || at/100_000%2 == 1) {
			t.Errorf("%d, in no view, is shown: %v", at, p.strip)
		}
	}
	if first, last := p.strip[0][0], p.grids[0].rows[6][6]; first != 1 || last != 9999899999 {
		t.Errorf("from %d to %d", first, last)
	}
}

// TestPictures: a picture is known as one of ours, and a PNG is still one.
func TestPictures(t *testing.T) {
	pair := layouts.Picture{Shape: []int{2}, DType: layouts.Float32}
	chart, err := DrawLayout(drawingOf(t, pair))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a.png", "b.SVG"} {
		text, err := chart.Picture(name)
		if err != nil || !IsPicture(text) || IsPicture(chart.PNG) || IsPicture(chart.SVG) {
			t.Errorf("%s: %v, %d bytes", name, err, len(text))
		}
		if _, err := png.Decode(bytes.NewReader(text)); err != nil && name == "a.png" {
			t.Error(err)
		}
	}
	if _, err := chart.Picture("a.jpg"); err == nil {
		t.Error("a.jpg is drawn")
	}
}
