package layouts

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A viewOp is one operation of a chain: how many integers it takes (most < 0:
// any number), and the view it makes of them.
type viewOp struct {
	name        string
	least, most int
	usage       string
	apply       func(l Layout, args []int, storage int) (Layout, error)
}

// viewOps are the operations that Apply knows, in PyTorch's spelling and
// argument order, by name.
var viewOps = []viewOp{
	{"as_strided", 0, -1, "as_strided((sizes...), (strides...), offset)", asStridedArgs},
	{"broadcast_to", 0, -1, "broadcast_to(sizes...)", func(l Layout, a []int, _ int) (Layout, error) { return l.Expand(a...) }},
	{"diagonal", 0, 3, "diagonal(offset, dim1, dim2)", func(l Layout, a []int, _ int) (Layout, error) {
		a = withDefaults(a, 0, 0, 1)
		return l.Diagonal(a[0], a[1], a[2])
	}},
	{"expand", 0, -1, "expand(sizes...)", func(l Layout, a []int, _ int) (Layout, error) { return l.Expand(a...) }},
	{"flatten", 0, 2, "flatten(start, end)", func(l Layout, a []int, _ int) (Layout, error) {
		a = withDefaults(a, 0, -1)
		return l.Flatten(a[0], a[1])
	}},
	{"flip", 0, -1, "flip(dims...)", func(l Layout, a []int, _ int) (Layout, error) { return l.Flip(a...) }},
	{"movedim", 2, 2, "movedim(src, dst)", func(l Layout, a []int, _ int) (Layout, error) { return l.Movedim(a[0], a[1]) }},
	{"narrow", 3, 3, "narrow(dim, start, length)", func(l Layout, a []int, _ int) (Layout, error) { return l.Narrow(a[0], a[1], a[2]) }},
	{"permute", 0, -1, "permute(dims...)", func(l Layout, a []int, _ int) (Layout, error) { return l.Permute(a...) }},
	{"select", 2, 2, "select(dim, index)", func(l Layout, a []int, _ int) (Layout, error) { return l.Select(a[0], a[1]) }},
	{"slice", 3, 4, "slice(dim, start, end, step)", func(l Layout, a []int, _ int) (Layout, error) {
		a = withDefaults(a, 0, 0, 0, 1)
		return l.Slice(a[0], a[1], a[2], a[3])
	}},
	{"squeeze", 0, -1, "squeeze(dims...)", func(l Layout, a []int, _ int) (Layout, error) { return l.Squeeze(a...) }},
	{"t", 0, 0, "t()", func(l Layout, _ []int, _ int) (Layout, error) { return l.T() }},
	{"transpose", 2, 2, "transpose(dim0, dim1)", func(l Layout, a []int, _ int) (Layout, error) { return l.Transpose(a[0], a[1]) }},
	{"unflatten", 1, -1, "unflatten(dim, sizes...)", func(l Layout, a []int, _ int) (Layout, error) { return l.Unflatten(a[0], a[1:]...) }},
	{"unfold", 3, 3, "unfold(dim, size, step)", func(l Layout, a []int, _ int) (Layout, error) { return l.Unfold(a[0], a[1], a[2]) }},
	{"unsqueeze", 1, 1, "unsqueeze(dim)", func(l Layout, a []int, _ int) (Layout, error) { return l.Unsqueeze(a[0]) }},
	{"view", 0, -1, "view(sizes...)", func(l Layout, a []int, _ int) (Layout, error) { return l.View(a...) }},
}

// copyingOps are operations of PyTorch's that look like views.
var copyingOps = []string{"reshape", "contiguous", "clone", "repeat"}

// withDefaults completes args by the last of the defaults.
func withDefaults(args []int, defaults ...int) []int {
	return append(slices.Clone(args), defaults[len(args):]...)
}

// asStridedArgs splits sizes, strides and, where their number is odd, the
// offset, which is the layout's own by default.
func asStridedArgs(l Layout, args []int, storage int) (Layout, error) {
	rank, offset := len(args)/2, l.offset
	if len(args)%2 == 1 {
		offset = args[2*rank]
	}
	return AsStrided(storage, args[:rank], args[rank:2*rank], offset)
}

// ViewOps lists the operations of a chain with their arguments, such as
// "narrow(dim, start, length)", in alphabetic order.
func ViewOps() []string {
	usages := make([]string, len(viewOps))
	for i, op := range viewOps {
		usages[i] = op.usage
	}
	return usages
}

// Apply makes a view by a chain of operations, spelled and ordered as
// PyTorch's methods: "transpose(0,1).narrow(1,0,100)". Lists may stand in
// brackets or parentheses of their own, spaces are free, and the empty chain
// is the layout itself. Errors name the operation at fault. The storage, for
// as_strided, ends with the layout's last element.
func (l Layout) Apply(chain string) (Layout, error) {
	length := 0
	if _, high := l.Extent(); l.Numel() > 0 {
		length = high + 1
	}
	return l.apply(chain, length)
}

func (l Layout) apply(chain string, storage int) (Layout, error) {
	rest := strings.TrimSpace(chain)
	for first := true; rest != ""; first = false {
		if !first {
			if rest[0] != '.' {
				return Layout{}, fmt.Errorf("want a dot before %q", rest)
			}
			rest = strings.TrimSpace(rest[1:])
		}
		name, args, tail, err := cutCall(rest)
		if err != nil {
			return Layout{}, err
		}
		if l, err = l.applyOp(name, args, storage); err != nil {
			return Layout{}, err
		}
		rest = strings.TrimSpace(tail)
	}
	return l, nil
}

func (l Layout) applyOp(name string, args []int, storage int) (Layout, error) {
	i := slices.IndexFunc(viewOps, func(op viewOp) bool { return op.name == name })
	if slices.Contains(copyingOps, name) {
		return Layout{}, fmt.Errorf("%s copies in PyTorch and is no view operation: a chain is of views only, such as view for reshape and expand for repeat", name)
	}
	if i < 0 {
		return Layout{}, fmt.Errorf("%q is no view operation (known: %s)", name, strings.Join(ViewOps(), ", "))
	}
	op := viewOps[i]
	if len(args) < op.least || op.most >= 0 && len(args) > op.most {
		return Layout{}, fmt.Errorf("%s: %d arguments do not fit %s", name, len(args), op.usage)
	}
	return op.apply(l, args, storage)
}

// cutCall splits "name(1, (2, 3)).rest" into the name, its integers and what
// follows the closing parenthesis.
func cutCall(text string) (name string, args []int, tail string, err error) {
	name, after, ok := strings.Cut(text, "(")
	name = strings.TrimSpace(name)
	if !ok {
		return "", nil, "", fmt.Errorf("want name(arguments), have %q", text)
	}
	depth := 1
	end := strings.IndexFunc(after, func(r rune) bool {
		switch r {
		case '(', '[':
			depth++
		case ')', ']':
			depth--
		}
		return depth == 0
	})
	if end < 0 || after[end] != ')' {
		return "", nil, "", fmt.Errorf("%s: the parenthesis is not closed in %q", name, text)
	}
	args, err = parseInts(after[:end])
	if err != nil {
		return "", nil, "", fmt.Errorf("%s: %w", name, err)
	}
	return name, args, after[end+1:], nil
}

// parseInts reads integers separated by commas, with nested lists flattened.
func parseInts(text string) ([]int, error) {
	flat := strings.Map(func(r rune) rune {
		if strings.ContainsRune("()[]", r) {
			return ' '
		}
		return r
	}, text)
	if strings.TrimSpace(flat) == "" {
		return nil, nil
	}
	var ints []int
	for part := range strings.SplitSeq(flat, ",") {
		part = strings.TrimSpace(part)
		n, err := strconv.Atoi(part)
		if errors.Is(err, strconv.ErrRange) {
			return nil, fmt.Errorf("argument %s is too large", part)
		}
		if err != nil {
			return nil, fmt.Errorf("argument %q is no integer", part)
		}
		ints = append(ints, n)
	}
	return ints, nil
}
