package explain

import (
	"slices"

	"github.com/stridebench/stridebench/simcache"
)

// A walk is one operand on its way through a canonical nest, or a part of it.
type walk struct {
	simcache.Nest
	op int
}

func (w walk) operand() simcache.Operand { return w.Operands[w.op] }

// stride is the bytes that a loop moves the operand by, without its sign.
func (w walk) stride(loop int) int {
	s := w.operand().Strides[loop]
	return max(s, -s)
}

func (w walk) inner() int { return len(w.Trips) - 1 }

// within is the walk of the loops inside a loop alone.
func (w walk) within(loop int) walk {
	n := simcache.Nest{Trips: w.Trips[loop+1:], Operands: slices.Clone(w.Operands)}
	for i := range n.Operands {
		n.Operands[i].Strides = n.Operands[i].Strides[loop+1:]
	}
	return walk{n, w.op}
}

// with is the walk with other trips and another stride of its operand in the
// inner loop.
func (w walk) with(trips, stride int) walk {
	n := simcache.Nest{Trips: slices.Clone(w.Trips), Operands: slices.Clone(w.Operands)}
	n.Trips[w.inner()] = trips
	op := &n.Operands[w.op]
	op.Strides = slices.Clone(op.Strides)
	op.Strides[w.inner()] = stride
	return walk{n, w.op}
}

// A reach is the lines, or pages, that a walk touches.
type reach struct {
	lines int // of all operands
	own   int // of the walk's
	// Where they were few enough to be listed: by operand's own, and of all.
	mine, all map[uint64]bool
}

// listed is how many iterations are walked to list lines; more are estimated.
const listed = 1 << 20

func (w walk) reach(line int) reach {
	if w.Iterations() > listed {
		var r reach
		for i, op := range w.Operands {
			lines := estimate(op, w.Trips, line)
			r.lines += lines
			if i == w.op {
				r.own = lines
			}
		}
		return r
	}
	r := reach{mine: map[uint64]bool{}, all: map[uint64]bool{}}
	index := make([]int, len(w.Trips))
	for range w.Iterations() {
		for i, op := range w.Operands {
			addr := op.Base
			for l, at := range index {
				addr += uint64(at * op.Strides[l])
			}
			for block := addr / uint64(line); block <= (addr+uint64(op.Width)-1)/uint64(line); block++ {
				r.all[block] = true
				if i == w.op {
					r.mine[block] = true
				}
			}
		}
		for l := len(index) - 1; l >= 0; l-- {
			if index[l]++; index[l] < w.Trips[l] {
				break
			}
			index[l] = 0
		}
	}
	r.lines, r.own = len(r.all), len(r.mine)
	return r
}

// estimate is about how many lines an operand touches: runs of bytes, each as
// long as steps that leave no gap of a line make it, times the steps that do.
func estimate(op simcache.Operand, trips []int, line int) int {
	loops := make([][2]int, len(trips))
	for l, s := range op.Strides {
		loops[l] = [2]int{max(s, -s), trips[l]}
	}
	slices.SortFunc(loops, func(a, b [2]int) int { return a[0] - b[0] })
	run, runs := op.Width, 1
	for _, l := range loops {
		stride, trips := l[0], l[1]
		switch {
		case stride == 0:
		case stride <= run+line:
			run += (trips - 1) * stride
		default:
			runs *= trips
		}
	}
	return runs * ((run + line - 1) / line)
}

// An outlook is what would become of lines in a level until they are wanted again.
type outlook int

const (
	kept    outlook = iota
	tooMany         // more lines than the level has
	crowded         // enough lines, but too few in the sets that they fall into
)

// crowd is how lines fall on the sets of a level.
type crowd struct {
	outlook outlook
	sets    int // into which the operand's own lines fall
	busiest int // lines in the busiest set of these, of all operands
	lost    int // of its own lines, those in sets with more lines than ways
}

// falls tells what a level, with its victim cache, would do to the lines of a
// reach that is walked again and again. Up to an eighth of the operand's lines may
// be lost in full sets.
func (r reach) falls(level simcache.Level) crowd {
	sets, ways := level.Sets(), level.Ways
	switch {
	case r.lines > sets*ways+level.VictimLines:
		return crowd{outlook: tooMany}
	case r.all == nil || r.lines <= level.VictimLines:
		return crowd{outlook: kept}
	}
	filled, own := map[uint64]int{}, map[uint64]bool{}
	for block := range r.all {
		filled[block%uint64(sets)]++
	}
	var c crowd
	for block := range r.mine {
		set := block % uint64(sets)
		own[set] = true
		c.busiest = max(c.busiest, filled[set])
		if filled[set] > ways {
			c.lost++
		}
	}
	c.sets = len(own)
	if c.lost > len(r.mine)/8 {
		c.outlook = crowded
	}
	return c
}
