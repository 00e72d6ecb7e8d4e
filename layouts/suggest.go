package layouts

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// elsewhere has hints for names of other libraries, and for other things of PyTorch.
var elsewhere = map[string]string{
	"rearrange": "einops' patterns are permute, with flatten and unflatten for groups: 'a b -> b " +
		"a' is permute(1, 0)",
	"float16": "did you mean half()?", "float32": "did you mean float()?",
	"float64": "did you mean double()?",
	"int8":    "did you mean char()?", "uint8": "did you mean byte()?",
	"int16": "did you mean short()?", "int32": "did you mean int()?",
	"int64":         "did you mean long()?",
	"astype":        "did you mean to(dtype), such as to(torch.float16)?",
	"expand_dims":   "did you mean unsqueeze(dim)?",
	"channels_last": "did you mean contiguous(memory_format=torch.channels_last)?",
	"index_select": "it picks elements, and so copies; narrow, select and slice take evenly " +
		"spaced ones",
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
)

// tensorFunction matches a function of a tensor, such as torch.permute(x, (1, 0)).
var tensorFunction = compiled(`^(torch|np|numpy|jnp|einops)\s*\.\s*([\pL_][\pL\pN_]*)\s*\(\s*([\pL_][\pL\pN_]*)\s*(?:,\s*(.*)|\).*)$`)

// asMethod returns a hint to write a function of a tensor as a method, or "".
func asMethod(text string) string {
	m := tensorFunction().FindStringSubmatch(text)
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
	if isFactory(name) {
		return "it makes a tensor: leave it out, and give its sizes as the shape"
	}
	type candidate struct {
		usage    string
		distance int
	}
	var near []candidate
	for _, op := range viewOps {
		d := distance(strings.ToLower(name), strings.ToLower(op.name))
		likely := max(1, len(name)/3) // more is far-fetched, such as real for mean
		if strings.HasPrefix(op.name, name) && len(name) > 2 || strings.HasPrefix(name, op.name) &&
			len(op.name) > 2 {
			d = min(d, likely)
		}
		if d <= likely && !slices.ContainsFunc(near, func(c candidate) bool {
			return c.usage == op.usage()
		}) {
			near = append(near, candidate{op.usage(), d})
		}
	}
	if len(near) == 0 {
		return "PyTorch's views are others, such as permute, narrow, expand, [:, ::2]"
	}
	slices.SortStableFunc(near, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance),
			cmp.Compare(alike(b.usage, name), alike(a.usage, name)))
	})
	var usages []string
	for _, c := range near[:min(len(near), 3)] {
		usages = append(usages, c.usage)
	}
	return "did you mean " + strings.Join(usages, " or ") + "?"
}

func alike(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// distance is optimal string alignment: letters inserted, dropped, replaced, or swapped with the
// next one.
func distance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		for j := range rows[i] {
			if rows[i][j] = i + j; i == 0 || j == 0 {
				continue
			}
			replaced := rows[i-1][j-1]
			if a[i-1] != b[j-1] {
				replaced++
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, replaced)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}
