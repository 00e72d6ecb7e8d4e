package mtx

import (
	"fmt"
	"io"
	"iter"
	"math"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/simcache/trace"
)

// A Product is y = A x for a matrix A in CSR and a vector x, as a sequence of
// accesses. Where x is read is said by what the columns hold: these gathers are
// no loop of fixed steps.
//
// For each row the end of its entries is read (its start is known from the row
// before), then of each entry the column, the value, unless the matrix is a
// pattern, and x at the column; then y is written. Starts and columns are int64s,
// as PyTorch's crow_indices and col_indices are. The arrays lie as the tensors of
// a pattern do ([access.Origin]).
type Product struct {
	matrix CSR
	arrays []array
}

// An array is one of those that a product touches.
type array struct {
	name string
	base uint64
	size int // bytes of an element
}

// The arrays of a product, by index.
const (
	starts = iota
	columns
	values
	ofX
	ofY
)

// indexSize is the bytes of an int64.
const indexSize = 8

// alignment is that of arrays, as of the tensors of a pattern.
const alignment = 4096

// newProduct places the arrays of a product. It refuses dtypes without a size and
// more memory than there are addresses.
func newProduct(m CSR, dtype layouts.DType) (*Product, error) {
	size := dtype.Size()
	if size == 0 {
		return nil, fmt.Errorf("no value is of %v", dtype)
	}
	p := &Product{matrix: m}
	numbers := len(m.Column)
	if m.Values == nil {
		numbers = 0
	}
	next := uint64(access.Origin)
	for _, a := range []struct {
		name     string
		elements int
		size     int
	}{{"starts", m.Rows + 1, indexSize}, {"columns", len(m.Column), indexSize},
		{"values", numbers, size}, {"x", m.Columns, size}, {"y", m.Rows, size}} {
		if a.elements > (math.MaxInt-int(next)-alignment)/a.size {
			return nil, fmt.Errorf("%s of %d elements is more bytes than the address space holds",
				a.name, a.elements)
		}
		p.arrays = append(p.arrays, array{a.name, next, a.size})
		next += uint64((a.elements*a.size + alignment - 1) / alignment * alignment)
	}
	return p, nil
}

// ReadProduct is the product of a matrix that [Read] reads. It refuses one without
// entries, which gathers nothing.
func ReadProduct(r io.Reader, name string, dtype layouts.DType) (*Product, error) {
	m, err := Read(r, name)
	if err != nil {
		return nil, err
	}
	if len(m.Column) == 0 {
		return nil, fmt.Errorf("%s: the matrix of %d x %d has no entries: its product gathers "+
			"nothing", name, m.Rows, m.Columns)
	}
	return newProduct(m, dtype)
}

// Regions are the arrays, in the order in which they lie: starts, columns, values,
// unless the matrix is a pattern, x and y.
func (p *Product) Regions() []trace.Region {
	var regions []trace.Region
	for i, a := range p.arrays {
		if i != values || p.matrix.Values != nil {
			regions = append(regions, trace.Region{Name: a.name, Base: a.base})
		}
	}
	return regions
}

// Records are the accesses of so many passes, in order.
func (p *Product) Records(passes int) iter.Seq2[trace.Record, error] {
	return func(yield func(trace.Record, error) bool) {
		for range passes {
			if !p.pass(func(a, i int) bool { return yield(p.record(a, i), nil) }) {
				return
			}
		}
	}
}

// References is how many accesses a pass makes.
func (p *Product) References() int {
	each := 2
	if p.matrix.Values != nil {
		each = 3
	}
	return 1 + 2*p.matrix.Rows + each*len(p.matrix.Column)
}

// pass calls touch with the array and the element of each access, as long as that
// is wanted.
func (p *Product) pass(touch func(array, element int) bool) bool {
	m := p.matrix
	if m.Rows > 0 && !touch(starts, 0) {
		return false
	}
	for row := range m.Rows {
		if !touch(starts, row+1) {
			return false
		}
		for e := m.Starts[row]; e < m.Starts[row+1]; e++ {
			if !touch(columns, e) || m.Values != nil && !touch(values, e) ||
				!touch(ofX, int(m.Column[e])) {
				return false
			}
		}
		if !touch(ofY, row) {
			return false
		}
	}
	return true
}

// record is an access to an element of an array.
func (p *Product) record(a, element int) trace.Record {
	of, kind := p.arrays[a], trace.Read
	if a == ofY {
		kind = trace.Write
	}
	return trace.Record{Kind: kind, Addr: of.base + uint64(element*of.size), Size: of.size}
}
