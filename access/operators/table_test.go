package operators

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestTable: every operator is in the table once, as it is looked up.
func TestTable(t *testing.T) {
	seen := map[string]Class{}
	for _, row := range table {
		for _, op := range strings.Fields(row.ops) {
			if before, ok := seen[op]; ok {
				t.Errorf("%s is in the table as %s and as %s", op, before, row.class)
			}
			seen[op] = row.class
			if strings.HasPrefix(op, "aten::") || strings.HasSuffix(op, "_") && !strings.HasSuffix(op, "__") {
				t.Errorf("%s is in the table by a name that is not looked up", op)
			}
		}
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
		if got := lookUp(op).class; found && got != Class(want) {
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
		op := Operator{Op: test.op, Class: lookUp(test.op).class, Args: test.args, Inputs: []Operand{{Shape: []int{2, 3, 4}}}}
		dims, ok := op.Dims()
		if got := fmt.Sprint(dims, ok); got != test.want {
			t.Errorf("%s %q: %s, want %s", test.op, test.args, got, test.want)
		}
	}
	for _, names := range []map[string]int{dimArgument, lastDims} {
		for name := range names {
			if class := lookUp("aten::" + name).class; class != Reduction && class != Rows {
				t.Errorf("%s is %s, and goes along no dims", name, class)
			}
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
