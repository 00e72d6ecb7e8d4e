package operators

import (
	"fmt"
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

// TestLookUp: by the names that profiles have.
func TestLookUp(t *testing.T) {
	for op, want := range map[string]Class{
		"aten::copy_": Copy, "aten::add": Elementwise, "aten::add_": Elementwise, "aten::add.Tensor": Elementwise, "aten::add_.Tensor": Elementwise,
		"aten::mm.out": Product, "aten::sum.dim_IntList": Reduction, "aten::_softmax": Rows, "aten::as_strided_": View, "aten::unfold": View,
		"aten::__ior__": Elementwise, "aten::index_put_": Gather, "aten::_index_put_impl_": Gather, "aten::slow_conv2d_forward_out": Product,
		"mkldnn::_linear_pointwise": Product, "profiler::_record_function_enter_new": None, "aten::to": None,
		"autograd::engine::evaluate_function: AddmmBackward0": None, "AddmmBackward0": None, "torch::autograd::AccumulateGrad": None,
		"Optimizer.step#Adam.step": None, "ProfilerStep#6": None, "Torch-Compiled Region: 0/0": None, "torch.Tensor.reshape": None,
		"aten::upsample_linear1d_backward": Gather, "aten::linear_backward": Product, "aten::view_copy": Copy, "aten::clone_copy": Unknown,
		"aten::_foreach_add_": Elementwise, "aten::_foreach_norm": Reduction, "aten::special_erf": Elementwise, "aten::fft_rfft2": Rows,
		"detach": View, "detach_": View, "aten::detach_": View, "aten::coalesce": None, "aten::promote_types": None, "aten::mse_loss": Elementwise, "aten::dist": Elementwise,
		"aten::linalg_lu_factor_ex": Product, "aten::linalg_inv": Product, "aten::_ctc_loss_backward": Gather, "aten::multilabel_margin_loss_forward": Gather,
		"aten::_coalesced_": None, "aten::einsum": None, "aten::_sparse_coo_tensor_with_dims_and_tensors": None, "aten::_sparse_coo_tensor_unsafe": None, "aten::_safe_softmax": Rows, "aten::view_backward": Unknown, "aten::conj": View,
		"aten::softmax_backward_of_mine": Unknown, "mine::add": Unknown, "add": Unknown, "record_param_comms": None, "": Unknown, "mine::Backward": Unknown,
	} {
		if got := lookUp(op).class; got != want {
			t.Errorf("%s is %s, want %s", op, got, want)
		}
	}
}

// TestComputes: what takes longer to compute than to read and write.
func TestComputes(t *testing.T) {
	norm := func(p, dims string) Operator {
		return Operator{Op: "aten::linalg_vector_norm", Class: Reduction, Args: []string{"", p, dims}, Inputs: []Operand{{Shape: []int{3, 4}, Strides: []int{4, 1}, DType: "float32", Role: Input}}}
	}
	doubles, apart := norm("2", "[]"), norm("2", "[]")
	doubles.Inputs[0].DType, apart.Inputs[0].Strides = "float64", []int{5, 1}
	strided := func(name string, steps ...int) Operator {
		return Operator{Op: name, Class: Reduction, Args: []string{"", "1"}, Inputs: []Operand{{Shape: []int{3, 4}, Strides: steps, DType: "float32", Role: Input}}}
	}
	halves := func(class Class, name string) Operator {
		return Operator{Op: name, Class: class, Inputs: []Operand{{Shape: []int{4}, DType: "float16", Role: Input}}}
	}
	typed := func(name string, class Class, from, to string) Operator {
		return Operator{Op: name, Class: class, Inputs: []Operand{{Shape: []int{4}, DType: from, Role: Input}}, Outputs: []Operand{{Shape: []int{4}, DType: to, Role: Output}}}
	}
	flip := func(dims string, shape, steps []int) Operator {
		return Operator{Op: "aten::flip", Class: Copy, Args: []string{"", dims}, Inputs: []Operand{{Shape: shape, Strides: steps, DType: "uint8", Role: Input}}}
	}
	index := func(dtype string, y ...int) Operator {
		return Operator{Op: "aten::index", Class: Gather, Inputs: []Operand{{Shape: []int{64, 500}, DType: dtype, Role: Input}, {Shape: []int{30}, Role: Input, InList: true}}, Outputs: []Operand{{Shape: y, Role: Output}}}
	}
	column := index("float32", 64, 500) // x[:, i] of as many numbers as x has rows
	column.Inputs[0].Shape, column.Inputs[1].Shape, column.Inputs[1].Nth = []int{64, 500}, []int{500}, 1
	square := func(nth int) Operator {
		return Operator{Op: "aten::index", Class: Gather, Inputs: []Operand{{Shape: []int{64, 64}, DType: "float32", Role: Input}, {Shape: []int{64}, Role: Input, InList: true, Nth: nth}}, Outputs: []Operand{{Shape: []int{64, 64}, Role: Output}}}
	}
	mask := func(name, dtype string, shape ...int) Operator {
		return Operator{Op: name, Class: Gather, Inputs: []Operand{{Shape: []int{64, 500}, DType: "float32", Role: InPlace}, {Shape: shape, DType: dtype, Role: Input, InList: true}}}
	}
	stack := func(dtype, dim string) Operator {
		return Operator{Op: "aten::stack", Class: Copy, Args: []string{"", dim}, Inputs: []Operand{{Shape: []int{3, 4}, DType: dtype, Role: Input, InList: true}}}
	}
	pixels := func(steps ...int) Operator {
		return Operator{Op: "aten::pixel_unshuffle", Class: Copy, Inputs: []Operand{{Shape: []int{3, 4, 4}, Strides: steps, DType: "float32", Role: Input}}}
	}
	images, last := []int{3, 40, 50}, []int{1, 150, 3}
	for want, ops := range map[bool][]Operator{
		true: {{Op: "aten::gelu"}, {Op: "aten::exp_"}, {Op: "aten::_softmax"}, {Op: "aten::native_layer_norm"}, {Op: "aten::var.correction"}, {Op: "aten::where.self"}, {Op: "aten::gt.Scalar"},
			{Op: "aten::max_pool2d_with_indices"}, {Op: "aten::gelu_backward"}, {Op: "aten::max", Args: []string{"", "-1", "False"}}, {Op: "aten::min.dim", Args: []string{"", "0"}},
			{Op: "aten::bernoulli_.float"}, {Op: "aten::normal_"}, {Op: "aten::rand"}, {Op: "aten::floor_divide"}, {Op: "aten::remainder.Scalar"}, {Op: "aten::fmod_"}, {Op: "aten::isnan"},
			{Op: "aten::any"}, {Op: "aten::all.dim"}, {Op: "aten::count_nonzero"}, {Op: "aten::histc"}, {Op: "aten::allclose"}, {Op: "aten::_unique2"}, {Op: "aten::native_batch_norm", Args: []string{"", "", "", "", "", "True", "0.1", "1e-05"}}, {Op: "aten::nonzero"}, {Op: "aten::masked_select"},
			{Op: "aten::binary_cross_entropy"}, {Op: "aten::aminmax", Args: []string{"", "1"}}, strided("aten::amax", 8, 2), {Op: "aten::_fft_r2c"}, norm("3", "[]"), doubles, apart, norm("2", "[0]"), norm("1", "[1]"), halves(Elementwise, "aten::add.Tensor"), halves(Reduction, "aten::sum"),
			mask("aten::index", "bool", 64, 500), mask("aten::index_put_", "uint8", 64), mask("aten::_index_put_impl_", "bool", 64, 500), {Op: "aten::lerp_"}, pixels(16, 4, 1), index("bfloat16", 30, 500), {Op: "aten::scatter_", Inputs: make([]Operand, 2)}, {Op: "aten::scatter_reduce"}, stack("float32", "-1"), stack("bfloat16", "2"), flip("[-1]", images, last), flip("[0, 1]", images, last), flip("[2]", images, []int{2000, 50, 1}),
			typed("aten::add.Tensor", Elementwise, "uint8", "uint8"), typed("aten::abs", Elementwise, "complex64", "float32"), typed("aten::_to_copy", Copy, "bool", "float32"), typed("aten::mul.Tensor", Elementwise, "bool", "float32")},
		false: {{Op: "aten::add.Tensor"}, {Op: "aten::copy_"}, {Op: "aten::sum"}, {Op: "aten::native_batch_norm"}, {Op: "aten::index"}, {Op: "aten::max", Args: []string{""}}, {Op: "aten::max.other", Args: []string{"", ""}}, {Op: "mine::odd"},
			{Op: "aten::fill_"}, strided("aten::amin", 1, 3), strided("aten::sum", 8, 2), {Op: "aten::index_add_", Args: []string{"", "0"}, Inputs: []Operand{{Shape: []int{3, 4}}}}, {Op: "aten::native_batch_norm", Args: []string{"", "", "", "", "", "False", "0.1", "1e-05"}}, {Op: "aten::zeros"}, {Op: "aten::amax"}, {Op: "aten::mse_loss"}, {Op: "aten::maximum"}, {Op: "aten::aminmax", Args: []string{"", ""}}, norm("2", "[]"), norm("2.0", "[1]"), norm("", "[0, 1]"),
			halves(Copy, "aten::copy_"), halves(Elementwise, "aten::fill_"), halves(Elementwise, "aten::ones_like"), halves(Elementwise, "aten::new_zeros"),
			mask("aten::index_put_", "int64", 64), mask("aten::index", "bool", 64), index("float32", 30, 500), index("float32", 64, 31), index("float32", 64, 30), index("bfloat16", 64, 30), column, square(0), square(1), strided("aten::index_add_", 4, 1), strided("aten::index_select", 4, 1), {Op: "aten::gather"}, {Op: "aten::scatter_", Inputs: make([]Operand, 3)}, {Op: "aten::scatter_add"}, stack("float32", "0"), stack("float32", "1"), stack("int64", "-1"), pixels(1, 12, 3), flip("[1]", images, last), flip("[0]", images, []int{2000, 50, 1}), flip("[]", images, last), flip("[7]", images, last), flip("[1]", nil, nil),
			typed("aten::mul.Tensor", Elementwise, "bool", "int64"), typed("aten::abs", Elementwise, "uint8", "uint8"), typed("aten::div.Tensor", Elementwise, "uint8", "float32"), typed("aten::clone", Copy, "uint8", "uint8"), typed("aten::ones_like", Elementwise, "uint8", "uint8"), typed("aten::zero_", Elementwise, "uint8", "uint8"), typed("aten::clone", Copy, "bool", "bool"),
			typed("aten::mul.Tensor", Elementwise, "complex64", "complex64"), typed("aten::logical_not", Elementwise, "bool", "bool")},
	} {
		for _, op := range ops {
			if op.Computes() != want {
				t.Errorf("%s(%q) computes: %t", op.Op, op.Args, !want)
			}
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

// TestLAPACK: what goes over matrices by LAPACK is counted itself, and not as the copies that it makes of them.
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
