package bill

import (
	"slices"
	"strings"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/operators"
	"github.com/stridebench/stridebench/layouts"
)

// promoting are the operators that compute in one dtype, to which they convert operands of others: on a CPU a whole operand, into
// memory of its own, beforehand (TensorIterator.cpp; scans do so in ReduceOps.cpp).
var promoting = strings.Fields(`
	add addcdiv addcmul atan2 bitwise_and bitwise_or bitwise_xor copysign cos cumprod cumsum div eq erf exp expm1 floor_divide fmax
	fmin fmod ge gt hypot le log log10 log1p log2 logaddexp logical_and logical_or logical_xor lt maximum minimum mul ne pow
	reciprocal remainder rsqrt rsub sigmoid sin sqrt sub tan tanh xlogy`)

// promoted is an operand of an elementwise operator in the dtype in which that computes: that of its result, but of a comparison and
// in place that to which its operands promote. What has no dims costs nothing.
func (w *walks) promoted(o tensor, copied bool) tensor {
	if len(o.Shape) == 0 || !slices.Contains(promoting, strings.TrimSuffix(w.name(), "_")) {
		return o
	}
	dtype := w.computed()
	if outputs := w.outputs(); len(outputs) > 0 && outputs[0].DType != "bool" {
		dtype = outputs[0].DType
	}
	if dtype == "" {
		return o
	}
	return w.converted(o, dtype, copied)
}

// computed is the dtype to which the operands promote that have dims, "" where that is not known.
func (w *walks) computed() string {
	var all []layouts.DType
	for _, o := range w.inputs() {
		if len(o.Shape) > 0 {
			t, err := layouts.ParseDType(o.DType)
			if err != nil {
				return ""
			}
			all = append(all, t)
		}
	}
	if t := layouts.ResultType(all, nil, nil); t != layouts.Undefined {
		return t.String()
	}
	return ""
}

// summed is the dtype in which a reduction goes over its input: that of its result, which of a sum of integers is int64 (make_reduction
// in ReduceOpsUtils.h).
func (w *walks) summed() string {
	x := w.op.Inputs[0].DType
	d, err := layouts.ParseDType(x)
	outputs := w.outputs()
	switch {
	case !slices.Contains([]string{"sum", "prod", "nansum", "mean"}, w.name()):
		return x
	case len(outputs) > 0:
		return outputs[0].DType
	case err == nil && d < layouts.Float16: // bool and integers
		return layouts.Int64.String()
	}
	return x
}

// converted is an operand of a dtype, and else a copy of it that is, in its order, by one that the profile has or one inside.
func (w *walks) converted(o tensor, dtype string, copied bool) tensor {
	if o.DType == dtype {
		return o
	}
	fresh := o
	fresh.DType, fresh.at, fresh.Role = dtype, inside, operators.Output
	if l, err := o.Layout(); err == nil && !l.IsDense() {
		fresh = dense(fresh, operators.Output)
	}
	if !copied {
		w.add(access.Copy, nil, w.operand(fresh, access.Output), w.operand(o, access.Input))
	}
	fresh.Role = operators.Input
	return fresh
}
