package layouts

import "slices"

// A CopyPlan says how PyTorch's copy_ goes through memory (1.13, aten/src/ATen/native/Copy.cpp). A
// copy of no element, or of a tensor to itself, walks nothing.
type CopyPlan struct {
	// Block is the edge of a block in elements, 0 if TensorIterator walks. A transposed matrix is
	// copied in square blocks, in row-major order of the destination. Each copies columns of the
	// source to a buffer, transposes it in place, and copies its rows to the destination.
	Block     int
	Iteration Iteration // of TensorIterator
}

// blockedNumel is the fewest elements that copy_ transposes in blocks.
const blockedNumel = 60 * 60

// Copy returns how PyTorch does dst.copy_(src), with elements of the dtypes to and from. same says
// that both are one tensor. PyTorch 1.13 walks two views of the same elements; later versions do
// nothing. A contiguous copy, a reshape that copies and a clone copy to a fresh destination. Copy
// refuses what [Into] refuses.
func Copy(dst, src Layout, to, from DType, same bool) (CopyPlan, error) {
	if same {
		return CopyPlan{}, nil
	}
	it, err := Into(dst, src)
	switch {
	case err != nil || dst.Numel() == 0:
		return CopyPlan{}, err
	case to == from && dst.IsContiguous() && dst.Numel() >= blockedNumel &&
		src.isTransposedMatrix() && slices.Equal(dst.shape, src.shape):
		block := 60
		if to == Uint8 { // not for other types of one byte
			block = 120
		}
		return CopyPlan{Block: block}, nil
	}
	return CopyPlan{Iteration: it}, nil
}

// isTransposedMatrix reports a matrix whose transposed view has exactly contiguous strides, in dims
// of size 1 too.
func (l Layout) isTransposedMatrix() bool {
	return l.Rank() == 2 && l.strides[0] == 1 && l.strides[1] == l.shape[0]
}
