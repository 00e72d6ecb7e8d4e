package mtx

import (
	"fmt"
	"io"
	"iter"
	"math"
	"time"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/trace"
)

// A Product is the accesses of y = A x for a matrix A in CSR. The column indices decide where x is
// read: such gathers are not loops of fixed steps.
//
// A row reads the end of its entries; the row before read its start. Each entry reads the column,
// the value (unless the matrix is a pattern), and x at the column. Then the row writes y. Starts
// and columns are int64s, as PyTorch's crow_indices and col_indices are. The arrays are placed as a
// pattern's tensors are ([access.Origin]).
type Product struct {
	matrix CSR
	arrays []array
}

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

const indexSize = 8

// alignment is in bytes, as for a pattern's tensors.
const alignment = 4096

// newProduct refuses dtypes without a size, and arrays beyond the address space.
func newProduct(m CSR, dtype layouts.DType) (*Product, error) {
	size := dtype.Size()
	if size == 0 {
		return nil, fmt.Errorf("no value is of %v", dtype)
	}
	p := &Product{matrix: m}
	numbers := len(m.Column)
	if m.Pattern {
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

// ReadProduct returns the product of a matrix that [Read] reads. It refuses a matrix without
// entries.
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

// Regions returns the arrays by address: starts, columns, values (unless the matrix is a pattern),
// x, y.
func (p *Product) Regions() []trace.Region {
	var regions []trace.Region
	for i, a := range p.arrays {
		if i != values || !p.matrix.Pattern {
			regions = append(regions, trace.Region{Name: a.name, Base: a.base})
		}
	}
	return regions
}

// Records returns the accesses of some passes, in order.
func (p *Product) Records(passes int) iter.Seq2[trace.Record, error] {
	return func(yield func(trace.Record, error) bool) {
		for range passes {
			if !p.pass(func(a, i int) bool { return yield(p.record(a, i), nil) }) {
				return
			}
		}
	}
}

// References returns the number of accesses in a pass.
func (p *Product) References() int {
	each := 2
	if !p.matrix.Pattern {
		each = 3
	}
	return 1 + 2*p.matrix.Rows + each*len(p.matrix.Column)
}

// Effort estimates the cost of passes, each of which looks up all accesses; observed if each miss
// is classified too.
func (p *Product) Effort(passes int, observed bool) simcache.Effort {
	each := 6e6 // references a second
	if observed {
		each = 3.5e6
	}
	effort := simcache.Effort{LookUps: float64(passes) * float64(p.References())}
	effort.Time = time.Duration(min(effort.LookUps/each*1e9, 1<<62))
	return effort
}

// pass calls touch with each access's array and element, until touch returns false.
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
			if !touch(columns, e) || !m.Pattern && !touch(values, e) ||
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

func (p *Product) record(a, element int) trace.Record {
	of, kind := p.arrays[a], nest.Read
	if a == ofY {
		kind = nest.Write
	}
	return trace.Record{Kind: kind, Addr: of.base + uint64(element*of.size), Size: of.size}
}
