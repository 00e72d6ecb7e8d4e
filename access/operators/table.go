package operators

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/stridebench/stridebench/layouts/nest"
)

// An entry is what is known of an operator.
type entry struct {
	class Class
	// An operator that is composite does all its work by calling others, where it
	// calls any: it is counted only where none of these touches memory. Views and
	// operators of class None always are.
	composite bool
	// itself: it touches memory itself, whatever it calls besides.
	itself bool
	// args: its arguments that are no tensors say which memory is touched.
	args bool
	// overwrites: its first argument is written, and not read.
	overwrites bool
	// computes: what it does to elements takes longer than its memory does.
	computes bool
	// channelsLast: it takes channels_last as it takes contiguous operands, and returns it.
	channelsLast bool
}

// table has the operators, those of aten without the prefix, and all without
// the _ of the in-place variant. To add one, write it into the list of what it
// does to memory. (aten/src/ATen/native/native_functions.yaml lists PyTorch's;
// CompositeImplicitAutograd there is composite here.) What has the name of a row's
// with _backward after it, or of a view's with _copy, need not be listed, nor
// whole families such as _foreach_add: byRule knows them.
var table = []struct {
	entry
	ops string
}{
	{entry{class: View}, `
		adjoint alias align_as align_to as_strided atleast_1d atleast_2d atleast_3d broadcast_tensors broadcast_to
		ccol_indices chunk col_indices _conj conj crow_indices data detach diagonal dsplit expand expand_as flatten
		_fw_primal hsplit imag _indices indices inductor::_reinterpret_tensor lift_fresh linalg_diagonal mH mT matrix_H
		meshgrid moveaxis movedim narrow _neg_view numpy_T permute positive ravel real refine_names rename reshape
		_reshape_alias reshape_as resolve_conj resolve_neg row_indices select set set_data slice split split_with_sizes
		squeeze swapaxes swapdims t tensor_split transpose unbind unflatten unfold unsafe_chunk unsafe_split
		unsafe_split_with_sizes _unsafe_view unsqueeze _values values view view_as view_as_complex view_as_real vsplit`},

	// These allocate, ask, or return their argument where they call nothing.
	{entry{class: None}, `
		alpha_dropout _assert_async c10d::barrier can_cast coalesce contiguous cpu cuda _cudnn_init_dropout_state
		cudnn_is_acceptable _debug_has_internal_overlap dense_dim dim dropout _efficientzerotensor einsum element_size empty
		empty_like empty_permuted empty_quantized empty_strided feature_dropout get_device
		_has_compatible_shallow_copy_type _has_same_storage_numel _coalesced is_coalesced is_complex is_conj is_contiguous
		is_floating_point is_inference is_leaf is_neg is_non_overlapping_and_dense is_nonzero is_pinned is_same_size
		is_set_to is_signed is_strides_like_format _is_zerotensor item len lift _local_scalar_dense new_empty
		new_empty_strided _nnpack_available _nnz numel output_nr profiler::_record_function_enter
		profiler::_record_function_enter_new profiler::_record_function_exit promote_types q_per_channel_axis q_scale q_zero_point
		qscheme record_stream requires_grad resize resize_as result_type retain_grad retains_grad
		_shape_as_tensor size _sparse_coo_tensor_unsafe _sparse_coo_tensor_with_dims
		_sparse_coo_tensor_with_dims_and_tensors sparse_dim storage_offset stride sym_numel sym_size sym_storage_offset sym_stride sync to
		type_as _use_cudnn_ctc_loss _version`},

	{entry{class: Copy, overwrites: true}, `copy _copy_from _copy_from_and_resize`},
	{entry{class: Copy}, `
		dequantize mkldnn_reorder_conv2d_weight mkldnn_reorder_conv3d_weight
		mkldnn_reorder_linear_weight _mkldnn_reshape _mkldnn_transpose narrow_copy _pack_padded_sequence
		quantize_per_channel quantize_per_tensor quantize_per_tensor_dynamic repeat_interleave roll _to_dense to_mkldnn`},
	{entry{class: Copy, args: true}, `diag_embed flip`},
	{entry{class: Copy, composite: true, args: true}, `
		block_diag cartesian_prod _cat cat channel_shuffle column_stack concat concatenate constant_pad_nd dstack hstack
		native_channel_shuffle pad pixel_shuffle pixel_unshuffle rot90 row_stack _stack stack vstack`},
	{entry{class: Copy, composite: true}, `
		as_strided_scatter as_tensor _autocast_to_full_precision _autocast_to_reduced_precision bfloat16 chalf clone
		combinations diagflat diagonal_scatter double fill_diagonal fliplr flipud float half int long new_tensor
		_pin_memory pin_memory repeat _reshape_copy select_scatter slice_scatter tensor
		tile _to_copy _to_cpu to_dense`},

	// Written, and nothing read.
	{entry{class: Elementwise, overwrites: true}, `fill _no_grad_fill _no_grad_zero zero`},
	{entry{class: Elementwise, composite: true}, `
		arange bartlett_window blackman_window eye full full_like hamming_window hann_window kaiser_window linspace
		new_full new_ones new_zeros ones ones_like range scalar_tensor tril_indices triu_indices zeros zeros_like`},
	{entry{class: Elementwise}, `
		abs add _add_relu addcdiv addcmul _amp_foreach_non_finite_check_and_unscale _amp_update_scale angle bitwise_and
		bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift bitwise_xor ceil clamp clamp_max clamp_min
		_conj_physical conj_physical copysign deg2rad div fake_quantize_per_channel_affine_cachemask
		fake_quantize_per_tensor_affine_cachemask _fake_quantize_per_tensor_affine_cachemask_tensor_qparams floor
		_fused_adam _fused_adamw _fused_sgd hardshrink hardsigmoid hardswish hardtanh heaviside huber_loss_backward
		leaky_relu logical_and logical_not logical_or logical_xor __lshift__ _masked_scale maximum minimum
		mse_loss_backward mul neg nextafter prelu _prelu_kernel rad2deg reciprocal relu round __rshift__ rsqrt rsub sgn
		sign smooth_l1_loss_backward softshrink sqrt sub threshold trunc`},
	{entry{class: Elementwise, computes: true}, `
		acos acosh asin asinh atan atan2 atanh celu cos cosh digamma elu erf erfc erfinv exp exp2 expm1 gelu glu glu_jvp
		i0 igamma igammac lgamma log log10 log1p log2 log_sigmoid_forward logaddexp logaddexp2 logit mish mvlgamma
		polygamma pow sigmoid silu sin sinc sinh softplus tan tanh xlogy`},
	// A loss for each element, which a reduction then reads.
	{entry{class: Elementwise, itself: true}, `huber_loss mse_loss smooth_l1_loss`},
	{entry{class: Elementwise, composite: true}, `
		absolute __and__ arccos arccosh arcsin arcsinh arctan arctan2 arctanh clip diff dist divide
		fake_quantize_per_channel_affine fake_quantize_per_tensor_affine feature_alpha_dropout fix float_power greater
		greater_equal __iand__ __ior__ isclose isfinite isreal __ixor__ ldexp less less_equal log_sigmoid multiply
		negative not_equal __or__ relu6 selu square subtract true_divide __xor__`},

	{entry{class: Reduction, args: true}, `
		amax amin _aminmax aminmax _foreach_norm linalg_vector_norm max min nansum native_norm norm prod sum`},
	{entry{class: Reduction, composite: true, args: true}, `
		_batch_norm_stats corrcoef cosine_embedding_loss cosine_similarity cov cross_entropy_loss equal frobenius_norm
		hinge_embedding_loss kl_div l1_loss linalg_matrix_norm linalg_norm margin_ranking_loss mean nanmean nll_loss
		nll_loss2d nll_loss_nd norm_except_dim nuclear_norm pairwise_distance poisson_nll_loss soft_margin_loss
		special_logsumexp sum_to_size trapezoid trapz triplet_margin_loss`},

	{entry{class: Rows, args: true}, `_weight_norm_interface`},
	{entry{class: Rows, channelsLast: true}, `
		batch_norm_backward_elemt batch_norm_backward_reduce batch_norm_elemt batch_norm_gather_stats
		batch_norm_gather_stats_with_counts batch_norm_stats batch_norm_update_stats _batch_norm_with_update
		cudnn_batch_norm miopen_batch_norm _native_batch_norm_legit_no_training quantized_batch_norm`},
	{entry{class: Rows, args: true, channelsLast: true}, `native_batch_norm _native_batch_norm_legit`},
	{entry{class: Rows, composite: true, args: true, channelsLast: true}, `batch_norm _batch_norm_impl_index group_norm`},
	{entry{class: Rows, composite: true, args: true}, `
		istft local_response_norm nanquantile normalize quantile renorm stft _weight_norm`},

	{entry{class: Product}, `
		addbmm addmm _addmm_activation addmv addr baddbmm bmm _cdist_backward _cdist_forward convolution_overrideable
		_cslt_sparse_mm cudnn_convolution_add_relu cudnn_convolution_transpose _cudnn_rnn dot
		_efficient_attention_backward _efficient_attention_forward fbgemm_linear_fp16_weight_fp32_activation
		fbgemm_linear_int8_weight_fp32_activation _flash_attention_backward _flash_attention_forward _int_mm
		miopen_convolution_add_relu miopen_convolution_relu miopen_convolution_transpose mkl::_mkl_linear
		mkldnn::_linear_pointwise mkldnn_linear mkldnn_rnn_layer mkldnn_rnn_layer_backward mm mv _pdist_forward
		quantized::conv2d quantized::conv2d_relu quantized::linear quantized::linear_dynamic
		_scaled_dot_product_cudnn_attention _scaled_dot_product_flash_attention_for_cpu
		_scaled_dot_product_fused_attention_overrideable _scaled_mm slow_conv2d_forward _sparse_addmm sparse_sampled_addmm _thnn_fused_gru_cell _thnn_fused_lstm_cell vdot
		_weight_int4pack_mm _weight_int8pack_mm`},
	// LAPACK's, which also copy their operands.
	{entry{class: Product, itself: true}, `
		cholesky_inverse _cholesky_solve_helper geqrf linalg_cholesky_ex linalg_eig _linalg_eigh linalg_householder_product
		linalg_ldl_factor_ex linalg_ldl_solve linalg_lstsq linalg_lu_factor_ex linalg_lu_solve linalg_qr
		linalg_solve_triangular _linalg_svd ormqr triangular_solve`},
	{entry{class: Product, composite: true}, `
		cholesky cholesky_solve det inverse linalg_cholesky linalg_cond _linalg_det linalg_det linalg_eigh linalg_eigvals
		linalg_eigvalsh linalg_inv linalg_inv_ex linalg_ldl_factor linalg_lu linalg_lu_factor linalg_matrix_exp
		linalg_matrix_rank linalg_pinv _linalg_slogdet linalg_slogdet _linalg_solve_ex linalg_solve linalg_solve_ex
		linalg_svd linalg_svdvals linalg_tensorinv linalg_tensorsolve logdet lu_solve matrix_exp orgqr pinverse qr slogdet
		svd`},
	// Their results' sizes follow from strides and paddings.
	{entry{class: Product, args: true}, `
		_conv_depthwise2d conv_depthwise3d cudnn_convolution cudnn_convolution_relu miopen_convolution
		miopen_depthwise_convolution mkldnn::_convolution_pointwise mkldnn_convolution _nnpack_spatial_convolution
		_slow_conv2d_backward _slow_conv2d_forward slow_conv3d_forward slow_conv_dilated2d slow_conv_dilated3d
		slow_conv_transpose2d slow_conv_transpose3d`},
	{entry{class: Product, composite: true, args: true}, `convolution`},
	{entry{class: Product, composite: true}, `
		bilinear cdist chain_matmul conv1d conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d conv_transpose3d
		_convolution _convolution_mode _euclidean_dist ger _grouped_mm gru gru_cell inner kron
		linalg_matmul linalg_matrix_power linalg_multi_dot linalg_vecdot linear lstm lstm_cell matmul matrix_power
		_native_multi_head_attention outer pdist rnn_relu rnn_relu_cell rnn_tanh rnn_tanh_cell
		_scaled_dot_product_attention scaled_dot_product_attention _scaled_dot_product_attention_math
		_scaled_dot_product_efficient_attention _scaled_dot_product_flash_attention _sparse_mm tensordot thnn_conv2d
		_transform_bias_rescale_qkv _transformer_encoder_layer_fwd _trilinear`},

	{entry{class: Gather}, `
		embedding_renorm index _index_put_impl
		max_unpool2d max_unpool3d nll_loss_backward nll_loss_forward put take torchvision::nms torchvision::roi_align`},
	{entry{class: Gather, args: true}, `
		_embedding_bag _embedding_bag_dense_backward _embedding_bag_forward_only embedding_dense_backward gather index_add index_copy index_fill
		index_reduce index_select scatter scatter_add`},
	{entry{class: Gather, composite: true}, `
		adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool1d affine_grid_generator argwhere
		avg_pool1d diag diagonal_backward embedding embedding_bag grid_sampler index_put interpolate max_pool1d
		max_pool1d_with_indices max_pool2d max_pool3d nonzero_numpy one_hot select_backward slice_backward
		take_along_dim trace unfold_backward _unsafe_index _unsafe_index_put upsample value_selecting_reduction_backward`},

	// These compare, choose, divide, draw numbers, or go over rows element by element, or evaluate functions: of
	// contiguous operands PyTorch 1.13 takes two to a hundred times what their memory does.
	{entry{class: Elementwise, overwrites: true, computes: true}, `
		bernoulli cauchy exponential geometric log_normal _no_grad_normal _no_grad_uniform normal random uniform`},
	{entry{class: Elementwise, composite: true, computes: true}, `
		binary_cross_entropy_with_logits cross logspace rand rand_like randint randint_like randn randn_like randperm
		rrelu rrelu_with_noise`},
	{entry{class: Elementwise, computes: true}, `
		binomial complex eq floor_divide fmax fmin fmod frac frexp _fused_dropout gcd ge gt hypot isin isinf isnan
		isneginf isposinf lcm le lerp linalg_cross lt masked_fill nan_to_num native_dropout ne poisson polar remainder
		signbit _standard_gamma tril triu where`},
	{entry{class: Elementwise, itself: true, computes: true}, `binary_cross_entropy`},
	{entry{class: Reduction, args: true, computes: true}, `
		all any argmax argmin bincount count_nonzero histc histogram logsumexp median mode nanmedian std std_mean var
		var_mean`},
	{entry{class: Reduction, composite: true, args: true, computes: true}, `allclose`},
	{entry{class: Rows, args: true, computes: true}, `
		_cummax_helper _cummin_helper cumprod cumsum _fft_c2c _fft_c2r _fft_r2c kthvalue _log_softmax
		_log_softmax_backward_data _logcumsumexp logcumsumexp _masked_softmax nonzero _softmax _softmax_backward_data
		sort topk _unique unique_consecutive unique_dim`},
	{entry{class: Rows, args: true, computes: true}, `_fused_rms_norm native_layer_norm`},
	{entry{class: Rows, channelsLast: true, computes: true}, `native_group_norm`},
	{entry{class: Rows, composite: true, args: true, computes: true}, `
		argsort cummax cummin instance_norm layer_norm log_softmax msort rms_norm _safe_softmax softmax softmin special_log_softmax
		special_softmax`},
	{entry{class: Gather, args: true, computes: true}, `scatter_reduce`},
	{entry{class: Gather, computes: true}, `
		bucketize _ctc_loss masked_scatter masked_select multi_margin_loss multilabel_margin_loss_backward
		multilabel_margin_loss_forward multinomial
		nll_loss2d_backward nll_loss2d_forward searchsorted _unique2`},
	{entry{class: Gather, args: true, computes: true}, `
		reflection_pad1d reflection_pad2d reflection_pad3d replication_pad1d replication_pad2d replication_pad3d`},
	{entry{class: Gather, args: true, computes: true}, `
		_adaptive_avg_pool2d _adaptive_avg_pool3d adaptive_max_pool2d adaptive_max_pool3d avg_pool2d avg_pool3d col2im
		cudnn_grid_sampler fractional_max_pool2d fractional_max_pool3d grid_sampler_2d grid_sampler_3d im2col
		max_pool2d_with_indices max_pool3d_with_indices quantized_max_pool2d upsample_bicubic2d _upsample_bicubic2d_aa
		upsample_bilinear2d _upsample_bilinear2d_aa upsample_linear1d upsample_nearest1d upsample_nearest2d
		upsample_nearest3d _upsample_nearest_exact1d _upsample_nearest_exact2d _upsample_nearest_exact3d
		upsample_trilinear3d mkldnn_adaptive_avg_pool2d mkldnn_avg_pool2d mkldnn_max_pool2d`},
}

