package layouts

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// elsewhere has hints for names of other libraries, and for other things of PyTorch.
var elsewhere = map[string]string{
	"rearrange": "einops' patterns are permute, with flatten and unflatten for groups: 'a b -> b " +
		"a' is permute(1, 0)",
	"astype":        "did you mean to(dtype), such as to(torch.float16)?",
	"expand_dims":   "did you mean unsqueeze(dim)?",
	"channels_last": "did you mean contiguous(memory_format=torch.channels_last)?",
	"index_select":  picks, "roll": picks, "tile": picks, "repeat_interleave": picks,
	"data": same, "cpu": same, "cuda": same, "requires_grad_": same, "numpy": same,
	"stride": asks, "size": asks, "shape": asks, "dim": asks, "ndim": asks, "numel": asks,
	"nelement": asks, "storage": asks, "storage_offset": asks, "data_ptr": asks,
	"is_contiguous": asks, "dtype": asks,
	"mean": computes, "sum": computes, "max": computes, "min": computes, "prod": computes,
	"std": computes, "var": computes, "norm": computes, "argmax": computes, "add": computes,
	"mul": computes, "matmul": computes, "softmax": computes, "relu": computes, "exp": computes,
}

// What PyTorch has that makes no view.
const (
	same     = "it changes no layout: leave it out"
	asks     = "it asks about a tensor and makes no view"
	computes = "it computes, and a view does not"
	picks    = "it picks elements, and so copies; narrow, select and slice take evenly spaced ones"
)

// tensorFunction matches a function of a tensor, such as torch.permute(x, (1, 0)).
var tensorFunction = regexp.MustCompile(`^(torch|np|numpy|jnp|einops)\s*\.\s*([\pL_][\pL\pN_]*)\s*\(\s*([\pL_][\pL\pN_]*)\s*(?:,\s*(.*)|\).*)$`)

// asMethod returns a hint to write a function of a tensor as a method, or "".
func asMethod(text string) string {
	m := tensorFunction.FindStringSubmatch(text)
	if m == nil || elsewhere[m[2]] != "" {
		return ""
	}
	name, rest := m[2], m[4]
	if name == "transpose" && m[1] != "torch" { // NumPy's takes all axes
		if name = "permute"; rest == "" {
			return fmt.Sprintf("%s.%s(%s) is a function: write %[3]s.T", m[1], m[2], m[3])
		}
	}
	if !slices.ContainsFunc(viewOps, func(op viewOp) bool { return op.name == name }) {
		return ""
	}
	if rest == "" {
		rest = ")"
	}
	return fmt.Sprintf("%s.%s is a function: write a method, %s.%s(%s", m[1], m[2],
		m[3], name, rest)
}

func didYouMean(name string) string {
	if here := elsewhere[name]; here != "" {
		return here
	}
	if dtype, err := ParseDType(name); err == nil {
		return "did you mean " + dtype.row().others[0] + "()?"
	}
	if isFactory(name) {
		return "it makes a tensor: leave it out, and give its sizes as the shape"
	}
	var near []string
	best := max(1, len(name)/3) // more is far-fetched, such as real for mean
	for _, op := range viewOps {
		d := distance(strings.ToLower(name), strings.ToLower(op.name))
		if strings.HasPrefix(op.name, name) && len(name) > 2 {
			d = 0
		}
		if d < best {
			best, near = d, nil
		}
		if usage := op.usage(); d == best && !slices.Contains(near, usage) {
			near = append(near, usage)
		}
	}
	if len(near) == 0 {
		return "PyTorch's views are others, such as permute, narrow, expand, [:, ::2]"
	}
	return "did you mean " + strings.Join(near[:min(len(near), 3)], " or ") + "?"
}

// distance is how many letters are inserted, dropped or replaced (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0] // of the row above and the column to the left
		row[0] = i + 1
		for j := range len(b) {
			replaced := before
			if a[i] != b[j] {
				replaced++
			}
			before = row[j+1]
			row[j+1] = min(before+1, row[j]+1, replaced)
		}
	}
	return row[len(b)]
}
