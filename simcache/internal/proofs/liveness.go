package proofs

import (
	"slices"

	"github.com/stridebench/stridebench/layouts/nest"
)

// dead is test (b) of translation after the recorded period m: for how many of the left
// periods after m, or for something below least, no block in the level whose last touch
// was before the epoch cut will be hit.
//
// Suppose that such hits come, and let the first be that of block b in period
// m+p. Up to it, all is translated from m on. It is the first touch of b since
// cut, so it is the image of an access of m that was the first touch in m of
// some block h with b = h + p*d, where d is what the operand moves. d is not 0,
// or b would be h, and its last touch in m. Fewer than A other blocks of the set
// have been touched since the last touch of b, so fewer than A in m+p up to this
// touch, and likewise of h in m. And h missed in m: by (a), a hit would have met
// a block touched in a period m-j of k or since, j > 0, so that b = h + p*d was
// touched in m-j+p by translation, which is after k and before m+p, against the
// choice of b and p. So h is a head.
//
// p is the least number with b = h + p*d for any head h moved by d, since b is
// touched in every such period.
//
// So b is dead unless for some d there is such a head with p <= left, and for p-1 periods if there is. It is
// dead then, too, if it is evicted before: if it is q-th in its set, counted
// from 0, by A-q misses in its set during m+1 to m+p-1. The misses of m+j in
// set y are those of m in set y moved back by j; to know of fewer is safe.
func (l *level) dead(extents []extent, cut uint64, left, least int) int {
	if len(l.heads) == 0 {
		return left
	}
	var paths []headPath
	var drained *drains
	for s := range uint64(l.Sets) {
		row := l.row(s)
		for q := l.Ways - 1; q >= 0 && row[q]&epochMask < cut; q-- {
			if row[q] == 0 {
				continue
			}
			if drained == nil { // the first old block
				paths = newPaths(l.heads, extents)
				drained = l.newDrains(l.rotation(extents))
			}
			block := row[q]>>epochBits - 1
			for i := range paths {
				p := paths[i].next(block)
				if p == 0 || p > left || drained.sum(s, p-1) >= l.Ways-q {
					continue
				}
				if left = p - 1; left < least {
					return left
				}
			}
		}
	}
	return left
}

// A headPath is the heads that move by the same number of blocks, in order: those
// of one residue modulo that number together, each residue's ascending.
type headPath struct {
	size       uint64 // of the move
	down       bool   // it is downward: blocks count as their distances from maxBlock
	keys       []uint64
	perResidue uint64 // keys are residue*perResidue + quotient
	low        uint64 // the least head, as blocks count here
}

// newPaths sorts the heads by what moves them. Those that do not move are left
// out.
func newPaths(heads []uint64, extents []extent) []headPath {
	var paths []headPath
	byMove := map[int64]int{}
	for _, e := range extents {
		if _, ok := byMove[e.moved]; !ok && e.moved != 0 {
			byMove[e.moved] = len(paths)
			size := uint64(max(e.moved, -e.moved))
			paths = append(paths, headPath{size: size, down: e.moved < 0, perResidue: maxBlock/size + 2, low: maxBlock})
		}
	}
	for _, h := range heads {
		if i, ok := byMove[movedBy(extents, h)]; ok {
			p := &paths[i]
			h = p.counted(h)
			p.low = min(p.low, h)
			p.keys = append(p.keys, p.key(h))
		}
	}
	for i := range paths {
		slices.Sort(paths[i].keys)
	}
	return paths
}

// counted is a block as it counts on the path.
func (p *headPath) counted(block uint64) uint64 {
	if p.down {
		return maxBlock - block
	}
	return block
}

func (p *headPath) key(counted uint64) uint64 {
	return counted%p.size*p.perResidue + counted/p.size
}

// next is the least number of periods, at least 1, after which a head has
// moved to the block; 0 if none ever does.
func (p *headPath) next(block uint64) int {
	c := p.counted(block)
	if len(p.keys) == 0 || c <= p.low {
		return 0
	}
	key := p.key(c)
	at, _ := slices.BinarySearch(p.keys, key)
	if at == 0 {
		return 0
	}
	if distance := key - p.keys[at-1]; distance <= key%p.perResidue {
		return int(distance)
	}
	return 0 // the key before is of another residue
}

// drains sums the misses of a period along the orbits of the rotation, the
// cycles in which sets come to one another.
type drains struct {
	place []uint32 // of each set in its orbit
	orbit []uint32 // where its orbit's sums begin
	sums  []int    // of the misses in the sets of an orbit before each place, and in all of them
	len   int      // of every orbit
}

// newDrains sums the misses of the recorded period.
func (l *level) newDrains(rotation uint64) *drains {
	misses := make([]int, l.Sets)
	for _, s := range l.missed {
		misses[s]++
	}
	return l.drainsOf(misses, rotation)
}

// drainsOf sums what there is in each set, such as misses.
func (l *level) drainsOf(misses []int, rotation uint64) *drains {
	orbits := nest.GCD(l.Sets, int(rotation))
	d := &drains{place: make([]uint32, l.Sets), orbit: make([]uint32, l.Sets), len: l.Sets / orbits}
	for o := range uint64(orbits) {
		start, sum := len(d.sums), 0
		s := o
		for place := range d.len {
			d.place[s], d.orbit[s] = uint32(place), uint32(start)
			d.sums = append(d.sums, sum)
			sum += misses[s]
			s = l.turned(s, rotation, 1)
		}
		d.sums = append(d.sums, sum)
	}
	return d
}

// sum is the number of misses in a set during so many periods after the
// recorded one: those of the recorded one in as many sets before it.
func (d *drains) sum(set uint64, periods int) int {
	sums := d.sums[d.orbit[set]:][:d.len+1]
	place, all := int(d.place[set]), sums[d.len]
	rest := periods % d.len
	sum := periods / d.len * all
	if rest <= place {
		return sum + sums[place] - sums[place-rest]
	}
	return sum + sums[place] + all - sums[d.len-(rest-place)]
}