// scopes are the first parts of the names of what is no operator but a stretch
// of the program: of autograd, compilers, loaders, and the user's own.
var scopes = []string{
	"[pytorch|profiler|", "autograd::engine::", "torch::autograd::", "nn.Module:", "Optimizer.",
	"ProfilerStep", "Torch-Compiled Region", "TorchDynamo ", "AOTDispatcher ", "CompiledFunction", "CompiledFxGraph",
	"## Call CompiledFxGraph", "Call CompiledFxGraph", "Pregraph bytecode", "enumerate(DataLoader)", "DistributedDataParallel.", "FullyShardedDataParallel.",
	"torch/", "torch.", "record_param_comms",
}

// byName is table by the operators' names. It is made when it is used first: most commands never are
// about operators.
var byName = sync.OnceValue(func() map[string]entry {
	names := map[string]entry{}
	for _, row := range table {
		row.composite = row.composite || !row.class.touches()
		for _, op := range strings.Fields(row.ops) {
			if !strings.Contains(op, "::") {
				op = "aten::" + op
			}
			names[op] = row.entry
		}
	}
	return names
})

// lookUp returns what is known of the operator that a profile names op.
func lookUp(op string) entry {
	name, _, _ := strings.Cut(op, ".") // the overload
	for _, name := range []string{name, strings.TrimSuffix(name, "_"), strings.TrimSuffix(name, "_out")} {
		if e, ok := byName()[name]; ok {
			return e
		}
	}
	if name, ok := strings.CutPrefix(name, "aten::"); ok {
		if e, ok := byRule(strings.TrimSuffix(name, "_")); ok {
			return e
		}
	}
	if name == "detach" || name == "detach_" { // inside aten::detach, as autograd names its own
		return byName()["aten::detach"]
	}
	if isScope(op) {
		return entry{class: None, composite: true}
	}
	return entry{class: Unknown, composite: true}
}

