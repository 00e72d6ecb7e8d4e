package proofs

import (
	"testing"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
	"github.com/stridebench/stridebench/simcache/internal/enginetest"
)

func operand(place, width int, strides ...int) nest.Operand {
	return enginetest.Operand(place, width, strides...)
}

// pitfalls are sequences on which a rule with one condition less goes wrong,
// each the least that a search found or that could be thought of.
var pitfalls = map[string]sequence{
	"the last byte leaves its line first": {
		levels: []engine.Level{{Sets: 1, Ways: 7, Shift: 5}, {Sets: 8, Ways: 6, Shift: 5}},
		nests:  []nest.Nest{{Trips: []int{5}, Operands: []nest.Operand{operand(0x78, 8, 4)}}},
	},
	"the last byte leaves last, downwards": {
		levels: []engine.Level{{Sets: 1, Ways: 7, Shift: 5}, {Sets: 8, Ways: 6, Shift: 5}},
		nests:  []nest.Nest{{Trips: []int{5}, Operands: []nest.Operand{operand(0x73, 8, -8)}}},
	},
	"inner strides are no multiples of the line": {
		levels: []engine.Level{{Sets: 2, Ways: 2, Shift: 6}, {Sets: 4, Ways: 4, Shift: 6}},
		nests:  []nest.Nest{{Trips: []int{16, 7}, Operands: []nest.Operand{operand(0, 4, 4, 68)}}},
	},
	"the second level is steady only since the first is": {
		levels: []engine.Level{{Sets: 4, Ways: 4, Shift: 5}, {Sets: 16, Ways: 4, Shift: 4}},
		nests: []nest.Nest{
			{Operands: []nest.Operand{operand(0x52, 2)}},
			{Trips: []int{6}, Operands: []nest.Operand{operand(0x28, 16, -16)}},
			{Trips: []int{57, 2, 2}, Operands: []nest.Operand{operand(0x48, 12, 16, 340, 68)}},
		},
		loops: []int{asPlanned, asPlanned, 0},
	},
	"old are the blocks of the first period too": {
		levels: []engine.Level{{Sets: 4, Ways: 5, Shift: 4}},
		nests:  []nest.Nest{{Trips: []int{4, 2}, Operands: []nest.Operand{operand(0x73, 1, -16, 48)}}},
		loops:  []int{0},
	},
	"old are the blocks of the first period too, in the second level": {
		levels: []engine.Level{{Sets: 1, Ways: 4, Shift: 4}, {Sets: 3, Ways: 2, Shift: 4}},
		nests: []nest.Nest{
			{Trips: []int{5}, Operands: []nest.Operand{operand(0x7e, 1, -16)}},
			{Trips: []int{16, 2}, Operands: []nest.Operand{operand(0x3c, 16, 16, 16), operand(0x1a, 6, 16, 16)}},
		},
		loops: []int{asPlanned, 0},
	},
	"inner loops pass their heads outward": {
		levels: []engine.Level{{Sets: 3, Ways: 1, Shift: 5}, {Sets: 3, Ways: 4, Shift: 5}},
		nests: []nest.Nest{
			{Trips: []int{3}, Operands: []nest.Operand{operand(0xbb, 2, 0)}},
			{Trips: []int{13, 3}, Operands: []nest.Operand{operand(0xee, 2, -32, 0), operand(0x6e, 2, -32, 0)}},
		},
		loops: []int{asPlanned, 0},
	},
	"a block where one array ends and the next begins": {
		levels: []engine.Level{{Sets: 32, Ways: 4, Shift: 6}},
		nests:  []nest.Nest{{Trips: []int{8, 5}, Operands: []nest.Operand{operand(0x37, 16, 192, 0), operand(0x19, 16, 16, -2048)}}},
		loops:  []int{1},
	},
	"a block of the second level, longer than those of the first": {
		levels: []engine.Level{{Sets: 1, Ways: 1, Shift: 4}, {Sets: 1, Ways: 2, Shift: 6}},
		nests:  []nest.Nest{{Trips: []int{20}, Operands: []nest.Operand{operand(0, 4, 0), operand(16+19*64, 4, -64)}}},
		loops:  []int{0},
	},
	"operands move alike in the first level only": {
		levels: []engine.Level{{Sets: 1, Ways: 1, Shift: 5}, {Sets: 32, Ways: 5, Shift: 5}},
		nests:  []nest.Nest{{Trips: []int{16}, Operands: []nest.Operand{operand(0xbc, 8, -32), operand(0x10000d8, 8, 96)}}},
		loops:  []int{0},
	},
	"negative strides": {
		levels: []engine.Level{{Sets: 2, Ways: 8, Shift: 6}},
		nests: []nest.Nest{
			{Trips: []int{5}, Operands: []nest.Operand{operand(0x41, 8, -8)}},
			{Trips: []int{9, 6}, Operands: []nest.Operand{operand(0x16d, 4, -64, 94)}},
		},
		loops: []int{asPlanned, 0},
	},
	"a set count that is not a power of two": {
		levels: []engine.Level{{Sets: 3, Ways: 2, Shift: 5}, {Sets: 7, Ways: 3, Shift: 5}},
		nests:  []nest.Nest{{Trips: []int{90, 3}, Operands: []nest.Operand{operand(0, 4, 4, 96), operand(1<<20, 4, 4, 160)}}},
		loops:  []int{0},
	},
	"an orbit is looked along twice": {
		levels: []engine.Level{{Sets: 8, Ways: 3, Shift: 4}},
		nests:  []nest.Nest{{Trips: []int{6}, Operands: []nest.Operand{operand(0x12, 16, 144)}}},
		loops:  []int{0},
	},
	"a tail, and a straddle in it": {
		levels: []engine.Level{{Sets: 2, Ways: 2, Shift: 4}, {Sets: 4, Ways: 3, Shift: 4}},
		nests:  []nest.Nest{{Trips: []int{83}, Operands: []nest.Operand{operand(3, 8, 12)}}},
		loops:  []int{0},
	},
	"epochs run out in a period": {
		levels:   []engine.Level{{Sets: 1, Ways: 3, Shift: 5}},
		maxEpoch: 8,
		nests:    []nest.Nest{{Trips: []int{3, 9}, Operands: []nest.Operand{operand(0x8f, 4, 36, 32), operand(0xd8, 4, 292, 32)}}},
		loops:    []int{1},
	},
	"epochs run out in a stretch": {
		levels:   []engine.Level{{Sets: 3, Ways: 1, Shift: 4}, {Sets: 1, Ways: 3, Shift: 4}},
		maxEpoch: 2,
		nests:    []nest.Nest{{Trips: []int{5, 4, 6}, Operands: []nest.Operand{operand(0x62, 2, 0, 64, 0)}}},
	},
	"only the second operand misses": {
		levels: []engine.Level{{Sets: 2, Ways: 1, Shift: 4}, {Sets: 1, Ways: 4, Shift: 4}},
		nests:  []nest.Nest{{Trips: []int{9, 4}, Operands: []nest.Operand{operand(0, 4, 0, 0), operand(16, 4, 0, 32)}}},
	},
	"only the second operand misses, and last": {
		levels: []engine.Level{{Sets: 2, Ways: 1, Shift: 4}, {Sets: 1, Ways: 4, Shift: 4}},
		nests:  []nest.Nest{{Trips: []int{9, 4}, Operands: []nest.Operand{operand(16, 4, 0, 32), operand(0, 4, 0, 0)}}},
	},
}

