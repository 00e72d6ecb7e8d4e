package layouts

// ResultType returns the dtype in which PyTorch computes an operator on tensors with dims, 0-d
// tensors and numbers (Int64, Float32 or Complex64). A later group counts only if its kind is
// higher: complex over floating, floating over integers, integers over Bool
// (ATen/native/TypeProperties.cpp, result_type). Inputs of other dtypes are converted; see
// [Elementwise].
//
// ResultType returns Undefined without dtypes, and if no DType fits (Float16 with a complex
// number).
func ResultType(tensors, zeroDim, numbers []DType) DType {
	return overrule(promoteAll(tensors), overrule(promoteAll(zeroDim), promoteAll(numbers)))
}

// overrule is combine_categories; high is of the earlier group.
func overrule(high, low DType) DType {
	switch {
	case high.kind() == kindNone:
		return low
	case high.kind() >= low.kind():
		return high
	case high.kind() == kindFloating: // and low is complex
		return map[DType]DType{Float16: Undefined, BFloat16: Complex64, Float32: Complex64,
			Float64: Complex128}[high]
	}
	return promote(high, low)
}

func promoteAll(list []DType) DType {
	all := Undefined
	for _, d := range list {
		all = promote(all, d)
	}
	return all
}

// promote returns the smallest dtype that holds both (c10/core/ScalarType.h, promoteTypes). A
// floating or complex dtype holds any integer.
func promote(a, b DType) DType {
	if a.kind() > b.kind() || a.kind() == b.kind() && a.Size() > b.Size() {
		a, b = b, a
	}
	switch { // b is of the higher kind, or the larger
	case a == Uint8 && b == Int8 || a == Int8 && b == Uint8:
		return Int16
	case a == Float16 && b == BFloat16 || a == BFloat16 && b == Float16:
		return Float32
	case a == Float64 && b == Complex64:
		return Complex128
	}
	return b
}