// byRule says what an operator of aten does that is not in the table, by its
// name without the prefix.
func byRule(name string) (entry, bool) {
	if base, ok := strings.CutSuffix(name, "_copy"); ok && byName()["aten::"+base].class == View {
		return entry{class: Copy}, true
	}
	if base, ok := strings.CutSuffix(name, "_backward"); ok {
		if e := byName()["aten::"+base]; e.class != "" && e.class.touches() {
			e.composite = false
			return e, true
		}
	}
	switch {
	case name == "_foreach_zero", name == "_foreach_copy":
		return entry{class: Elementwise, overwrites: true}, true
	case strings.HasPrefix(name, "_foreach_"):
		return entry{class: Elementwise}, true
	case strings.HasPrefix(name, "special_"):
		return entry{class: Elementwise, composite: true}, true
	case strings.HasPrefix(name, "fft_"):
		return entry{class: Rows, composite: true, args: true}, true
	}
	return entry{}, false
}

// Computes reports whether an operator takes longer to compute, a function such as exp or erf, a variance
// or the place of the greatest, than to read its operands and write its result.
func (op Operator) Computes() bool {
	e := lookUp(op.Op)
	if op.halves(e) {
		return true
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(op.Op, "aten::"), ".")
	switch strings.TrimSuffix(name, "_") {
	case "max", "min", "aminmax": // of a dim they go over elements one by one
		if len(op.Args) > 1 {
			_, err := strconv.Atoi(op.Args[1])
			return err == nil
		}
	case "norm", "linalg_vector_norm":
		return !op.euclidean()
	case "native_batch_norm", "_native_batch_norm_legit":
		return op.Trains()
	case "amax", "amin", "prod": // so do these of what has no elements side by side (binary_kernel_reduce_vec in Reduce.h)
		return len(op.Inputs) > 0 && op.Inputs[0].Bytes() > int64(op.Inputs[0].ItemSize()) && !slices.Contains(op.Inputs[0].Strides, 1)
	case "scatter": // of a number this converts it for each element (ScatterGatherKernel.cpp)
		return len(op.Inputs) == 2
	case "stack": // of the last dim and what is floating this goes over elements, and else is a cat (StackKernel.cpp)
		return op.alongLast() && floating(op.Inputs[0].DType)
	case "index", "_unsafe_index":
		return len(op.Inputs) > 0 && (op.Inputs[0].ItemSize() < 4 && !op.indexesLast() || op.masked(len(op.Inputs[0].Shape)))
	case "index_put", "_index_put_impl":
		return op.masked(1)
	case "flip":
		return op.flipsShortRuns()
	case "pixel_shuffle", "pixel_unshuffle": // which divide for each element of what is no channels_last (PixelShuffleKernel.cpp)
		return len(op.Inputs) > 0 && op.Inputs[0].contiguous()
	}
	return e.computes || op.ofSlowDTypes(e, strings.TrimSuffix(name, "_"))
}

