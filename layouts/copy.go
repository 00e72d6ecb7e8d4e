package layouts

import "slices"

// blockedNumel is the fewest elements that copy_ transposes in blocks.
const blockedNumel = 60 * 60

// Copy returns how PyTorch does dst.copy_(src), with elements of the dtypes to and from (1.13,
// aten/src/ATen/native/Copy.cpp). A copy of no element walks nothing. A contiguous copy, a reshape
// that copies and a clone copy to a fresh destination. Copy refuses what [Into] refuses.
func Copy(dst, src Layout, to, from DType) (Iteration, error) {
	it, err := Into(dst, src)
	switch {
	case err != nil || dst.Numel() == 0:
		return Iteration{}, err
	case to == from && dst.IsContiguous() && dst.Numel() >= blockedNumel &&
		src.isTransposedMatrix() && slices.Equal(dst.shape, src.shape):
		if it = (Iteration{Output: dst, Block: 60}); to == Uint8 { // not other types of one byte
			it.Block = 120
		}
	}
	return it, nil
}

// isTransposedMatrix reports a matrix whose transposed view has exactly contiguous strides, in dims
// of size 1 too.
func (l Layout) isTransposedMatrix() bool {
	return l.Rank() == 2 && l.strides[0] == 1 && l.strides[1] == l.shape[0]
}
