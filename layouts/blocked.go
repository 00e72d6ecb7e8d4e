package layouts

import (
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/stridebench/stridebench/layouts/nest"
)

// This file has oneDNN's blocked formats ("Understanding Memory Formats"; dnnl_types.h,
// dnnl_format_tag_t). A tag writes a format:
//
//	tag   = order {block}
//	order = a letter for each dim, the outermost in memory first
//	block = size letter
//
// Letters a, b, c ... name the dims. An upper-case letter counts whole blocks of its dim. The
// blocks hold the elements, the outermost block first. ABcd16b16a2b has blocks of 16 (a) by 32 (b)
// and keeps pairs of b together.

// A Tag is a format of oneDNN.
type Tag struct {
	order   []int // dims, the outermost in memory first
	blocks  []block
	written string // as ParseTag read it
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

// ParseTag reads a tag in letters of dims (aBcd16b) or in names of a domain (nChw16c, OIhw16i16o,
// ldigo). It applies oneDNN's rule, also to formats that a version of oneDNN lacks.
func ParseTag(text string) (Tag, error) {
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

// Written returns the tag as ParseTag read it.
func (t Tag) Written() string { return t.written }

// A Blocked places the elements of a tensor whose dims may be split into blocks. A dim whose size
// its blocks do not divide is padded. Padding is in memory and has no index.
type Blocked struct {
	shape  []int
	dims   [][]digit
	offset int
}

// A digit is a part of a dim's index. The first digit counts whole blocks, the last counts
// elements.
type digit struct{ size, stride int }

// Layout lays a shape out at offset 0. It refuses another number of dims, negative sizes, and a
// padded shape that an int cannot count.
func (t Tag) Layout(shape ...int) (Blocked, error) {
	if len(shape) != t.Rank() {
		return Blocked{}, fmt.Errorf("format %s has %d dims, shape %s has %d", t.Written(),
			t.Rank(), FormatShape(shape), len(shape))
	}
	if _, err := checkedNumel(shape); err != nil {
		return Blocked{}, fmt.Errorf("format %s: %w", t.Written(), err)
	}
	padded, outer := make([]int, len(shape)), make([]int, len(shape))
	for d, n := range shape {
		of := t.blockOf(d)
		if n > 0 {
			outer[d] = (n-1)/of + 1
		}
		var ok bool
		if padded[d], ok = mulInt(outer[d], of); !ok {
			return Blocked{}, fmt.Errorf("format %s: dim %d of size %d is padded to more than an "+
				"int can count", t.Written(), d, n)
		}
	}
	if _, err := checkedNumel(padded); err != nil {
		return Blocked{}, fmt.Errorf("format %s, padded: %w", t.Written(), err)
	}
	b := Blocked{shape: slices.Clone(shape), dims: make([][]digit, len(shape))}
	step := 1
	put := func(d, size int) {
		b.dims[d] = append(b.dims[d], digit{size, step})
		step *= max(size, 1)
	}
	for _, k := range slices.Backward(t.blocks) {
		put(k.dim, k.size)
	}
	for _, d := range slices.Backward(t.order) {
		put(d, outer[d])
		slices.Reverse(b.dims[d])
	}
	return b, nil
}

// plain returns a layout as a Blocked without blocks.
func plain(l Layout) Blocked {
	b := Blocked{shape: l.Shape(), dims: make([][]digit, l.Rank()), offset: l.offset}
	for d, n := range l.shape {
		b.dims[d] = []digit{{n, l.strides[d]}}
	}
	return b
}

// Shape returns a copy of the sizes, without padding.
func (b Blocked) Shape() []int { return slices.Clone(b.shape) }

// padded returns the shape with its padding.
func (b Blocked) padded() []int {
	padded := make([]int, len(b.dims))
	for d, digits := range b.dims {
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
func (b Blocked) Nested() Layout {
	l := Layout{shape: []int{}, strides: []int{}, offset: b.offset}
	for _, digits := range b.dims {
		for _, g := range digits {
			l.shape, l.strides = append(l.shape, g.size), append(l.strides, g.stride)
		}
	}
	return l
}

// At is [Layout.At] of b. Padding has no index.
func (b Blocked) At(index ...int) (int, error) {
	if _, err := (Layout{shape: b.shape, strides: make([]int, len(b.shape))}).At(
		index...); err != nil {
		return 0, err
	}
	at := b.offset
	for d, i := range index {
		if i < 0 {
			i += b.shape[d]
		}
		at += placed(b.dims[d], i)
	}
	return at, nil
}

func placed(digits []digit, index int) int {
	at := 0
	for _, g := range slices.Backward(digits[1:]) {
		at += index % g.size * g.stride
		index /= g.size
	}
	return at + index*digits[0].stride
}

// Offsets is [Layout.Offsets] of b, without padding.
func (b Blocked) Offsets() iter.Seq[int] {
	return func(yield func(int) bool) {
		if !slices.Contains(b.shape, 0) {
			b.walk(0, b.offset, yield)
		}
	}
}

func (b Blocked) walk(d, at int, yield func(int) bool) bool {
	if d == len(b.shape) {
		return yield(at)
	}
	for i := range b.shape[d] {
		if !b.walk(d+1, at+placed(b.dims[d], i), yield) {
			return false
		}
	}
	return true
}

// String returns a text such as "shape 2x17x5x5, padded to 2x32x5x5, strides (800, (400, 1), 80,
// 16), offset 0".
func (b Blocked) String() string {
	strides := make([]string, len(b.dims))
	for d, digits := range b.dims {
		parts := make([]string, len(digits))
		for i, g := range digits {
			parts[i] = strconv.Itoa(g.stride)
		}
		if strides[d] = strings.Join(parts, ", "); len(parts) > 1 {
			strides[d] = "(" + strides[d] + ")"
		}
	}
	padded := ""
	if p := b.padded(); !slices.Equal(p, b.shape) {
		padded = ", padded to " + FormatShape(p)
	}
	return fmt.Sprintf("shape %s%s, strides (%s), offset %d", FormatShape(b.shape), padded,
		strings.Join(strides, ", "), b.offset)
}

// Pieces cuts tensors of one shape into parts for a joint walk, such as a conversion. A piece has
// one layout for each tensor, all of one shape, and every element is in one piece. Without padding
// there is one piece. The dims of the pieces follow order, which names each dim of the tensors
// once. Pieces refuses different shapes, and blocks where neither divides the other.
func Pieces(order []int, bs ...Blocked) ([][]Layout, error) {
	for _, b := range bs {
		if !slices.Equal(b.shape, bs[0].shape) {
			return nil, fmt.Errorf("pieces: shapes %s and %s differ", FormatShape(bs[0].shape),
				FormatShape(b.shape))
		}
	}
	return within(order, bs, func(d int) (from, to int) { return 0, bs[0].shape[d] })
}

// within returns pieces of the indices within bounds.
func within(order []int, bs []Blocked, bounds func(d int) (from, to int)) ([][]Layout, error) {
	pieces := [][]Layout{make([]Layout, len(bs))} // of the dims so far
	for r, b := range bs {
		pieces[0][r].offset = b.offset
	}
	for _, d := range order {
		places, err := commonPlaces(bs, d)
		if err != nil {
			return nil, err
		}
		from, to := bounds(d)
		var next [][]Layout
		for _, p := range pieces {
			next = append(next, cut(p, bs, d, from, to, places)...)
		}
		pieces = next
	}
	return pieces, nil
}

// commonPlaces returns the place values of dim d's digits in all tensors, the largest first.
func commonPlaces(bs []Blocked, d int) ([]int, error) {
	places := []int{1}
	for _, b := range bs {
		place := 1
		for _, g := range slices.Backward(b.dims[d][1:]) {
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

// cut appends indices of dim d to a piece, in the largest blocks that lie within them.
func cut(piece []Layout, bs []Blocked, d, from, to int, places []int) (pieces [][]Layout) {
	if from == to {
		return [][]Layout{extended(piece, bs, d, from, 0, places)}
	}
	for from < to {
		i := slices.IndexFunc(places, func(p int) bool { return from%p == 0 && from+p <= to })
		end := to
		if i > 0 { // a larger block may begin there
			end = min(to, from/places[i-1]*places[i-1]+places[i-1])
		}
		count := (end - from) / places[i]
		pieces = append(pieces, extended(piece, bs, d, from, count, places[i:]))
		from += count * places[i]
	}
	return pieces
}

// extended appends count blocks of places[0] elements of dim d to a piece, from index start on.
func extended(piece []Layout, bs []Blocked, d, start, count int, places []int) []Layout {
	part := make([]Layout, len(piece))
	for r, l := range piece {
		digits := bs[r].dims[d]
		part[r] = Layout{slices.Clone(l.shape), slices.Clone(l.strides),
			l.offset + placed(digits, start)}
		for i, place := range places {
			size := count
			if i > 0 {
				size = places[i-1] / place
			}
			part[r].shape, part[r].strides = append(part[r].shape, size),
				append(part[r].strides, placed(digits, place))
		}
	}
	return part
}

// Padding returns the places of the padding, each in one layout. Conversions fill them with zeros.
func (b Blocked) Padding() []Layout {
	var all []Layout
	padded := b.padded()
	for d, n := range b.shape { // padding in dim d, and in none before
		pieces, _ := within(nest.UpTo(len(b.shape)), []Blocked{b}, func(e int) (from, to int) {
			switch {
			case e < d:
				return 0, b.shape[e]
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
