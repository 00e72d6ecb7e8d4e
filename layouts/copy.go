package layouts

import "slices"

// A CopyPath is a way that PyTorch's copy_ takes.
type CopyPath uint8

// The paths of copy_ (1.13, aten/src/ATen/native/Copy.cpp).
const (
	CopyNothing CopyPath = iota // no element, or a tensor to itself
	CopyWalk                    // TensorIterator's loops
	CopyBlocks                  // a transposed matrix, by square blocks through a buffer
)

// String is "nothing", "walk" or "blocks".
func (p CopyPath) String() string { return [...]string{"nothing", "walk", "blocks"}[p] }

// A CopyPlan is how PyTorch's copy_ goes through memory.
type CopyPlan struct {
	Path CopyPath
	// Block is the edge of the blocks of CopyBlocks, in elements. From one
	// block after the other, by rows of blocks of the destination, columns of
	// the source are copied into a buffer, which is transposed in place, and rows
	// of it to the destination.
	Block     int
	Iteration Iteration // of CopyWalk
}

// blockedNumel is the fewest elements that copy_ transposes by blocks.
const blockedNumel = 60 * 60

// Copy is how PyTorch does dst.copy_(src), where the elements are of the dtypes
// to and from, and same says that both are one tensor. (Two views of the same
// elements are walked in 1.13, and nothing in later versions.) A contiguous
// copy, a reshape that copies and a clone are this, to a fresh destination. It
// refuses what [Into] does.
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
		if to == Uint8 { // not of any type of one byte
			block = 120
		}
		return CopyPlan{Path: CopyBlocks, Block: block}, nil
	}
	return CopyPlan{Path: CopyWalk, Iteration: it}, nil
}

// isTransposedMatrix reports a matrix whose transposed view has exactly the
// strides of a contiguous one; those of dims of size 1 count.
func (l Layout) isTransposedMatrix() bool {
	return l.Rank() == 2 && l.strides[0] == 1 && l.strides[1] == l.shape[0]
}
