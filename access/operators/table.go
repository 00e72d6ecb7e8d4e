package operators

import (
	"slices"
	"strconv"
	"strings"
)

// An entry is what is known of an operator.
type entry struct {
	class Class
	// An operator that is composite does all its work by calling others, where it
	// calls any: it is counted only where none of these touches memory. Views and
	// operators of class None always are.
	composite bool
	// args: its arguments that are no tensors say which memory is touched.
	args bool
	// overwrites: its first argument is written, and not read.
	overwrites bool
}

// table has the operators, those of aten without the prefix, and all without
// the _ of the in-place variant. To add one, write it into the list of what it
// does to memory. (aten/src/ATen/native/native_functions.yaml lists PyTorch's;
// CompositeImplicitAutograd there is composite here.)
var table = []struct {
	entry
	ops string
}{
	{entry{class: View}, `
		_conj _neg_view _reshape_alias _unsafe_view adjoint alias as_strided atleast_1d
		atleast_2d atleast_3d chunk data detach diagonal expand expand_as flatten imag
		lift_fresh movedim moveaxis mH mT narrow numpy_T permute positive ravel real refine_names
		reshape reshape_as resolve_conj resolve_neg select set slice split split_with_sizes
		squeeze swapaxes swapdims t tensor_split transpose unbind unflatten unfold
		inductor::_reinterpret_tensor unsafe_chunk unsafe_split unsafe_split_with_sizes unsqueeze view view_as view_as_complex
		view_as_real vsplit hsplit dsplit`},

	// These allocate, ask, or return their argument where they call nothing.
	{entry{class: None}, `
		_assert_async _has_compatible_shallow_copy_type _local_scalar_dense _nnpack_available
		_use_cudnn_ctc_loss _version alpha_dropout can_cast contiguous cpu cuda cudnn_is_acceptable dropout
		empty empty_like empty_permuted empty_quantized empty_strided feature_dropout is_complex
		is_contiguous is_floating_point is_leaf is_nonzero is_pinned is_same_size item lift
		new_empty new_empty_strided numel output_nr record_stream requires_grad resize resize_as
		result_type retain_grad retains_grad size storage_offset stride sym_numel sym_size
		sym_storage_offset sym_stride sync to type_as
		profiler::_record_function_enter profiler::_record_function_enter_new
		profiler::_record_function_exit record_param_comms c10d::barrier`},

	{entry{class: Copy, overwrites: true}, `copy _copy_from _copy_from_and_resize`},
	{entry{class: Copy}, `
		_to_dense dequantize flip quantize_per_channel quantize_per_tensor
		quantize_per_tensor_dynamic repeat_interleave roll to_dense to_mkldnn mkldnn_reorder_conv2d_weight
		mkldnn_reorder_conv3d_weight mkldnn_reorder_linear_weight`},
	{entry{class: Copy, composite: true, args: true}, `
		_cat block_diag cat column_stack concat concatenate constant_pad_nd dstack hstack pad
		row_stack stack vstack`},
	{entry{class: Copy, composite: true}, `
		_pin_memory _reshape_copy _to_copy bfloat16 channel_shuffle clone combinations double fill_diagonal fliplr
		flipud float half int long native_channel_shuffle new_tensor pin_memory pixel_shuffle pixel_unshuffle
		repeat rot90 tile`},

	// Written, and nothing read.
	{entry{class: Elementwise, overwrites: true}, `
		bernoulli cauchy exponential fill geometric log_normal normal random uniform zero`},
	{entry{class: Elementwise, composite: true}, `
		arange eye full full_like linspace logspace new_full new_ones new_zeros ones ones_like rand
		rand_like randint randint_like randn randn_like randperm scalar_tensor zeros zeros_like`},
	{entry{class: Elementwise}, `
		__and__ __ior__ __iand__ __lshift__ __or__ __rshift__ __xor__ _foreach_abs _foreach_add _foreach_addcdiv
		_foreach_addcmul _foreach_clamp_max _foreach_clamp_min _foreach_copy _foreach_div
		_foreach_exp _foreach_lerp _foreach_maximum _foreach_minimum _foreach_mul _foreach_neg
		_foreach_pow _foreach_reciprocal _foreach_sign _foreach_sqrt _foreach_sub _foreach_zero
		_fused_adam _fused_adamw _fused_dropout _fused_sgd
		_amp_foreach_non_finite_check_and_unscale abs acos acosh add addcdiv addcmul angle
		asin asinh atan atan2 atanh binary_cross_entropy binary_cross_entropy_backward
		bitwise_and bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift bitwise_xor ceil celu
		clamp clamp_max clamp_min complex conj_physical copysign cos cosh deg2rad digamma div
		elu elu_backward eq erf erfc erfinv exp exp2 expm1 floor floor_divide fmax fmin fmod frac
		ge gelu gelu_backward glu glu_backward gt hardshrink hardsigmoid hardsigmoid_backward hardswish
		hardswish_backward hardtanh hardtanh_backward heaviside huber_loss_backward hypot isfinite isinf isnan
		ldexp le leaky_relu leaky_relu_backward lerp lgamma log log10 log1p log2 log_sigmoid_forward
		log_sigmoid_backward logaddexp logaddexp2 logical_and logical_not logical_or logical_xor
		logit lt masked_fill maximum minimum mish mish_backward mse_loss_backward mul
		nan_to_num native_dropout native_dropout_backward ne neg nextafter polar pow prelu _prelu_kernel
		_prelu_kernel_backward rad2deg reciprocal relu remainder round rrelu rsqrt rsub
		sgn sigmoid sigmoid_backward sign signbit silu silu_backward sin sinc sinh smooth_l1_loss_backward
		softplus softplus_backward softshrink sqrt square sub tan tanh tanh_backward threshold
		threshold_backward tril triu trunc where xlogy _masked_scale`},
	{entry{class: Elementwise, composite: true}, `
		clip conj divide feature_alpha_dropout greater greater_equal less less_equal log_sigmoid multiply
		negative not_equal relu6 selu subtract true_divide absolute fix rrelu_with_noise`},

	{entry{class: Reduction, args: true}, `
		_foreach_norm all amax amin aminmax any argmax argmin bincount count_nonzero histc linalg_vector_norm
		logsumexp max min median mode nanmedian nansum norm prod std std_mean sum var
		var_mean`},
	{entry{class: Reduction, composite: true, args: true}, `
		_batch_norm_stats cosine_similarity cross_entropy_loss equal frobenius_norm huber_loss kl_div
		l1_loss mean mse_loss nanmean nll_loss nll_loss_nd nll_loss2d nuclear_norm pairwise_distance smooth_l1_loss
		sum_to_size linalg_norm trace allclose`},
	{entry{class: Reduction, args: true}, `
		nll_loss_forward nll_loss_backward nll_loss2d_forward nll_loss2d_backward`},

	{entry{class: Rows, args: true}, `
		_log_softmax _log_softmax_backward_data _softmax _softmax_backward_data _weight_norm_interface
		_cummax_helper _cummin_helper cumprod cumsum kthvalue logcumsumexp msort sort topk
		_masked_softmax _masked_softmax_backward nonzero _fft_c2c _fft_c2r _fft_r2c`},
	{entry{class: Rows, args: true}, `_fused_rms_norm native_layer_norm native_layer_norm_backward`},
	{entry{class: Rows}, `
		_batch_norm_with_update batch_norm_backward cudnn_batch_norm cudnn_batch_norm_backward
		miopen_batch_norm miopen_batch_norm_backward native_batch_norm native_batch_norm_backward
		native_group_norm native_group_norm_backward
		_native_batch_norm_legit _native_batch_norm_legit_no_training batch_norm_gather_stats_with_counts
		batch_norm_stats batch_norm_elemt batch_norm_backward_elemt batch_norm_backward_reduce`},
	{entry{class: Rows, composite: true, args: true}, `
		_batch_norm_impl_index _batch_norm_impl_index_backward argsort batch_norm cummax cummin
		fft_fft fft_fft2 fft_fftn fft_ifft fft_irfft fft_rfft group_norm instance_norm layer_norm local_response_norm
		log_softmax normalize renorm rms_norm softmax softmin special_softmax _weight_norm`},

	{entry{class: Product}, `
		_addmm_activation _cdist_forward _conv_depthwise2d _cslt_sparse_mm _efficient_attention_forward
		_efficient_attention_backward _flash_attention_forward _flash_attention_backward
		_int_mm _scaled_mm _scaled_dot_product_flash_attention_for_cpu
		_scaled_dot_product_flash_attention_for_cpu_backward _scaled_dot_product_cudnn_attention
		_scaled_dot_product_fused_attention_overrideable _thnn_fused_gru_cell
		_thnn_fused_lstm_cell _weight_int4pack_mm _weight_int8pack_mm addbmm addmm addmv addr baddbmm bmm
		conv_depthwise3d convolution_backward convolution_overrideable
		cudnn_convolution cudnn_convolution_add_relu cudnn_convolution_relu cudnn_convolution_transpose dot ger
		miopen_convolution miopen_convolution_transpose miopen_depthwise_convolution mkldnn_convolution
		mkldnn_linear mkldnn_rnn_layer _cudnn_rnn _cudnn_rnn_backward mm mv slow_conv2d_forward _slow_conv2d_forward
		_slow_conv2d_backward slow_conv3d_forward slow_conv_dilated2d slow_conv_dilated3d slow_conv_transpose2d
		slow_conv_transpose3d thnn_conv2d vdot _nnpack_spatial_convolution
		mkldnn::_convolution_pointwise mkldnn::_linear_pointwise mkl::_mkl_linear
		quantized::linear quantized::linear_dynamic quantized::conv2d quantized::conv2d_relu`},
	{entry{class: Product, composite: true}, `
		_convolution _convolution_mode _scaled_dot_product_attention _scaled_dot_product_attention_math
		_scaled_dot_product_efficient_attention _scaled_dot_product_efficient_attention_backward
		_scaled_dot_product_flash_attention _scaled_dot_product_flash_attention_backward
		_native_multi_head_attention _transform_bias_rescale_qkv _transformer_encoder_layer_fwd _trilinear bilinear
		cdist chain_matmul conv1d conv2d conv3d conv_tbc conv_transpose1d
		conv_transpose2d conv_transpose3d convolution einsum gru gru_cell inner kron linalg_multi_dot linear
		lstm lstm_cell matmul outer rnn_relu rnn_tanh scaled_dot_product_attention tensordot _grouped_mm
		linear_backward matmul_backward`},

	{entry{class: Gather}, `
		_adaptive_avg_pool2d _adaptive_avg_pool2d_backward _adaptive_avg_pool3d _embedding_bag _index_put_impl
		_upsample_bilinear2d_aa _upsample_bicubic2d_aa _unique2
		adaptive_max_pool2d avg_pool2d avg_pool2d_backward avg_pool3d col2im embedding_dense_backward
		embedding_renorm gather grid_sampler_2d grid_sampler_3d im2col index index_add index_copy index_fill index_select
		masked_scatter masked_select max_pool2d_with_indices max_pool2d_with_indices_backward
		max_pool3d_with_indices max_unpool2d mkldnn_max_pool2d mkldnn_avg_pool2d mkldnn_adaptive_avg_pool2d
		multinomial put reflection_pad1d reflection_pad2d replication_pad1d replication_pad2d
		scatter scatter_add scatter_reduce searchsorted bucketize take upsample_bicubic2d upsample_bilinear2d
		upsample_bilinear2d_backward upsample_linear1d upsample_nearest1d upsample_nearest2d
		upsample_nearest2d_backward upsample_nearest3d upsample_trilinear3d _upsample_nearest_exact2d
		quantized_max_pool2d torchvision::nms torchvision::roi_align`},
	{entry{class: Gather, composite: true}, `
		_unsafe_index _unsafe_index_put adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool1d
		affine_grid_generator avg_pool1d embedding embedding_backward embedding_bag grid_sampler index_put interpolate
		gather_backward index_select_backward max_pool1d max_pool1d_with_indices max_pool2d max_pool3d
		nonzero_numpy one_hot take_along_dim upsample argwhere select_backward slice_backward unfold_backward
		diagonal_backward value_selecting_reduction_backward`},
}

