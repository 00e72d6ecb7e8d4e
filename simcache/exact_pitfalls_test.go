package simcache

import "testing"

// at is an address near 1 GiB; operand makes one of these tests short.
const at = 1 << 30

func operand(place, width int, strides ...int) Operand {
	return Operand{Base: uint64(at + place), Width: width, Strides: strides}
}

// pitfalls are sequences on which a rule with one condition less goes wrong,
// each the least that a search found or that could be thought of.
var pitfalls = map[string]sequence{
	"the last byte leaves its line first": {
		levels: []levelSpec{{1, 7, 5}, {8, 6, 5}},
		nests:  []Nest{{Trips: []int{5}, Operands: []Operand{operand(0x78, 8, 4)}}},
	},
	"the last byte leaves last, downwards": {
		levels: []levelSpec{{1, 7, 5}, {8, 6, 5}},
		nests:  []Nest{{Trips: []int{5}, Operands: []Operand{operand(0x73, 8, -8)}}},
	},
	"inner strides are no multiples of the line": {
		levels: []levelSpec{{2, 2, 6}, {4, 4, 6}},
		nests:  []Nest{{Trips: []int{16, 7}, Operands: []Operand{operand(0, 4, 4, 68)}}},
	},
	"the second level is steady only since the first is": {
		levels: []levelSpec{{4, 4, 5}, {16, 4, 4}},
		nests: []Nest{
			{Operands: []Operand{operand(0x52, 2)}},
			{Trips: []int{6}, Operands: []Operand{operand(0x28, 16, -16)}},
			{Trips: []int{57, 2, 2}, Operands: []Operand{operand(0x48, 12, 16, 340, 68)}},
		},
		loops: []int{asPlanned, asPlanned, 0},
	},
	"old are the blocks of the first period too": {
		levels: []levelSpec{{4, 5, 4}},
		nests:  []Nest{{Trips: []int{4, 2}, Operands: []Operand{operand(0x73, 1, -16, 48)}}},
		loops:  []int{0},
	},
	"old are the blocks of the first period too, in the second level": {
		levels: []levelSpec{{1, 4, 4}, {3, 2, 4}},
		nests: []Nest{
			{Trips: []int{5}, Operands: []Operand{operand(0x7e, 1, -16)}},
			{Trips: []int{16, 2}, Operands: []Operand{operand(0x3c, 16, 16, 16), operand(0x1a, 6, 16, 16)}},
		},
		loops: []int{asPlanned, 0},
	},
	"inner loops pass their heads outward": {
		levels: []levelSpec{{3, 1, 5}, {3, 4, 5}},
		nests: []Nest{
			{Trips: []int{3}, Operands: []Operand{operand(0xbb, 2, 0)}},
			{Trips: []int{13, 3}, Operands: []Operand{operand(0xee, 2, -32, 0), operand(0x6e, 2, -32, 0)}},
		},
		loops: []int{asPlanned, 0},
	},
	"a block where one array ends and the next begins": {
		levels: []levelSpec{{32, 4, 6}},
		nests:  []Nest{{Trips: []int{8, 5}, Operands: []Operand{operand(0x37, 16, 192, 0), operand(0x19, 16, 16, -2048)}}},
		loops:  []int{1},
	},
	"a block of the second level, longer than those of the first": {
		levels: []levelSpec{{1, 1, 4}, {1, 2, 6}},
		nests:  []Nest{{Trips: []int{20}, Operands: []Operand{operand(0, 4, 0), operand(16+19*64, 4, -64)}}},
		loops:  []int{0},
	},
	"operands move alike in the first level only": {
		levels: []levelSpec{{1, 1, 5}, {32, 5, 5}},
		nests:  []Nest{{Trips: []int{16}, Operands: []Operand{operand(0xbc, 8, -32), operand(0x10000d8, 8, 96)}}},
		loops:  []int{0},
	},
	"negative strides": {
		levels: []levelSpec{{2, 8, 6}},
		nests: []Nest{
			{Trips: []int{5}, Operands: []Operand{operand(0x41, 8, -8)}},
			{Trips: []int{9, 6}, Operands: []Operand{operand(0x16d, 4, -64, 94)}},
		},
		loops: []int{asPlanned, 0},
	},
	"a set count that is no power of two": {
		levels: []levelSpec{{3, 2, 5}, {7, 3, 5}},
		nests:  []Nest{{Trips: []int{90, 3}, Operands: []Operand{operand(0, 4, 4, 96), operand(1<<20, 4, 4, 160)}}},
		loops:  []int{0},
	},
	"an orbit is looked along twice": {
		levels: []levelSpec{{8, 3, 4}},
		nests:  []Nest{{Trips: []int{6}, Operands: []Operand{operand(0x12, 16, 144)}}},
		loops:  []int{0},
	},
	"a tail, and a straddle in it": {
		levels: []levelSpec{{2, 2, 4}, {4, 3, 4}},
		nests:  []Nest{{Trips: []int{83}, Operands: []Operand{operand(3, 8, 12)}}},
		loops:  []int{0},
	},
	"epochs run out in a period": {
		levels:   []levelSpec{{1, 3, 5}},
		maxEpoch: 8,
		nests:    []Nest{{Trips: []int{3, 9}, Operands: []Operand{operand(0x8f, 4, 36, 32), operand(0xd8, 4, 292, 32)}}},
		loops:    []int{1},
	},
	"epochs run out in a stretch": {
		levels:   []levelSpec{{3, 1, 4}, {1, 3, 4}},
		maxEpoch: 2,
		nests:    []Nest{{Trips: []int{5, 4, 6}, Operands: []Operand{operand(0x62, 2, 0, 64, 0)}}},
	},
	"only the second operand misses": {
		levels: []levelSpec{{2, 1, 4}, {1, 4, 4}},
		nests:  []Nest{{Trips: []int{9, 4}, Operands: []Operand{operand(0, 4, 0, 0), operand(16, 4, 0, 32)}}},
	},
	"only the second operand misses, and last": {
		levels: []levelSpec{{2, 1, 4}, {1, 4, 4}},
		nests:  []Nest{{Trips: []int{9, 4}, Operands: []Operand{operand(16, 4, 0, 32), operand(0, 4, 0, 0)}}},
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

// gatherings are for rule D what pitfalls are for the others.
var gatherings = map[string]gathering{
	"operands share a line, but no byte": {
		levels: []levelSpec{{2, 4, 4}},
		nests:  []Nest{Nest{Operands: []Operand{operand(0, 4), operand(8, 4)}}},
		passes: 1,
	},
	"operands share a line of the second level": {
		levels: []levelSpec{{2, 4, 4}, {2, 4, 6}},
		nests:  []Nest{Nest{Operands: []Operand{operand(0, 4), operand(16, 4)}}},
		passes: 1,
	},
	"clocks advance over what rule I skips": {
		levels: []levelSpec{{3, 4, 5}},
		nests:  []Nest{Nest{Trips: []int{2, 11}, Operands: []Operand{operand(0x73, 1, -2655, -32), operand(0x40000fa, 1, 83, -1)}}},
		passes: 2,
	},
	"the last nest of one pass and the first of the next": {
		levels: []levelSpec{{1, 5, 4}},
		nests: []Nest{
			{Trips: []int{2}, Operands: []Operand{operand(0, 4, 16), operand(1<<20+8, 12, 0)}},
			{Trips: []int{2}, Operands: []Operand{operand(0, 4, 16), operand(1<<21, 4, 0)}},
			{Trips: []int{2}, Operands: []Operand{operand(0, 4, 16), operand(1<<22, 4, 0)}},
			{Trips: []int{2}, Operands: []Operand{operand(0, 4, 16), operand(1<<23, 4, 0)}},
			{Trips: []int{2}, Operands: []Operand{operand(0, 4, 16), operand(1<<24+8, 12, 0)}},
		},
		passes: 2,
	},
	"the end of one pass and the start of the next": {
		levels: []levelSpec{{5, 2, 4}},
		nests:  []Nest{Nest{Trips: []int{3, 2}, Operands: []Operand{operand(0, 4, 32, 16), operand(80000, 4, 0, 16)}}},
		passes: 2,
	},
}

func TestExactGatherings(t *testing.T) {
	for name, c := range gatherings {
		t.Run(name, func(t *testing.T) {
			if _, wrong := c.check(); wrong != "" {
				t.Error(wrong)
			}
		})
	}
}