// indexesLast reports whether an operator takes single elements, x[..., i]: what it returns has the numbers in the place of the
// last dim, and its list says so or they would not fit that of the first.
func (op Operator) indexesLast() bool {
	if len(op.Inputs) != 2 || len(op.Outputs) != 1 || len(op.Inputs[0].Shape) < 2 {
		return false
	}
	x, index, y := op.Inputs[0].Shape, op.Inputs[1].Shape, op.Outputs[0].Shape
	return slices.Equal(slices.Concat(x[:len(x)-1], index), y) && (op.Inputs[1].Nth == len(x)-1 || !slices.Equal(slices.Concat(index, x[1:]), y))
}

// masked reports whether a tensor of so many dims, or more, says of each place whether it is meant: of those that are, the
// operator makes numbers first, one by one.
func (op Operator) masked(dims int) bool {
	return slices.ContainsFunc(op.Inputs, func(o Operand) bool {
		return o.InList && len(o.Shape) >= dims && (o.DType == "bool" || o.DType == "uint8")
	})
}

// floating reports whether a dtype is one of numbers with a fraction that are not complex.
func floating(dtype string) bool { return strings.HasPrefix(dtype, "float") || dtype == "bfloat16" }

// flipsShortRuns reports whether a flip leaves fewer elements in their order, side by side, than a vector or two has: it
// copies by loops over these, of 8 B and more an element as fast as they come.
func (op Operator) flipsShortRuns() bool {
	dims, known := op.Numbers(1)
	if !known || len(dims) == 0 || len(op.Inputs) == 0 {
		return false
	}
	x := op.Inputs[0]
	flipped := math.MaxInt // the least stride along which it goes back
	for _, d := range dims {
		if d < 0 {
			d += len(x.Shape)
		}
		if d >= 0 && d < min(len(x.Shape), len(x.Strides)) && x.Shape[d] > 1 {
			flipped = min(flipped, x.Strides[d])
		}
	}
	run := 1
	for d, n := range x.Shape {
		if d < len(x.Strides) && x.Strides[d] < flipped {
			run = int(times(int64(run), n))
		}
	}
	return flipped < math.MaxInt && run < 16 && x.ItemSize() < 8
}

