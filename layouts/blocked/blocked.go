// Package blocked is the program's own and promises nothing. It has oneDNN's blocked formats, such
// as nChw16c ("Understanding Memory Formats"; dnnl_types.h, dnnl_format_tag_t). A tag writes a
// format:
//
//	tag   = order {block}
//	order = a letter for each dim, the outermost in memory first
//	block = size letter
//
// Letters a, b, c ... name the dims. An upper-case letter counts whole blocks of its dim. The
// blocks hold the elements, the outermost block first. ABcd16b16a2b has blocks of 16 (a) by 32 (b)
// and keeps pairs of b together.
package blocked

import (
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/layouts/nest"
)

// A Tag is a format of oneDNN.
type Tag struct {
	order   []int // dims, the outermost in memory first
	blocks  []block
	written string // as Parse read it
}

type block struct{ dim, size int }

const (
	maxTagRank = 12      // oneDNN's DNNL_MAX_NDIMS, the limit of dims and of blocks
	maxBlock   = 1 << 16 // elements of a dim, far above what formats have
)

// domains list dims in logical order. Activations have batch n, channels c, depth d, height h,
// width w. Weights have groups g, channels o out and i in. Recurrent nets have time t, layers l,
// directions d and gates g.
var domains = []string{"x", "nc", "ncw", "nchw", "ncdhw", "oi", "oiw", "oihw", "oidhw", "goiw",
	"goihw", "goidhw",
	"tn", "tnc", "ldnc", "ldigo", "ldio", "ldgo"}

var (
	tagForm   = regexp.MustCompile(`^([A-Za-z]{1,12})((?:\d+[a-z]){0,12})$`)
	blockForm = regexp.MustCompile(`(\d+)([a-z])`)
)

// Parse reads a tag in letters of dims (aBcd16b) or in names of a domain (nChw16c, OIhw16i16o,
// ldigo). It applies oneDNN's rule, also to formats that a version of oneDNN lacks.
func Parse(text string) (Tag, error) {
	fault := func(format string, args ...any) (Tag, error) {
		return Tag{}, fmt.Errorf("format %q: %s", text, fmt.Sprintf(format, args...))
	}
	m := tagForm.FindStringSubmatch(text)
	if m == nil {
		return fault("want a letter for each dim and then blocks, such as abcd or nChw16c, at "+
			"most %d of each", maxTagRank)
	}
	letters := strings.ToLower(m[1])
	dims, ok := logicalDims(letters)
	if !ok {
		return fault("its dims are neither the first letters of the alphabet nor those of %s",
			strings.Join(domains, ", "))
	}
	t := Tag{written: text}
	for at := range letters {
		t.order = append(t.order, strings.IndexByte(dims, letters[at]))
	}
	for _, b := range blockForm.FindAllStringSubmatch(m[2], -1) {
		d := strings.Index(dims, b[2])
		size, err := strconv.Atoi(b[1])
		switch {
		case d < 0:
			return fault("block %s: %s is none of its dims", b[0], b[2])
		case err != nil || size < 2 || size > maxBlock || t.blockOf(d)*size > maxBlock ||
			b[1][0] == '0':
			return fault("block %s: want 2 to %d elements of a dim", b[0], maxBlock)
		}
		t.blocks = append(t.blocks, block{d, size})
	}
	for at, d := range t.order {
		if upper := m[1][at] != letters[at]; upper != (t.blockOf(d) > 1) {
			return fault("%c: a letter is in upper case if its dim has blocks, else in lower case",
				m[1][at])
		}
	}
	return t, nil
}

func logicalDims(letters string) (dims string, ok bool) {
	sorted := func(s string) string {
		b := []byte(s)
		slices.Sort(b)
		return string(b)
	}
	if dims = "abcdefghijkl"[:len(letters)]; sorted(letters) == dims {
		return dims, true
	}
	for _, d := range domains {
		if sorted(d) == sorted(letters) {
			return d, true
		}
	}
	return "", false
}

func (t Tag) blockOf(dim int) int {
	product := 1
	for _, b := range t.blocks {
		if b.dim == dim {
			product *= b.size
		}
	}
	return product
}

// Rank returns the number of dims.
func (t Tag) Rank() int { return len(t.order) }

// String returns the tag in letters of dims, as oneDNN does: nChw16c is "aBcd16b".
func (t Tag) String() string {
	var b strings.Builder
	for _, d := range t.order {
		first := 'a'
		if t.blockOf(d) > 1 {
			first = 'A'
		}
		b.WriteRune(first + rune(d))
	}
	for _, k := range t.blocks {
		b.WriteString(strconv.Itoa(k.size))
		b.WriteRune('a' + rune(k.dim))
	}
	return b.String()
}

