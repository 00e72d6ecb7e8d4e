package operators

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestTable: every operator is in the table once, by the name by which it is looked up, and its row
// has words that the code knows.
func TestTable(t *testing.T) {
	seen := map[string]bool{}
	for line := range strings.Lines(table) {
		words := strings.Fields(line)
		if len(words) == 0 || words[0] == "#" {
			continue
		}
		name := words[0]
		if seen[name] || strings.HasPrefix(name, "aten::") || inPlace(name) || len(words) < 5 {
			t.Errorf("%q: the name is there, or not looked up, or the row is not whole", line)
			continue
		}
		seen[name] = true
		if !strings.Contains(name, "::") {
			name = "aten::" + name
		}
		row := lookUp(strings.TrimSuffix(name, "*") + strings.Repeat("any", strings.Count(name, "*")))
		if !slices.Contains(classes, row.Class) || !slices.Contains(walks, row.Walk) ||
			strings.Trim(row.args, letters) != "" {
			t.Errorf("%s: class, walk or arguments are unknown", name)
		}
		for _, flag := range row.flags {
			if !slices.Contains(flags, Flag(flag)) {
				t.Errorf("%s has the unknown flag %s", name, flag)
			}
		}
		rule, _, _ := strings.Cut(row.Results, ":")
		if _, named := byRuleName[rule]; rule != "" && !named && !strings.Contains(rule, "->") && rule != "gradients" &&
			!slices.Contains(slices.Collect(maps.Values(spellings)), rule) {
			t.Errorf("%s has results by %s, which is no rule", name, rule)
		}
	}
}

// What the table may say.
var (
	letters = tensors + "." + string([]byte{byte(Dim), byte(Sizes), byte(Kernel), byte(Stride),
		byte(Padding), byte(Dilation), byte(Extra), byte(Ceil), byte(Size), byte(Scale),
		byte(Number), byte(Whether), byte(Asks)})
	classes = []Class{View, None, Copy, Elementwise, Reduction, Rows, Product, Gather}
	walks   = []Walk{WalkNone, WalkWindow, WalkProduct, WalkCopy, WalkJoined, WalkStacked,
		WalkPadded, WalkElementwise, WalkScan, WalkReduction,
		WalkRows, WalkNorm, WalkGather, WalkPut, WalkElements, WalkScatter}
	flags = []Flag{Calls, Itself, Computes, ComputesDims, ComputesFlag, ChannelsLast, Dense,
		First, Converts, Blocks, Pairs, Asked, Maker, Masks, Folds}
)

// TestNamesNowhereElse: what is known of operators by their names stands in the table alone: no other
// code of the module has a name with aten before it, and none that reads rows has a bare one.
func TestNamesNowhereElse(t *testing.T) {
	names := map[string]bool{}
	for line := range strings.Lines(table) {
		if words := strings.Fields(line); len(words) > 1 && Class(words[1]) != View {
			names[words[0]] = words[0] != "#"
		}
	}
	// What else these words are: a field of a chrome trace, a package, and dtypes.
	others := map[string]string{"kineto.go": "cat", "collect.go": "sort", "dtypes.go": "int long float double bfloat16"}
	read := 0
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		room := filepath.Base(filepath.Dir(path))
		other := strings.Fields(others[filepath.Base(path)])
		reads := room == "operators" || room == "bill" || filepath.Base(path) == "import.go"
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
				read++
				text, _ := strconv.Unquote(literal.Value)
				if path != "../../access/operators/table.go" && (strings.Contains(text, "aten::") || reads && names[text] && !slices.Contains(other, text)) {
					t.Errorf("%s has the name %s", path, text)
				}
			}
			return true
		})
		return nil
	})
	if err != nil || read < 1000 {
		t.Fatalf("%d texts, %v", read, err)
	}
}

// TestLookUp: operators are found by the names that profiles have.
func TestLookUp(t *testing.T) {
	text, err := os.ReadFile("testdata/classes.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		want, op, found := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if got := lookUp(op).Class; found && got != Class(want) {
			t.Errorf("%s is %s, want %s", op, got, want)
		}
	}
}

// TestComputes: what takes longer to compute than to read and write.
func TestComputes(t *testing.T) {
	text, err := os.ReadFile("testdata/computes.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Operator
		Computes bool
	}
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		for i := range c.Inputs {
			c.Inputs[i].Argument = i
		}
		if got := c.Operator.Computes(); got != c.Computes {
			t.Errorf("%s(%q) of %+v computes: %t", c.Op, c.Args, c.Inputs, got)
		}
	}
}