// ofSlowDTypes reports whether an operator goes element by element for the dtypes of its operands: PyTorch 1.13 has no vectors
// of uint8 (cpu/vec), functions of complex numbers are the C++ library's, and bool is converted to what is floating one by one.
func (op Operator) ofSlowDTypes(e entry, name string) bool {
	if e.class != Elementwise && e.class != Copy || e.overwrites && e.class != Copy || op.fills() {
		return false
	}
	all := slices.Concat(op.Inputs, op.Outputs)
	written := slices.IndexFunc(all, func(o Operand) bool { return o.Role != Input })
	if written < 0 {
		return false
	}
	y := all[written].DType
	reads := func(dtype string) bool {
		return slices.ContainsFunc(op.Inputs, func(o Operand) bool { return o.Role != Output && len(o.Shape) > 0 && o.DType == dtype })
	}
	switch {
	case floating(y) && reads("bool"):
		return true
	case e.class == Copy:
		return false
	case y == "uint8" && reads("uint8"):
		return !slices.Contains([]string{"abs", "ceil", "floor", "round", "trunc"}, name) // copies, of whole numbers
	}
	return slices.Contains([]string{"abs", "angle", "rsqrt", "sqrt"}, name) && (reads("complex64") || reads("complex128"))
}

// alongLast reports whether the second argument of an operator names the last dim of its first.
func (op Operator) alongLast() bool {
	if len(op.Args) < 2 || len(op.Inputs) == 0 {
		return false
	}
	d, err := strconv.Atoi(op.Args[1])
	rank := len(op.Inputs[0].Shape)
	if op.Inputs[0].InList { // of a stack, whose result has a dim more
		rank++
	}
	return err == nil && rank > 1 && (d == -1 || d == rank-1)
}