// Written returns the tag as Parse read it.
func (t Tag) Written() string { return t.written }

// A Layout places the elements of a tensor whose dims may be split into blocks. A dim whose size
// its blocks do not divide is padded. Padding is in memory and has no index.
type Layout struct {
	rows layouts.Layout // row-major, of the shape without padding
	dims [][]digit
}

// A digit is a part of a dim's index. The first digit counts whole blocks, the last counts
// elements.
type digit struct{ size, stride int }

// Layout lays a shape out at offset 0. It refuses another number of dims, negative sizes, and a
// padded shape that an int cannot count.
func (t Tag) Layout(shape ...int) (Layout, error) {
	if len(shape) != t.Rank() {
		return Layout{}, fmt.Errorf("it has %d dims, shape %s has %d", t.Rank(),
			layouts.FormatShape(shape), len(shape))
	}
	rows, err := layouts.Contiguous(shape...)
	if err != nil {
		return Layout{}, err
	}
	outer, padded := make([]int, len(shape)), make([]int, len(shape))
	for d, n := range shape {
		of := t.blockOf(d)
		outer[d] = (n + of - 1) / of
		padded[d] = outer[d] * of // negative if an int cannot count it
	}
	if _, err := layouts.Contiguous(padded...); err != nil {
		return Layout{}, fmt.Errorf("shape %s is padded to more elements than an int can count",
			layouts.FormatShape(shape))
	}
	l := Layout{rows: rows, dims: make([][]digit, len(shape))}
	step := 1
	put := func(d, size int) {
		l.dims[d] = append(l.dims[d], digit{size, step})
		step *= max(size, 1)
	}
	for _, k := range slices.Backward(t.blocks) {
		put(k.dim, k.size)
	}
	for _, d := range slices.Backward(t.order) {
		put(d, outer[d])
		slices.Reverse(l.dims[d])
	}
	return l, nil
}

// Shape returns a copy of the sizes, without padding.
func (l Layout) Shape() []int { return l.rows.Shape() }

// padded returns the shape with its padding.
func (l Layout) padded() []int {
	padded := make([]int, len(l.dims))
	for d, digits := range l.dims {
		padded[d] = 1
		for _, g := range digits {
			padded[d] *= g.size
		}
	}
	return padded
}

// Nested returns all memory, padding included, as a layout. A dim becomes its parts, whole blocks
// first: aBcd16b with shape 2x17x5x5 gives 2x(2x16)x5x5. Its row-major walk is the padded tensor's.
// Its Numel is the size of the storage.
func (l Layout) Nested() layouts.Layout {
	var shape, strides []int
	for _, g := range slices.Concat(l.dims...) {
		shape, strides = append(shape, g.size), append(strides, g.stride)
	}
	all, _ := layouts.New(shape, strides, 0) // no error: Tag.Layout passed the padded shape
	return all
}

// At is [layouts.Layout.At] of l. Padding has no index.
func (l Layout) At(index ...int) (int, error) {
	number, err := l.rows.At(index...)
	if err != nil {
		return 0, err
	}
	return l.place(number), nil
}

// place returns the place of an element by its number in row-major order.
func (l Layout) place(number int) (at int) {
	for d, digits := range slices.Backward(l.dims) {
		size := l.rows.Size(d)
		at += placed(digits, number%size)
		number /= size
	}
	return at
}

// listed writes the sizes and the strides of digits.
func listed(digits []digit) (sizes, strides string) {
	var all [2][]string
	for _, g := range digits {
		all[0] = append(all[0], strconv.Itoa(g.size))
		all[1] = append(all[1], strconv.Itoa(g.stride))
	}
	return strings.Join(all[0], "x"), strings.Join(all[1], ", ")
}

func placed(digits []digit, index int) int {
	at := 0
	for _, g := range slices.Backward(digits[1:]) {
		at += index % g.size * g.stride
		index /= g.size
	}
	return at + index*digits[0].stride
}

// Offsets is [layouts.Layout.Offsets] of l, without padding.
func (l Layout) Offsets() iter.Seq[int] {
	return func(yield func(int) bool) {
		for number := range l.rows.Numel() {
			if !yield(l.place(number)) {
				return
			}
		}
	}
}