func TestExactPitfalls(t *testing.T) {
	for name, s := range pitfalls {
		t.Run(name, func(t *testing.T) {
			for len(s.loops) < len(s.nests) {
				s.loops = append(s.loops, asPlanned)
			}
			if wrong := new(trial).check(s); wrong != "" {
				t.Error(wrong)
			}
		})
	}
}

// gatherings are for independence what pitfalls are for the others.
var gatherings = map[string]gathering{
	"operands share a line, but no byte": {
		levels: []engine.Level{{Sets: 2, Ways: 4, Shift: 4}},
		nests:  []nest.Nest{nest.Nest{Operands: []nest.Operand{operand(0, 4), operand(8, 4)}}},
		passes: 1,
	},
	"operands share a line of the second level": {
		levels: []engine.Level{{Sets: 2, Ways: 4, Shift: 4}, {Sets: 2, Ways: 4, Shift: 6}},
		nests:  []nest.Nest{nest.Nest{Operands: []nest.Operand{operand(0, 4), operand(16, 4)}}},
		passes: 1,
	},
	"clocks advance over what in-line runs skips": {
		levels: []engine.Level{{Sets: 3, Ways: 4, Shift: 5}},
		nests:  []nest.Nest{nest.Nest{Trips: []int{2, 11}, Operands: []nest.Operand{operand(0x73, 1, -2655, -32), operand(0x40000fa, 1, 83, -1)}}},
		passes: 2,
	},
	"the last nest of one pass and the first of the next": {
		levels: []engine.Level{{Sets: 1, Ways: 5, Shift: 4}},
		nests: []nest.Nest{
			{Trips: []int{2}, Operands: []nest.Operand{operand(0, 4, 16), operand(1<<20+8, 12, 0)}},
			{Trips: []int{2}, Operands: []nest.Operand{operand(0, 4, 16), operand(1<<21, 4, 0)}},
			{Trips: []int{2}, Operands: []nest.Operand{operand(0, 4, 16), operand(1<<22, 4, 0)}},
			{Trips: []int{2}, Operands: []nest.Operand{operand(0, 4, 16), operand(1<<23, 4, 0)}},
			{Trips: []int{2}, Operands: []nest.Operand{operand(0, 4, 16), operand(1<<24+8, 12, 0)}},
		},
		passes: 2,
	},
	"the end of one pass and the start of the next": {
		levels: []engine.Level{{Sets: 5, Ways: 2, Shift: 4}},
		nests:  []nest.Nest{nest.Nest{Trips: []int{3, 2}, Operands: []nest.Operand{operand(0, 4, 32, 16), operand(80000, 4, 0, 16)}}},
		passes: 2,
	},
	"what hits in the first level from the second pass on comes no more to the second level": {
		levels: []engine.Level{{Sets: 4, Ways: 5, Shift: 4}, {Sets: 1, Ways: 8, Shift: 4}},
		nests: []nest.Nest{
			{Trips: []int{6}, Operands: []nest.Operand{operand(0, 4, 64), operand(1<<20, 4, 0)}},
			{Trips: []int{3}, Operands: []nest.Operand{operand(16, 4, 64), operand(1<<20, 4, 0)}},
		},
		passes: 3,
	},
}

func TestExactGatherings(t *testing.T) {
	for name, c := range gatherings {
		t.Run(name, func(t *testing.T) {
			if _, _, wrong := c.check(); wrong != "" {
				t.Error(wrong)
			}
		})
	}
}