// Trains reports whether an operator is a batch_norm that computes a mean and a variance, which it does one element
// after the other.
func (op Operator) Trains() bool {
	name, _, _ := strings.Cut(strings.TrimPrefix(op.Op, "aten::"), ".")
	return slices.Contains([]string{"native_batch_norm", "_native_batch_norm_legit"}, name) && len(op.Args) > 5 && strings.EqualFold(op.Args[5], "true")
}

// euclidean reports whether a norm is that of squares of float32 or bfloat16 along the last dim, or of all that fills its memory, which
// alone PyTorch computes in vectors (norm_kernel_tensor_iterator_impl in ReduceOpsKernel.cpp), or of which the profile does not
// say what it is.
func (op Operator) euclidean() bool {
	dims, known := op.Dims()
	if !known || len(dims) == 0 {
		return true
	}
	x := op.Inputs[0]
	l, err := x.Layout()
	return (len(op.Args) < 2 || slices.Contains([]string{"2", "2.0", "", "None", "<None>"}, op.Args[1])) &&
		slices.Contains([]string{"float32", "bfloat16"}, x.DType) && dims[len(dims)-1] == len(x.Shape)-1 && (len(dims) == 1 || err == nil && l.IsDense())
}

// halves reports whether an operator computes with float16, of which a CPU converts each element to float32 and back, one by
// one (c10/util/Half.h).
func (op Operator) halves(e entry) bool {
	if e.class != Elementwise && e.class != Reduction || e.overwrites || op.fills() {
		return false
	}
	return slices.ContainsFunc(op.Inputs, func(o Operand) bool { return o.DType == "float16" && o.Role != Output })
}

