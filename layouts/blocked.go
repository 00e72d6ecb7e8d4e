package layouts

import (
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
)

// This file has the blocked formats of oneDNN, PyTorch's library for products
// and convolutions on a CPU (its documentation, "Understanding Memory Formats",
// and dnnl_types.h, dnnl_format_tag_t). A format is written as a tag:
//
//	tag   = order {block}
//	order = a letter for each dim, the outermost in memory first
//	block = size letter
//
// Letters a, b, c ... are the dims. A dim with blocks is in upper case in the
// order: there it counts whole blocks, whose elements lie in the blocks after,
// the first of them outermost. ABcd16b16a2b is a matrix of blocks of 16 by 32,
// in which pairs of b are together.

// A Tag is a format of oneDNN.
type Tag struct {
	order   []int // dims, the outermost in memory first
	blocks  []block
	written string // what ParseTag read
}

// A block is so many elements of a dim.
type block struct{ dim, size int }

const (
	maxTagRank = 12      // oneDNN's DNNL_MAX_NDIMS, of dims and of blocks
	maxBlock   = 1 << 16 // of a dim, far above what formats have
)

// domains are the dims in logical order of what has names of its own: vectors,
// activations (batch n, channels c, depth d, height h, width w), weights
// (groups g, channels o out and i in), and of recurrent nets time t, layers l,
// directions d and gates g.
var domains = []string{"x", "nc", "ncw", "nchw", "ncdhw", "oi", "oiw", "oihw", "oidhw", "goiw",
	"goihw", "goidhw",
	"tn", "tnc", "ldnc", "ldigo", "ldio", "ldgo"}

// A TagError says what is wrong with a tag, and at which byte.
type TagError struct {
	Tag    string
	At     int // offset of what is wrong in Tag, len(Tag) where something is missing
	Reason string
}

// Error names the tag, the character counted from 1, and what would be right.
func (e *TagError) Error() string {
	return fmt.Sprintf("format %q, character %d: %s", e.Tag, e.At+1, e.Reason)
}

// ParseTag reads a tag in letters of dims (aBcd16b) or in names of a domain
// (nChw16c, OIhw16i16o, ldigo), by their rule and not from a list: formats that
// a version of oneDNN does not have are read too. Errors are [TagError]s.
func ParseTag(text string) (Tag, error) {
	t, dims, err := parseOrder(text)
	if err != nil {
		return Tag{}, err
	}
	t.written = text
	for at := t.Rank(); at < len(text); {
		size, next, why := blockSize(text, at)
		if why != "" {
			return Tag{}, &TagError{text, next, why}
		}
		d := strings.IndexByte(dims, text[next])
		if d < 0 {
			return Tag{}, tagError(text, next,
				"want the dim of the block in lower case, one of %s, have %q", dims,
				text[next:next+1])
		}
		t.blocks = append(t.blocks, block{d, size})
		switch {
		case len(t.blocks) > maxTagRank:
			return Tag{}, tagError(text, at, "more than %d blocks", maxTagRank)
		case t.blockOf(d) > maxBlock:
			return Tag{}, tagError(text, at, "the blocks of %c have more than %d elements",
				text[next], maxBlock)
		}
		at = next + 1
	}
	for at, d := range t.order {
		upper, blocked := text[at] != lower(text[at]), t.blockOf(d) > 1
		if upper && !blocked {
			return Tag{}, tagError(text, len(text),
				"%c has no block after the dims, such as %s16%c; without one it is %c", text[at],
				text, lower(text[at]), lower(text[at]))
		}
		if !upper && blocked {
			return Tag{}, tagError(text, at, "%c has blocks, so it is %s", text[at],
				strings.ToUpper(text[at:at+1]))
		}
	}
	return t, nil
}

func tagError(text string, at int, format string, args ...any) error {
	return &TagError{text, at, fmt.Sprintf(format, args...)}
}

// parseOrder reads the order of the dims, and says their letters in logical
// order.
func parseOrder(text string) (t Tag, dims string, err error) {
	end := 0
	for end < len(text) && isLetter(text[end]) {
		end++
	}
	switch {
	case end == 0:
		return Tag{}, "", tagError(text, 0, "want a letter for each dim, such as abcd or nChw16c")
	case end > maxTagRank:
		return Tag{}, "", tagError(text, maxTagRank, "more than %d dims", maxTagRank)
	}
	letters := strings.ToLower(text[:end])
	for at := range end {
		if strings.IndexByte(letters[:at], letters[at]) >= 0 {
			return Tag{}, "", tagError(text, at, "%c names a dim for the second time", text[at])
		}
	}
	dims, ok := logicalDims(letters)
	if !ok {
		at := strings.IndexFunc(letters, func(r rune) bool { return int(r-'a') >= end })
		return Tag{}, "", tagError(text, at, "%c is none of the %d dims from a on, and %s has "+
			"not the letters of %s", text[at], end, text[:end], strings.Join(domains, ", "))
	}
	for at := range end {
		t.order = append(t.order, strings.IndexByte(dims, letters[at]))
	}
	return t, dims, nil
}