// scopes are the first parts of the names of what is no operator but a stretch
// of the program: of autograd, compilers, loaders, and the user's own.
var scopes = []string{
	"[pytorch|profiler|", "autograd::engine::", "torch::autograd::", "nn.Module:", "Optimizer.",
	"ProfilerStep", "Torch-Compiled Region", "TorchDynamo ", "AOTDispatcher ", "CompiledFunction", "CompiledFxGraph",
	"## Call CompiledFxGraph", "Call CompiledFxGraph", "Pregraph bytecode", "enumerate(DataLoader)", "DistributedDataParallel.", "FullyShardedDataParallel.",
	"torch/", "torch.",
}

// byName is table by the operators' names.
var byName = func() map[string]entry {
	names := map[string]entry{}
	for _, row := range table {
		row.composite = row.composite || !row.class.touches()
		for _, op := range strings.Fields(row.ops) {
			names[op] = row.entry
		}
	}
	return names
}()

// lookUp returns what is known of the operator that a profile names op.
func lookUp(op string) entry {
	name := strings.TrimPrefix(op, "aten::")
	name, _, _ = strings.Cut(name, ".") // the overload
	for _, name := range []string{name, strings.TrimSuffix(name, "_"), strings.TrimSuffix(name, "_out")} {
		if e, ok := byName[name]; ok {
			return e
		}
	}
	if isScope(op) {
		return entry{class: None, composite: true}
	}
	return entry{class: Unknown, composite: true}
}