// fills reports whether an operator makes a tensor of the shape or the dtype of one that it does not read.
func (op Operator) fills() bool {
	name, _, _ := strings.Cut(op.Op, ".")
	return strings.HasSuffix(name, "_like") || strings.HasPrefix(name, "aten::new_")
}

// TakesChannelsLast reports whether a Rows operator, which else wants contiguous operands, takes
// channels_last as it is (PyTorch's aten/src/ATen/native/batch_norm.cpp and group_norm.cpp,
// by Tensor::suggest_memory_format).
func (op Operator) TakesChannelsLast() bool { return lookUp(op.Op).channelsLast }

// resultAfter is, of operators that each compute an element from those at its place, and of products, how many arguments
// they have that may be tensors: one after these is where the result goes (out=). Profiles say so by a
// schema or, as a Kineto trace, not at all.
var resultAfter = sync.OnceValue(func() map[string]int {
	after := map[string]int{}
	for n, ops := range []string{1: `
		abs absolute acos acosh angle asin asinh atan atanh bitwise_not ceil conj_physical cos cosh deg2rad digamma elu erf
		erfc erfinv exp exp2 expm1 floor frac gelu hardsigmoid hardswish hardtanh i0 leaky_relu lgamma linalg_lu_factor_ex
		log log10 log1p log2 logical_not logit mish nan_to_num neg negative rad2deg reciprocal round rsqrt sgn sigmoid sign signbit silu
		sin sinc sinh softplus softshrink sqrt square tan tanh threshold trunc`, 2: `
		add atan2 bmm bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor clamp_max clamp_min complex
		copysign div divide eq floor_divide fmax fmin fmod gcd ge gt heaviside hypot igamma igammac lcm ldexp le
		logaddexp logaddexp2 logical_and logical_or logical_xor lt maximum minimum mm mul multiply mv ne nextafter polar pow
		remainder sub subtract true_divide xlogy`, 3: `
		addcdiv addcmul addmm addmv baddbmm clamp lerp where`} {
		for _, op := range strings.Fields(ops) {
			after["aten::"+op] = n
		}
	}
	return after
})