func isLetter(c byte) bool { return lower(c) >= 'a' && lower(c) <= 'z' }

// lower is an ASCII letter in lower case.
func lower(c byte) byte { return c | 0x20 }

// logicalDims are the letters in the order of the dims.
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

// blockSize reads a number up to the letter behind it, at next. If it is none,
// why says so of what is there.
func blockSize(text string, at int) (size, next int, why string) {
	for next = at; next < len(text) && text[next] >= '0' && text[next] <= '9'; next++ {
	}
	if next == at {
		return 0, at, fmt.Sprintf("want the size of a block, have %q", text[at:])
	}
	size, err := strconv.Atoi(text[at:next])
	switch {
	case err != nil || size > maxBlock:
		return 0, at, fmt.Sprintf("a block of %s elements is larger than %d",
			text[at:next], maxBlock)
	case size < 2 || text[at] == '0':
		return 0, at, fmt.Sprintf("%s is not a block size (want 2 or more)", text[at:next])
	case next == len(text):
		return 0, next, fmt.Sprintf("want the dim of the block of %d", size)
	}
	return size, next, ""
}

// Equal reports whether two tags are one format.
func (t Tag) Equal(u Tag) bool {
	return slices.Equal(t.order, u.order) && slices.Equal(t.blocks, u.blocks)
}

// blockOf is the product of the blocks of a dim, 1 without any.
func (t Tag) blockOf(dim int) int {
	product := 1
	for _, b := range t.blocks {
		if b.dim == dim {
			product *= b.size
		}
	}
	return product
}

// Rank is the number of dims.
func (t Tag) Rank() int { return len(t.order) }

// String is the tag in letters of dims, as oneDNN prints it: nChw16c is
// "aBcd16b".
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

// Written is the tag as ParseTag read it, in names of a domain or not, for errors.
func (t Tag) Written() string { return t.written }

// A Blocked places the elements of a tensor whose dims may be split into
// blocks. A dim whose size is no multiple of its blocks is padded, with
// elements that are in memory and have no index.
type Blocked struct {
	shape  []int
	dims   [][]digit
	offset int
}

// A digit is a part of a dim's index, as digits are of a number: the first is
// how many whole blocks come before, the last counts single elements.
type digit struct{ size, stride int }

// Layout lays a shape out in the format, at offset 0. It refuses another number
// of dims, negative sizes, and a padded shape that an int cannot count.
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

// Plain is a layout as one without blocks.
func Plain(l Layout) Blocked {
	b := Blocked{shape: l.Shape(), dims: make([][]digit, l.Rank()), offset: l.offset}
	for d, n := range l.shape {
		b.dims[d] = []digit{{n, l.strides[d]}}
	}
	return b
}

// Shape returns a copy of the sizes, without padding.
func (b Blocked) Shape() []int { return slices.Clone(b.shape) }

// Permute puts dim dims[i] at place i, as [Layout.Permute] does.
func (b Blocked) Permute(dims ...int) (Blocked, error) {
	logical, err := Layout{shape: b.shape, strides: make([]int, len(b.shape))}.Permute(dims...)
	if err != nil {
		return Blocked{}, err
	}
	p := Blocked{shape: logical.shape, offset: b.offset}
	for _, d := range dims {
		if d < 0 {
			d += len(b.dims)
		}
		p.dims = append(p.dims, b.dims[d])
	}
	return p, nil
}

// Places is how far each index of a dim, from 0 on, moves an element: the offset
// of an element is that of the tensor and one of these for each dim.
func (b Blocked) Places(dim int) []int {
	places := make([]int, b.shape[dim])
	for i := range places {
		places[i] = placed(b.dims[dim], i)
	}
	return places
}

// Padded is the shape with the padding.
func (b Blocked) Padded() []int {
	padded := make([]int, len(b.dims))
	for d, digits := range b.dims {
		padded[d] = 1
		for _, g := range digits {
			padded[d] *= g.size
		}
	}
	return padded
}

// Nested is all that lies in memory, padding included, as a layout in which
// each dim is the dims that it is split into, whole blocks first: of aBcd16b and
// a shape 2x17x5x5, 2x(2x16)x5x5. Walking it in row-major order is walking the
// padded tensor so. Its Numel is the size of a format's storage.
func (b Blocked) Nested() Layout {
	l := Layout{shape: []int{}, strides: []int{}, offset: b.offset}
	for _, digits := range b.dims {
		for _, g := range digits {
			l.shape, l.strides = append(l.shape, g.size), append(l.strides, g.stride)
		}
	}
	return l
}