// TestDTypes: names of types are ours, and have a size.
func TestDTypes(t *testing.T) {
	for name, ours := range spellings {
		if size := itemSize(ours); (size == 0) != (ours == undefined) {
			t.Errorf("%s is %s, of %d bytes", name, ours, size)
		}
	}
}

// TestDims: along which dims operators go, by their arguments.
func TestDims(t *testing.T) {
	for _, test := range []struct {
		op   string
		args []string
		want string
	}{
		{"aten::sum", []string{"", ""}, "[0 1 2] true"},
		{"aten::sum", []string{"", "1"}, "[0 1 2] true"}, // a dtype
		{"aten::sum", []string{"", "[1]", "False", ""}, "[1] true"},
		{"aten::sum.dim_IntList", []string{"", "[2,-3]", "true", "<None>"}, "[0 2] true"},
		{"aten::mean", []string{"", "[-1, -2]", "True", ""}, "[1 2] true"},
		{"aten::max", []string{"", "1", "False"}, "[1] true"},
		{"aten::var", []string{"", "True"}, "[0 1 2] true"},
		{"aten::sum", []string{"", "[3]", "False", ""}, "[] false"},
		{"aten::sum", nil, "[] false"},
		{"aten::linalg_vector_norm", []string{"", "2", "[0]", "False", ""}, "[0] true"},
		{"aten::topk", []string{"", "400", "-1", "True", "False"}, "[2] true"},
		{"aten::_softmax", []string{"", "-1", "False"}, "[2] true"},
		{"aten::_softmax_backward_data", []string{"", "", "1", "6"}, "[1] true"},
		{"aten::sort", []string{"", ""}, "[0 1 2] false"},
		{"aten::native_layer_norm", []string{"", "[3, 4]", "", "", "1e-05"}, "[1 2] true"},
		{"aten::native_layer_norm", []string{"", "[1, 2, 3, 4]"}, "[] false"},
		{"aten::nll_loss_forward", []string{"", "", "", "1", "-100"}, "[] false"},
		{"aten::bincount", []string{"", "", "0"}, "[] false"},
		{"aten::mul", []string{"", ""}, "[] false"},
	} {
		op := Operator{Op: test.op, Class: lookUp(test.op).Class, Args: test.args, Inputs: []Tensor{{Shape: []int{2, 3, 4}}}}
		dims, ok := op.Dims()
		if got := fmt.Sprint(dims, ok); got != test.want {
			t.Errorf("%s %q: %s, want %s", test.op, test.args, got, test.want)
		}
	}
}

// TestLAPACK: what goes over matrices by LAPACK is counted itself, and not as the copies that it
// makes of them.
func TestLAPACK(t *testing.T) {
	event := func(name string, start, took int) string {
		return fmt.Sprintf(`{"ph":"X","cat":"cpu_op","name":%q,"pid":1,"tid":1,"ts":%d,"dur":%d,"args":{"Input Dims":[[500,500]],"Input Strides":[[500,1]],"Input type":["float"]}}`, name, start, took)
	}
	p, err := Read(File{"lu", strings.NewReader(`{"traceEvents":[` + event("aten::linalg_det", 0, 100) + "," + event("aten::linalg_lu_factor_ex", 10, 80) + "," + event("aten::copy_", 20, 10) + `]}`)})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []Class{Wrapper, Product, Copy} {
		if got := p.Operators[i]; got.Class != want {
			t.Errorf("%s is %s, want %s", got.Op, got.Class, want)
		}
	}
}

// TestProductInto: where a product has one tensor more than it takes, it is where its result goes.
func TestProductInto(t *testing.T) {
	for name, args := range map[string]string{"aten::mm": "", "aten::addmm": "[[9],[5,7],[7,9],[],[],[5,9]]"} {
		dims, strides, types := "[[5,7],[7,9],[5,9]]", "[[7,1],[9,1],[9,1]]", `["float","float","float"]`
		if args != "" {
			dims, strides, types = args, "[[1],[7,1],[9,1],[],[],[9,1]]", `["float","float","float","Scalar","Scalar","float"]`
		}
		p, err := Read(File{name, strings.NewReader(fmt.Sprintf(`{"traceEvents":[{"ph":"X","cat":"cpu_op","name":%q,"pid":1,"tid":1,"ts":1,"dur":9,"args":{"Input Dims":%s,"Input Strides":%s,"Input type":%s}}]}`, name, dims, strides, types))})
		if err != nil {
			t.Fatal(err)
		}
		inputs := p.Operators[0].Inputs
		for i, o := range inputs {
			if want := i == len(inputs)-1; (o.Role == Output) != want {
				t.Errorf("%s: operand %d is %s", name, i, o.Role)
			}
		}
	}
}
