package explain

import (
	"math"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache"
)

// A path is one operand on its way through a canonical nest, or a part of it.
type path struct {
	nest.Nest
	op int
}

func (w path) operand() nest.Operand { return w.Operands[w.op] }

// stride is the bytes that a loop moves the operand by, without its sign.
func (w path) stride(loop int) int {
	s := w.operand().Strides[loop]
	return max(s, -s)
}

func (w path) inner() int { return len(w.Trips) - 1 }

// within is the walk of the loops inside a loop alone.
func (w path) within(loop int) path { return path{w.Inside(loop + 1), w.op} }

// A reach is the lines, or pages, that a walk touches.
type reach struct {
	lines int // of all operands
	own   int // of the walk's
	// Where they were few enough to be listed: by operand's own, and of all.
	mine, all []uint64
}

// listed is how many iterations are walked to list lines; more are estimated.
const listed = 1 << 20

func (w path) reach(line int) reach {
	if w.Iterations() > listed {
		var r reach
		for i, op := range w.Operands {
			lines := int(math.Ceil(op.Lines(w.Trips, line)))
			r.lines += lines
			if i == w.op {
				r.own = lines
			}
		}
		return r
	}
	r := reach{mine: w.Only(w.op).Blocks(line), all: w.Blocks(line)}
	r.lines, r.own = len(r.all), len(r.mine)
	return r
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
	for _, block := range r.all {
		filled[block%uint64(sets)]++
	}
	var c crowd
	for _, block := range r.mine {
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