// isScope reports whether an operator's name is that of a stretch of the
// program. Autograd names its nodes after what they undo: AddmmBackward0.
func isScope(op string) bool {
	if isNode(op) {
		return true
	}
	return slices.ContainsFunc(scopes, func(scope string) bool { return strings.HasPrefix(op, scope) })
}

// isNode reports whether a name is that of a node of autograd.
func isNode(op string) bool {
	return strings.HasSuffix(strings.TrimRight(op, "0123456789"), "Backward") && !strings.Contains(op, "::")
}

// isBackward reports whether what is called in a stretch, or a function, of this name computes gradients.
func isBackward(op string) bool {
	return isNode(op) || strings.HasPrefix(op, "autograd::engine::") || strings.HasPrefix(op, "torch.") && strings.HasSuffix(op, ".backward")
}

// inPlace reports whether an operator's name says that it writes into its first
// argument, as aten::add_ does.
func inPlace(op string) bool {
	op, _, _ = strings.Cut(op, ".")
	return strings.HasSuffix(op, "_") && !strings.HasSuffix(op, "__")
}

// dimArgument is the number of the argument that names the dims along which an
// operator goes, where it is not the second.
var dimArgument = map[string]int{"norm": 2, "linalg_vector_norm": 2, "topk": 2, "kthvalue": 2, "renorm": 2,
	"_softmax_backward_data": 2, "_log_softmax_backward_data": 2, "_foreach_norm": none, "histc": none, "bincount": none,
	"_weight_norm_interface": 2}

// none is the number of no argument.
const none = -1

// lastDims are the operators of which an argument is the sizes of the last dims,
// along which they go, and its number.
var lastDims = map[string]int{"native_layer_norm": 1, "layer_norm": 1, "native_layer_norm_backward": 2, "rms_norm": 1, "_fused_rms_norm": 1}

// Dims returns the dims of its first input along which a Reduction or a Rows
// operator goes, in ascending order. It reports false if the profile, or the
// table of operators, does not say.
func (op Operator) Dims() ([]int, bool) {
	if op.Class != Reduction && op.Class != Rows || len(op.Inputs) == 0 || op.Inputs[0].InList {
		return nil, false
	}
	rank := len(op.Inputs[0].Shape)
	name, _, _ := strings.Cut(strings.TrimPrefix(op.Op, "aten::"), ".")
	if at, ok := lastDims[name]; ok {
		sizes, listed := op.Numbers(at)
		if !listed || len(sizes) > rank {
			return nil, false
		}
		return nest.UpTo(rank)[rank-len(sizes):], true
	}
	at, ok := dimArgument[name]
	if !ok {
		at = 1
	}
	if len(op.Args) == 2 && slices.Contains([]string{"sum", "mean", "prod", "nansum"}, name) {
		return nest.UpTo(rank), true // sum(x, dtype)
	}
	numbers, ok := op.Numbers(at)
	if at == none || len(op.Args) == 0 || !ok {
		return nil, false
	}
	if len(numbers) == 0 { // none are named: all
		return nest.UpTo(rank), op.Class == Reduction
	}
	dims := make([]int, 0, len(numbers))
	for _, d := range numbers {
		if d < 0 {
			d += rank
		}
		if d < 0 || d >= max(rank, 1) {
			return nil, false
		}
		dims = append(dims, d)
	}
	slices.Sort(dims)
	return dims, true
}

// Numbers are the whole numbers of an argument: of a number, a list, or none
// (which may be a dtype, a flag, or not there). It reports false of what else
// an argument is.
func (op Operator) Numbers(at int) ([]int, bool) {
	if at < 0 || at >= len(op.Args) {
		return nil, at >= 0
	}
	switch text := op.Args[at]; text {
	case "", "None", "<None>", "True", "False", "true", "false":
		return nil, true
	default:
		var numbers []int
		for _, word := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("[], ", r) }) {
			n, err := strconv.Atoi(word)
			if err != nil {
				return nil, false
			}
			numbers = append(numbers, n)
		}
		return numbers, true
	}
}
