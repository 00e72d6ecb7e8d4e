package access

import (
	"fmt"
	"runtime"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/layouts/nest"
)

// initial is element i of a prepared arena: a whole number below period that differs from its
// neighbors. Most systems back unwritten memory by one shared page of zeros, which reads faster.
// Sums of small whole numbers are exact in any order, and every type holds a sum of two.
func initial(i int) int { return i * 31 % period }

const period = 57

// fillValue is what Fill writes; no element of a prepared arena holds it.
const fillValue = 127

// leastPart is the least elements that are worth a goroutine.
const leastPart = 1 << 17

// prepareAll is prepare on all CPUs. On a machine of several nodes the caller writes everything,
// because memory lies on the node that touches it first.
func prepareAll[T layouts.Element](data []T, of func(int) T) {
	parts := min(runtime.GOMAXPROCS(0), len(data)/leastPart)
	if parts <= 1 || severalNodes() {
		prepare(data, of)
		return
	}
	each := (len(data)/parts/period + 1) * period // each part begins with initial(0)
	var group sync.WaitGroup
	for from := 0; from < len(data); from += each {
		group.Go(func() { prepare(data[from:min(from+each, len(data))], of) })
	}
	group.Wait()
}

func prepare[T layouts.Element](data []T, of func(int) T) {
	whole := min(len(data), 64*period)
	for i := range whole {
		data[i] = of(initial(i))
	}
	for ; whole < len(data); whole *= 2 { // a multiple of the period
		copy(data[whole:], data[:whole])
	}
}

// reference applies the operation to the operands' views, index by index, without nests. It
// compares the output with the data, or returns the plain sum, for a Sum.
func reference[T layouts.Element](p Pattern, data []T, of func(int) T) (float64, error) {
	check := checker[T]{p: p, data: data}
	for w := range check.values {
		if check.values[w] = of(w); p.Spec.Op == Fill {
			check.values[w] = of(fillValue)
		}
	}
	pieces := p.pieces
	if pieces == nil {
		var views []layouts.Layout
		for _, op := range p.operands {
			views = append(views, op.view)
		}
		pieces = [][]layouts.Layout{views}
	}
	sum := 0
	for _, views := range pieces {
		s, err := check.piece(views)
		if err != nil {
			return 0, err
		}
		sum += s
	}
	return float64(sum), nil
}

type checker[T layouts.Element] struct {
	p      Pattern
	ops    []operand // of the piece
	data   []T
	values [2 * period]T // of the whole numbers, as T
}

// piece checks views of all operands, or of the last one, which are its padding. Each CPU checks a
// range of the first dim.
func (c checker[T]) piece(views []layouts.Layout) (sum int, err error) {
	c.ops, views = c.p.operands[len(c.p.operands)-len(views):], slices.Clone(views)
	for i := range views {
		for views[i].Rank() < 2 {
			one := append([]int{1}, views[i].Shape()...)
			if views[i], err = views[i].Expand(one...); err != nil {
				return 0, err
			}
		}
	}
	size, parts := views[0].Size(0), runtime.GOMAXPROCS(0)
	sums := make([]int, parts)
	var group errgroup.Group
	for part := range parts {
		from, to := size*part/parts, size*(part+1)/parts
		group.Go(func() (err error) {
			sums[part], err = c.part(views, from, to)
			return err
		})
	}
	err = group.Wait()
	for _, s := range sums {
		sum += s
	}
	return sum, err
}

// part checks the indices from from to to-1 of the first dim. It returns the sum, for a Sum.
func (c *checker[T]) part(views []layouts.Layout, from, to int) (sum int, err error) {
	if from == to || views[0].Numel() == 0 {
		return 0, nil
	}
	rows := views[0].Shape()
	rows = rows[:len(rows)-1]
	rows[0] = to - from
	at, steps := make([]int, len(views)), make([][]int, len(views)) // at: elements of the arena
	for i, v := range views {
		at[i] = c.p.start(c.ops[i]) + v.Offset() + from*v.Stride(0)
		steps[i] = nest.Steps(rows, v.Strides())
	}
	for d := range nest.Walk(rows) {
		if d >= 0 {
			for i := range at {
				at[i] += steps[i][d]
			}
		}
		s, err := c.row(views, at)
		if sum += s; err != nil {
			return 0, err
		}
	}
	return sum, nil
}

func (c *checker[T]) row(views []layouts.Layout, at []int) (sum int, err error) {
	d, inputs := views[0].Rank()-1, len(at)-1
	if c.p.Spec.Op == Sum {
		inputs = 1
	}
	at, steps := slices.Clone(at), make([]int, len(at))
	for k, v := range views {
		steps[k] = v.Stride(d)
	}
	for range views[0].Size(d) {
		want := 0
		for k := range inputs {
			want += initial(at[k])
			at[k] += steps[k]
		}
		if c.p.Spec.Op == Sum {
			sum += want
			continue
		}
		to := at[inputs]
		if c.data[to] != c.values[want] {
			op := c.ops[inputs]
			return 0, fmt.Errorf("element %d of %s is %v after the %s, want %v", to-c.p.start(op),
				op.tensor, c.data[to], c.p.Spec.Op, c.values[want])
		}
		at[inputs] += steps[inputs]
	}
	return sum, nil
}
