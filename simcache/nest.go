package simcache

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
)

// A Nest is a perfect nest of loops around a few accesses: the pattern that
// both executors of stridebench are told, this simulator and the native one of
// package access. For every index of the trips, in row-major order, each
// operand is accessed once, in the order of the list.
type Nest struct {
	Trips    []int // iterations of each loop, the outermost first
	Operands []Operand
}

// An Operand is one access of a Nest's body: Width bytes at
// Base + i0*Strides[0] + i1*Strides[1] + ...
type Operand struct {
	Tensor  string // name of the tensor touched, for reports
	Kind    Kind
	Base    uint64 // address of the access at index 0, 0, ...
	Width   int    // bytes
	Strides []int  // bytes from one iteration of each loop to the next, one per trip
}

// Iterations is the product of the trips: 1 without loops, 0 if any is 0.
func (n Nest) Iterations() int {
	product := 1
	for _, t := range n.Trips {
		product *= t
	}
	return product
}

// Check refuses a nest that cannot be walked: negative trips, a number of
// accesses that overflows, strides that are not one per trip, widths that are
// not positive, and addresses outside of 0 to 2^64-1.
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
	for i, op := range n.Operands {
		if err := op.check(n.Trips); err != nil {
			return fmt.Errorf("operand %d (%s): %w", i, op.Tensor, err)
		}
	}
	return nil
}

func (op Operand) check(trips []int) error {
	if len(op.Strides) != len(trips) {
		return fmt.Errorf("%d strides for %d loops", len(op.Strides), len(trips))
	}
	if op.Width <= 0 {
		return fmt.Errorf("width %d is not positive", op.Width)
	}
	down, up := uint64(0), uint64(op.Width-1)
	for l, s := range op.Strides {
		end := &up
		size := uint64(s)
		if s < 0 {
			end, size = &down, -size
		}
		high, reach := bits.Mul64(size, uint64(max(trips[l]-1, 0)))
		sum, carry := bits.Add64(*end, reach, 0)
		if high != 0 || carry != 0 {
			return fmt.Errorf("stride %d over %d trips leaves the address space", s, trips[l])
		}
		*end = sum
	}
	if _, carry := bits.Add64(op.Base, up, 0); carry != 0 || down > op.Base {
		return fmt.Errorf("base %#x with strides %v leaves the address space", op.Base, op.Strides)
	}
	return nil
}

// Canonical returns the nest with the same accesses in the same order and as
// few loops as possible: loops of one trip are dropped, and an outer loop is
// fused with the next inner one where stride(outer) = trips(inner) *
// stride(inner) for every operand. An empty nest becomes one loop of 0 trips.
func (n Nest) Canonical() Nest {
	c := Nest{Operands: slices.Clone(n.Operands)}
	for i := range c.Operands {
		c.Operands[i].Strides = nil
	}
	if n.Iterations() == 0 {
		c.Trips = []int{0}
		for i := range c.Operands {
			c.Operands[i].Strides = []int{0}
		}
		return c
	}
	for l, trips := range n.Trips {
		if trips == 1 {
			continue
		}
		last := len(c.Trips) - 1
		fuse := last >= 0
		for i, op := range n.Operands {
			fuse = fuse && c.Operands[i].Strides[last] == trips*op.Strides[l]
		}
		if fuse {
			c.Trips[last] *= trips
		} else {
			c.Trips = append(c.Trips, trips)
			last++
		}
		for i, op := range n.Operands {
			c.Operands[i].Strides = append(c.Operands[i].Strides[:last], op.Strides[l])
		}
	}
	return c
}

// each calls f with the operand and the address of every access, in order.
func (n Nest) each(f func(op int, addr uint64)) {
	index := make([]int, len(n.Trips))
	addrs := make([]uint64, len(n.Operands))
	for i, op := range n.Operands {
		addrs[i] = op.Base
	}
	for range n.Iterations() {
		for op, addr := range addrs {
			f(op, addr)
		}
		for l := len(index) - 1; l >= 0; l-- {
			by := 1
			if index[l]++; index[l] == n.Trips[l] {
				by, index[l] = 1-n.Trips[l], 0
			}
			for i, op := range n.Operands {
				addrs[i] += uint64(by * op.Strides[l])
			}
			if by == 1 {
				break
			}
		}
	}
}

// repeated is the nest inside a loop of so many passes.
func (n Nest) repeated(passes int) Nest {
	r := Nest{Trips: append([]int{passes}, n.Trips...)}
	for _, op := range n.Operands {
		op.Strides = append([]int{0}, op.Strides...)
		r.Operands = append(r.Operands, op)
	}
	return r
}
