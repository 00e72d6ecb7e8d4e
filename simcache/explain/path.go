package explain

import (
	"math"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/layouts/nest/touched"
	"github.com/stridebench/stridebench/simcache"
)

// A path is one operand in a canonical nest, or in the inner loops of it.
type path struct {
	nest.Nest
	op int
}

func (w path) operand() nest.Operand { return w.Operands[w.op] }

// stride returns the bytes that a loop moves the operand by, without its sign.
func (w path) stride(loop int) int {
	s := w.operand().Strides[loop]
	return max(s, -s)
}

func (w path) inner() int { return len(w.Trips) - 1 }

func (w path) within(loop int) path { return path{w.Inside(loop + 1), w.op} }

// A reach counts the lines, or pages, that a path touches.
type reach struct {
	lines int // of all operands
	own   int // of the path's operand
	// The lines of the operand, and of all; nil if they were too many to list.
	mine, all []uint64
}

// listed is the most iterations whose lines are listed, not estimated.
const listed = 1 << 20

func (w path) reach(line int) reach {
	if w.Iterations() > listed {
		var r reach
		for i, op := range w.Operands {
			lines := int(math.Ceil(touched.Lines(op, w.Trips, line)))
			r.lines += lines
			if i == w.op {
				r.own = lines
			}
		}
		return r
	}
	r := reach{mine: touched.Blocks(w.Only(w.op), line), all: touched.Blocks(w.Nest, line)}
	r.lines, r.own = len(r.all), len(r.mine)
	return r
}

// An outlook predicts whether a level keeps lines until their reuse.
type outlook int

const (
	kept    outlook = iota
	tooMany         // the level has fewer lines
	crowded         // conflict set: the level has enough lines, but too few ways in their sets
)

// crowd describes how lines fall on the sets of a level.
type crowd struct {
	outlook outlook
	sets    int // sets that hold the operand's own lines
	busiest int // lines of all operands in the busiest of these sets
	lost    int // the operand's own lines in sets with more lines than ways
}

// falls predicts how a level, with its victim cache, keeps the lines of a repeated reach. They
// count as kept if full sets lose at most an eighth of the operand's.
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