// String returns a text such as "shape 2x17x5x5, padded to 2x32x5x5, strides (800, (400, 1), 80,
// 16), offset 0".
func (l Layout) String() string {
	text := "shape " + layouts.FormatShape(l.Shape())
	if p := l.padded(); !slices.Equal(p, l.Shape()) {
		text += ", padded to " + layouts.FormatShape(p)
	}
	var strides []string
	for _, digits := range l.dims {
		_, all := listed(digits)
		if len(digits) > 1 {
			all = "(" + all + ")"
		}
		strides = append(strides, all)
	}
	return fmt.Sprintf("%s, strides (%s), offset 0", text, strings.Join(strides, ", "))
}

// Pieces cuts tensors of one shape into parts for a joint walk, such as a conversion. A piece has
// one layout for each tensor, all of one shape, and every element is in one piece. Without padding
// there is one piece. The dims of the pieces follow order, which names each dim of the tensors
// once. Pieces refuses different shapes, and blocks where neither divides the other.
func Pieces(order []int, ls ...Layout) ([][]layouts.Layout, error) {
	shape := ls[0].Shape()
	for _, l := range ls {
		if !slices.Equal(l.Shape(), shape) {
			return nil, fmt.Errorf("pieces: shapes %s and %s differ", layouts.FormatShape(shape),
				layouts.FormatShape(l.Shape()))
		}
	}
	return within(order, ls, func(d int) (from, to int) { return 0, shape[d] })
}

// A cut is count blocks of places[0] elements of a dim, from index start on.
type cut struct {
	dim, start, count int
	places            []int // of the digits, the largest first
}

// within returns pieces of the indices within bounds.
func within(order []int, ls []Layout, bounds func(d int) (from, to int)) ([][]layouts.Layout,
	error) {
	pieces := [][]cut{nil} // of the dims so far
	for _, d := range order {
		places, err := commonPlaces(ls, d)
		if err != nil {
			return nil, err
		}
		from, to := bounds(d)
		var next [][]cut
		for _, p := range pieces {
			for _, c := range cuts(d, from, to, places) {
				next = append(next, append(slices.Clip(p), c))
			}
		}
		pieces = next
	}
	all := make([][]layouts.Layout, len(pieces))
	for i, p := range pieces {
		for _, l := range ls {
			all[i] = append(all[i], l.piece(p))
		}
	}
	return all, nil
}

// commonPlaces returns the place values of dim d's digits in all tensors, the largest first.
func commonPlaces(ls []Layout, d int) ([]int, error) {
	places := []int{1}
	for _, l := range ls {
		place := 1
		for _, g := range slices.Backward(l.dims[d][1:]) {
			place *= g.size
			places = append(places, place)
		}
	}
	slices.Sort(places)
	places = slices.Compact(places)
	for i, p := range places[1:] {
		if p%places[i] != 0 {
			return nil, fmt.Errorf("pieces: dim %d has blocks of %d and of %d, and neither "+
				"divides the other", d, places[i], p)
		}
	}
	slices.Reverse(places)
	return places, nil
}

// cuts returns the indices of a dim in the largest blocks that lie within them.
func cuts(d, from, to int, places []int) (all []cut) {
	if from == to {
		return []cut{{d, from, 0, places}}
	}
	for from < to {
		i := slices.IndexFunc(places, func(p int) bool { return from%p == 0 && from+p <= to })
		end := to
		if i > 0 { // a larger block may begin there
			end = min(to, from/places[i-1]*places[i-1]+places[i-1])
		}
		count := (end - from) / places[i]
		all = append(all, cut{d, from, count, places[i:]})
		from += count * places[i]
	}
	return all
}

// piece returns where the elements of all cuts lie.
func (l Layout) piece(cuts []cut) layouts.Layout {
	var shape, strides []int
	offset := 0
	for _, c := range cuts {
		digits, size := l.dims[c.dim], c.count
		offset += placed(digits, c.start)
		for i, place := range c.places {
			if i > 0 {
				size = c.places[i-1] / place
			}
			shape, strides = append(shape, size), append(strides, placed(digits, place))
		}
	}
	p, _ := layouts.New(shape, strides, offset) // no error, as in Nested
	return p
}

// Padding returns the places of the padding, each in one layout. Conversions fill them with zeros.
func (l Layout) Padding() (all []layouts.Layout) {
	shape, padded := l.Shape(), l.padded()
	for d, n := range shape { // padding in dim d, and in none before
		pieces, _ := within(nest.UpTo(len(shape)), []Layout{l}, func(e int) (from, to int) {
			switch {
			case e < d:
				return 0, shape[e]
			case e == d:
				return n, padded[d]
			}
			return 0, padded[e]
		}) // no error: in one tensor each block divides the next
		for _, p := range pieces {
			if p[0].Numel() > 0 {
				all = append(all, p[0])
			}
		}
	}
	return all
}
