package layouts_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stridebench/stridebench/layouts"
)

// TestRefusedViewsSayWhatIsTrue: of thousands of refused views, each number of
// the message is that of the layout, the product does not hold, and what the
// message promises is so: no strides express the shape, and a contiguous copy
// has it.
func TestRefusedViewsSayWhatIsTrue(t *testing.T) {
	random := rand.New(rand.NewPCG(13, 2))
	refused := 0
	for refused < draws(5000) {
		l := randomLayout(random)
		shape := factors(random, l.Numel())
		v, err := l.View(shape...)
		var no *layouts.NoViewError
		if !errors.As(err, &no) {
			if err != nil || !slices.Equal(slices.Collect(v.Offsets()),
				slices.Collect(l.Offsets())) {
				t.Fatalf("%v to %v: %v, %v", l, shape, v, err)
			}
			continue
		}
		refused++
		outer, inner := no.Outer, no.Inner
		if !no.Layout.Equal(l) || !slices.Equal(no.Shape, shape) || outer < 0 || inner <= outer ||
			inner >= l.Rank() {
			t.Fatalf("%v to %v: %+v", l, shape, no)
		}
		for d := outer; d <= inner; d++ {
			if one := l.Size(d) == 1; one != (d != outer && d != inner) {
				t.Errorf("%v to %v: dims %d and %d are no neighbours apart from size 1", l, shape,
					outer, inner)
			}
		}
		if l.Stride(outer) == l.Size(inner)*l.Stride(inner) {
			t.Errorf("%v to %v: %v: the product holds", l, shape, err)
		}
		for _, words := range []string{
			fmt.Sprintf("view: %v cannot become shape %s without a copy", l,
				layouts.FormatShape(shape)),
			fmt.Sprintf("dims %d and %d do not merge, since stride %d is not %d*%d (size and "+
				"stride of dim %d)",
				outer, inner, l.Stride(outer), l.Size(inner), l.Stride(inner), inner),
		} {
			if !strings.Contains(err.Error(), words) {
				t.Errorf("%v to %v: %v, want %q", l, shape, err, words)
			}
		}
		if evenly(l, shape) {
			t.Errorf("%v to %v is refused, and strides express it", l, shape)
		}
		copied := must(layouts.Contiguous(l.Shape()...))
		if _, err := copied.View(shape...); err != nil {
			t.Errorf("a contiguous copy of %v has no view %v: %v", l, shape, err)
		}
	}
}

// randomLayout is a matrix or more, transposed, sliced, expanded, with dims of
// size 1.
func randomLayout(random *rand.Rand) layouts.Layout {
	shape := make([]int, 1+random.IntN(4))
	for d := range shape {
		shape[d] = 1 + random.IntN(4)
	}
	l := must(layouts.Contiguous(shape...))
	for range random.IntN(4) {
		d, e := random.IntN(l.Rank()), random.IntN(l.Rank())
		switch n := l.Size(d); random.IntN(5) {
		case 0:
			l = must(l.Transpose(d, e))
		case 1:
			l = must(l.Slice(d, random.IntN(n), n, 1+random.IntN(3)))
		case 2:
			l = must(applied(l, fmt.Sprintf("unsqueeze(%d)", d)))
		case 3:
			l = must(applied(l, fmt.Sprintf("flip(%d)", d)))
		case 4:
			if sizes := l.Shape(); n == 1 {
				sizes[d] = 1 + random.IntN(3)
				l = must(l.Expand(sizes...))
			}
		}
	}
	return l
}

// factors is a random shape of numel elements, with some sizes of 1.
func factors(random *rand.Rand, numel int) []int {
	var shape []int
	for rest := numel; rest > 1 || random.IntN(3) == 0; {
		n := 1 + random.IntN(rest)
		for rest%n != 0 {
			n--
		}
		shape, rest = append(shape, n), rest/n
	}
	return shape
}

// evenly reports whether some strides express shape, by a look at every
// element: those of index 1 of each dim are the only ones that could.
func evenly(l layouts.Layout, shape []int) bool {
	offsets := slices.Collect(l.Offsets())
	row := must(layouts.Contiguous(shape...))
	strides := make([]int, len(shape))
	for d, n := range shape {
		if n > 1 {
			strides[d] = offsets[row.Stride(d)] - offsets[0]
		}
	}
	view := must(layouts.New(shape, strides, offsets[0]))
	return slices.Equal(slices.Collect(view.Offsets()), offsets)
}
