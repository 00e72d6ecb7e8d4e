// Package nest represents loops and strided accesses as values, and defines their algebra.
//
// A [Nest] is loops around a few accesses, whose addresses move by a constant stride per loop. Any
// walk over strided tensors is a Nest. A [Program] is a tree of sequences, loops with affine
// bounds, conditions, and accesses at affine addresses, as in a C file. A Nest is the simplest
// Program.
//
// The meaning of a nest n is the sequence of its accesses, W(n) ([Nest.Accesses]). Operations
// return new nests, and each states its law in terms of W, as CuTe does for layouts
// (github.com/NVIDIA/cutlass, media/docs/cute):
//
//	Canonical   W(n.Canonical()) = W(n), in the fewest loops
//	Repeat      W(n.Repeat(k)) = W(n) k times over
//	Range       W(n.Range(0, a, b)) W(n.Range(0, b, c)) = W(n.Range(0, a, c))
//	Split       W(whole) W(edge) = W(n), for the outermost loop
//	Permute     W(n.Permute(order)) has the accesses of W(n), in another order
//	Inside      W(n) is W(n.Inside(l)) at one place after another
//	Only        W(n.Only(r)) is W(n) without the other operands
//	Reorder     W(p.Reorder(loops, order)) has the accesses of W(p), in another order
//	Tile        W(p.Tile(loops, sizes)) has the accesses of W(p), in another order
//	Restride    W(p.Restride(a, base, s)) is W(p) with the elements of a elsewhere
//
// [Operand.Reach] returns the bytes of memory that an operand touches; package touched has more.
//
// These analyze a program without walking it: [Program.Check], [Program.Count], [Program.Counts],
// [Program.Find], [Program.Keeps].
//
// The package knows nothing of tensors, caches or time.
package nest

import (
	"fmt"
	"math"
	"math/bits"
)

// A Kind is the kind of an access.
type Kind uint8

// The kinds of access. Modify reads and writes one address in one access, like x86's add to memory.
const (
	Read Kind = iota
	Write
	Modify
)

// String returns "read", "write" or "modify".
func (k Kind) String() string { return [...]string{"read", "write", "modify"}[k] }

// MarshalText returns String, for JSON.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// A Nest is a perfect nest of loops around a few accesses. For every index of the trips, in
// row-major order, it accesses each operand once, in order.
type Nest struct {
	Trips    []int     `json:"trips"` // iterations of each loop, the outermost first
	Operands []Operand `json:"operands"`
}

// An Operand is one access of a Nest's body: Width bytes at
// Base + i0*Strides[0] + i1*Strides[1] + ...
type Operand struct {
	Tensor  string `json:"tensor"` // name of the tensor touched, for reports
	Kind    Kind   `json:"kind"`
	Base    uint64 `json:"base"`    // address of the access at index 0, 0, ...
	Width   int    `json:"width"`   // bytes
	Strides []int  `json:"strides"` // bytes per iteration, one per trip
}

// Reach returns the first and the last byte that the operand touches in loops of these trips, all
// at least 1.
//
// Law: they are the least address and the greatest last byte of W.
func (op Operand) Reach(trips []int) (first, last uint64) {
	first, last = op.Base, op.Base+uint64(op.Width-1)
	for l, s := range op.Strides {
		if s < 0 {
			first += uint64(s * (trips[l] - 1))
		} else {
			last += uint64(s * (trips[l] - 1))
		}
	}
	return first, last
}

// Iterations returns the product of the trips: 1 without loops, 0 if any is 0.
func (n Nest) Iterations() int {
	product := 1
	for _, t := range n.Trips {
		product *= t
	}
	return product
}

// Check refuses a nest that cannot be walked: negative trips, more accesses than an int can count,
// strides that are not one per trip, and what [Program.Check] refuses.
func (n Nest) Check() error {
	accesses := uint64(max(len(n.Operands), 1))
	for l, t := range n.Trips {
		if t < 0 {
			return fmt.Errorf("loop %d has %d trips", l, t)
		}
		high, low := bits.Mul64(accesses, uint64(max(t, 1)))
		if high != 0 || low > math.MaxInt {
			return fmt.Errorf("trips %v make more accesses than an int can count", n.Trips)
		}
		accesses = low
	}
	for _, op := range n.Operands {
		if len(op.Strides) != len(n.Trips) {
			return fmt.Errorf("access of %s: %d strides for %d loops", op.Tensor, len(op.Strides),
				len(n.Trips))
		}
	}
	return n.program().Check()
}