// isScope reports whether an operator's name is that of a stretch of the
// program. Autograd names its nodes after what they undo: AddmmBackward0.
func isScope(op string) bool {
	if strings.HasSuffix(strings.TrimRight(op, "0123456789"), "Backward") && !strings.Contains(op, "::") {
		return true
	}
	return slices.ContainsFunc(scopes, func(scope string) bool { return strings.HasPrefix(op, scope) })
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
	"nll_loss_forward": none, "nll_loss_backward": none, "nll_loss2d_forward": none, "nll_loss2d_backward": none,
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
		sizes, listed := op.numbers(at)
		if !listed || len(sizes) > rank {
			return nil, false
		}
		return upTo(rank)[rank-len(sizes):], true
	}
	at, ok := dimArgument[name]
	if !ok {
		at = 1
	}
	if len(op.Args) == 2 && slices.Contains([]string{"sum", "mean", "prod", "nansum"}, name) {
		return upTo(rank), true // sum(x, dtype)
	}
	numbers, ok := op.numbers(at)
	if at == none || len(op.Args) == 0 || !ok {
		return nil, false
	}
	if len(numbers) == 0 { // none are named: all
		return upTo(rank), op.Class == Reduction
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

// numbers are the whole numbers of an argument: of a number, a list, or none
// (which may be a dtype, a flag, or not there). It reports false of what else
// an argument is.
func (op Operator) numbers(at int) ([]int, bool) {
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

// upTo is 0, 1, ... n-1.
func upTo(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}
