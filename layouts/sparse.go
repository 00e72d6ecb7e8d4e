package layouts

import (
	"fmt"
	"slices"
	"strings"
)

// sparseFormats are PyTorch's sparse layouts without "torch.sparse_": coordinates, and rows or
// columns of values or of blocks, compressed.
const sparseFormats = "coo, csr, csc, bsr, bsc"

// A Sparse is a tensor in a sparse format.
type Sparse struct {
	Format string // coo, csr, csc, bsr or bsc
	Shape  []int
	Arrays []SparseArray // the values last
}

// A SparseArray is a contiguous array of a sparse tensor, of the values' dtype or of int64.
type SparseArray struct {
	Name    string // PyTorch's method that returns it
	Tensor  *Tensor
	Meaning string // meaning of an entry, for people
}

// Sparse stores the tensor in a sparse format, as to_sparse, to_sparse_csr and their like do in
// PyTorch 1.13: coo, csr, csc, bsr or bsc. It stores the elements that are not zero, or the blocks
// with such elements. A NaN is stored, -0 is not. COO takes any rank, the others matrices. BSR and
// BSC want a block, rows and columns that divide the matrix; the others take none.
func (t *Tensor) Sparse(format string, block ...int) (*Sparse, error) {
	if err := t.readable(); err != nil {
		return nil, err
	}
	shape := t.layout.Shape()
	if most := max(t.layout.Numel(), slices.Max(append(shape, 0))); most > maxSparse {
		return nil, fmt.Errorf("a tensor of %s is too large: at most %d elements or rows are "+
			"looked at", FormatShape(shape), maxSparse)
	}
	blocks := format == "bsr" || format == "bsc"
	switch {
	case !slices.Contains(strings.Split(sparseFormats, ", "), format):
		return nil, fmt.Errorf("no such format (known: %s)", sparseFormats)
	case !blocks && len(block) > 0:
		return nil, fmt.Errorf("%s has no blocks (bsr and bsc have)", format)
	case format == "coo":
		return t.coordinates(), nil
	case len(shape) != 2:
		return nil, fmt.Errorf("%s stores matrices, and the tensor has %d dims", format, len(shape))
	case !blocks:
		block = []int{1, 1}
	case len(block) != 2 || block[0] <= 0 || block[1] <= 0:
		return nil, fmt.Errorf("%s wants blocks of two positive sizes, such as 2x2, not %s", format,
			formatTuple(block))
	case shape[0]%block[0] != 0 || shape[1]%block[1] != 0:
		return nil, fmt.Errorf("blocks of %s do not divide a matrix of %s", FormatShape(block),
			FormatShape(shape))
	}
	return t.compressed(format, blocks, block), nil
}

// maxSparse keeps empty and expanded tensors from taking all memory.
const maxSparse = 1 << 26

func (t *Tensor) coordinates() *Sparse {
	shape := t.layout.shape
	var places []int
	index := make([][]int64, len(shape))
	number := 0
	for at := range t.layout.Offsets() {
		if t.nonzero(at) {
			places = append(places, at)
			rest := number
			for d := len(shape) - 1; d >= 0; d-- {
				index[d] = append(index[d], int64(rest%shape[d]))
				rest /= shape[d]
			}
		}
		number++
	}
	indices := must(FromSlice(slices.Concat(index...), len(shape), len(places)))
	return &Sparse{"coo", slices.Clone(shape), []SparseArray{
		{"indices", indices, "row d is the indices of the values in dim d"},
		{"values", t.picked(places, len(places)), "what is not zero, in row-major order"},
	}}
}

// compressed stores the columns of the blocks in each row of blocks, or the reverse.
func (t *Tensor) compressed(format string, blocks bool, block []int) *Sparse {
	major, minor := 0, 1 // dims
	if strings.HasSuffix(format, "sc") {
		major, minor = 1, 0
	}
	starts, indices, places := []int64{0}, []int64{}, []int{}
	for i := range t.layout.shape[major] / block[major] {
		for j := range t.layout.shape[minor] / block[minor] {
			part := t.layout.clone()
			part.offset += i*block[major]*part.strides[major] + j*block[minor]*part.strides[minor]
			part.shape = block
			if inside := slices.Collect(part.Offsets()); slices.ContainsFunc(inside, t.nonzero) {
				indices, places = append(indices, int64(j)), append(places, inside...)
			}
		}
		starts = append(starts, int64(len(indices)))
	}
	names, what := [2]string{"row", "col"}, [2]string{"row", "column"}
	sizes, kind := []int{len(indices)}, "value"
	if blocks {
		sizes, kind = append(sizes, block...), "block"
		what = [2]string{"row of blocks", "column of blocks"}
	}
	return &Sparse{format, t.layout.Shape(), []SparseArray{
		{"c" + names[major] + "_indices", must(FromSlice(starts, len(starts))),
			fmt.Sprintf("%s i has the %ss from entry i to the one before entry i+1",
				what[major], kind)},
		{names[minor] + "_indices", must(FromSlice(indices, len(indices))),
			fmt.Sprintf("the %s of each %s", what[minor], kind)},
		{"values", t.picked(places, sizes...),
			fmt.Sprintf("each %s that is not zero, %s by %s", kind, what[major], what[major])},
	}}
}

// picked are elements at places of the storage of a readable tensor, in a row-major one.
func (t *Tensor) picked(places []int, shape ...int) *Tensor {
	return must(t.gather(places, t.DType(), must(fresh("sparse", shape))))
}

// nonzero reports whether the element at a place is not zero.
func (t *Tensor) nonzero(at int) bool { return t.DType().row().get(t.storage, at).c != 0 }

// String prints the tensor as PyTorch does with its default options (torch/_tensor_str.py). An
// array of more than 1000 elements is an excerpt.
func (s *Sparse) String() string {
	const prefix = "tensor("
	indent := strings.Repeat(" ", len(prefix))
	var arrays []string
	for _, a := range s.Arrays {
		head := a.Name + "=tensor("
		arrays = append(arrays, head+a.Tensor.contents(len(prefix)+len(head))+")")
	}
	values := s.Arrays[len(s.Arrays)-1].Tensor // or blocks
	suffixes := []string{"size=" + formatTuple(s.Shape),
		fmt.Sprintf("nnz=%d", values.layout.shape[0])}
	if d := values.DType(); !d.isDefault() {
		suffixes = append(suffixes, "dtype=torch."+d.String())
	}
	suffixes = append(suffixes, "layout=torch.sparse_"+s.Format)
	return addSuffixes(prefix+strings.Join(arrays, ",\n"+indent), suffixes, len(prefix),
		s.Format == "coo")
}

func (t *Tensor) contents(indent int) string {
	if t.layout.Numel() == 0 {
		return "[], size=" + formatTuple(t.layout.shape)
	}
	return t.format(indent)
}