// At returns the offset of the element of the given index, in elements. It
// refuses what [Layout.At] does; what is padding has no index.
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

// placed is how far the index of a dim moves an element.
func placed(digits []digit, index int) int {
	at := 0
	for _, g := range slices.Backward(digits[1:]) {
		at += index % g.size * g.stride
		index /= g.size
	}
	return at + index*digits[0].stride
}

// Offsets yields the offset of every element, without padding, in row-major
// order of the indices.
func (b Blocked) Offsets() iter.Seq[int] {
	return func(yield func(int) bool) {
		if !slices.Contains(b.shape, 0) {
			b.walk(0, b.offset, yield)
		}
	}
}

// walk yields the elements of the dims from d on, as far as that is wanted.
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

// String is "shape 2x17x5x5, padded to 2x32x5x5, strides (800, (400, 1), 80,
// 16), offset 0": of a split dim, the strides of its parts.
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
	if p := b.Padded(); !slices.Equal(p, b.shape) {
		padded = ", padded to " + FormatShape(p)
	}
	return fmt.Sprintf("shape %s%s, strides (%s), offset %d", FormatShape(b.shape), padded,
		strings.Join(strides, ", "), b.offset)
}

// Pieces cuts tensors of one shape into parts that a walk can take together,
// as for a conversion from one format to another: each piece has a layout for
// each tensor, all of one shape, and every element is in one piece. Without
// padding there is one piece; else dims end in parts of a block. It refuses
// different shapes, and blocks of which neither divides the other.
func Pieces(bs ...Blocked) ([][]Layout, error) {
	if len(bs) == 0 {
		return nil, nil
	}
	shape := bs[0].shape
	pieces := [][]Layout{make([]Layout, len(bs))} // of the dims so far
	for r, b := range bs {
		if !slices.Equal(b.shape, shape) {
			return nil, fmt.Errorf("pieces: shapes %s and %s differ", FormatShape(shape),
				FormatShape(b.shape))
		}
		pieces[0][r].offset = b.offset
	}
	for d, n := range shape {
		places, err := commonPlaces(bs, d)
		if err != nil {
			return nil, err
		}
		var next [][]Layout
		for _, p := range pieces {
			next = append(next, cut(p, bs, d, n, places)...)
		}
		pieces = next
	}
	return pieces, nil
}

// commonPlaces are the values of one in each digit of dim d of any tensor, from
// the largest to 1.
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

// cut puts dim d of n elements behind the dims of a piece: the elements that
// fill whole blocks, of the rest those that fill whole smaller ones, and so on.
func cut(piece []Layout, bs []Blocked, d, n int, places []int) (pieces [][]Layout) {
	start := 0
	for i, place := range places {
		if count := (n - start) / place; count > 0 || n == 0 && i == 0 {
			pieces = append(pieces, extended(piece, bs, d, start, count, places[i:]))
			start += count * place
		}
	}
	return pieces
}

// extended puts behind the dims of a piece count blocks of dim d from an index
// on: places[0] elements each, in digits of the other places.
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

// Padding is the places of the padding, each in one layout, which a conversion
// to the format fills with zeros.
func (b Blocked) Padding() []Layout {
	var all []Layout
	one := []Blocked{b}
	inside := [][]Layout{{{offset: b.offset}}} // pieces of the dims before d, without padding
	for d, n := range b.shape {
		places, _ := commonPlaces(one, d) // of one tensor, each divides the next
		outside := [][]Layout{}
		for _, p := range inside {
			outside = append(outside, cutRest(p, one, d, n, places)...)
		}
		for _, p := range outside { // with all of the dims behind
			l := p[0]
			for _, digits := range b.dims[d+1:] {
				for _, g := range digits {
					l.shape, l.strides = append(l.shape, g.size), append(l.strides, g.stride)
				}
			}
			all = append(all, l)
		}
		var next [][]Layout
		for _, p := range inside {
			next = append(next, cut(p, one, d, n, places)...)
		}
		inside = next
	}
	return slices.DeleteFunc(all, func(l Layout) bool { return l.Numel() == 0 })
}

// cutRest is cut for what is between the n elements and the end of their last
// block: what fills the smallest blocks up, then larger ones.
func cutRest(piece []Layout, bs []Blocked, d, n int, places []int) (pieces [][]Layout) {
	for i := len(places) - 1; i > 0; i-- {
		if missing := n % places[i-1]; missing > 0 {
			count := (places[i-1] - missing) / places[i]
			pieces = append(pieces, extended(piece, bs, d, n, count, places[i:]))
			n += count * places[i]
		}
	}
	return pieces
}
