package proofs

import "slices"

// A sequel is a tiling whose nearest level sends on to the last one what misses there. It counts the
// misses there of an operand whose gaps do not tell: what hits in the nearest level now and then does not
// come to the last one, so that how long ago a block was there depends on the tiles before.
//
// As in a tiling, the last touch of a block lies in the tile of an access or in the one before, or else
// the access misses, in both levels. Which accesses miss in the nearest one is known of each kind of tile (arrivals), so
// tile by tile it is kept when each block of the operand last came to the last level. If that was so few
// iterations ago that it cannot have gone (surely), it is there. Else what came to its set since is
// counted (stays).
type sequel struct {
	*tiling
	last    *level
	came    [][][]arrival      // by operand and kind of tile; nil where not yet asked
	tours   []map[placed]*tour // by operand
	surely  int                // iterations
	counted int                // windows
}

const (
	mostSure     = 64      // tiles, in sequel.surely
	sequelBudget = 1 << 28 // blocks that are looked at
)

// An arrival is a block of a tile that comes to the last level.
type arrival struct {
	number, line int32 // of the tile's blocks of its operand; behind the line of the tile's start
	first, last  int32 // iterations in which it comes
}

// A tour is the blocks of an operand in a tile, in the order of their first touch.
type tour struct {
	own    []int32 // by iteration: its block
	lines  []int32 // by block: how far it is behind the line of the tile's start
	before []int32 // by block: its number in the tile before, -1 if it is not there
}

// sequel counts the misses of some operands in the last of two levels, and reports whether it could. Of
// nearest, one for each operand, are the bounds of the first level.
func (x *prover) sequel(operands []gapped, t *tiling, nearest, behind []unknown, misses []uint64) bool {
	s := &sequel{tiling: t, last: &x.levels[1]}
	for k := 1; k <= mostSure && (k == 1 || !x.doubtful) && s.last.holds(operands, k*t.size); k++ {
		s.surely = k * t.size
	}
	if s.surely == 0 || !t.alike() {
		return false
	}
	for r, u := range nearest {
		t.budget = tilesBudget
		if _, ok := t.windows(r, u.hits); !ok {
			return false
		}
		s.came = append(s.came, make([][]arrival, len(t.tiles)))
		s.tours = append(s.tours, map[placed]*tour{})
	}
	s.budget = sequelBudget
	for _, u := range behind {
		count, ok := s.misses(u.operand)
		if !ok {
			return false
		}
		misses[u.operand*2+1] = count
		x.took.sequels++
	}
	x.took.counted = s.counted
	return true
}

// misses is how often operand r misses in the last level. It reports false where that takes too long to count.
func (s *sequel) misses(r int) (sum uint64, ok bool) {
	var before, now []int // by block of the tile, the iteration in which it last came; -1 if it never did
	for i, kind := range s.kinds {
		tile := &s.tiles[kind]
		now = now[:0]
		for _, b := range s.tour(r, placed{tile.loop, tile.places[r]}).before {
			if b < 0 {
				now = append(now, -1)
			} else {
				now = append(now, before[b])
			}
		}
		for _, a := range s.arrivals(r, int(kind)) {
			from, to := now[a.number], i*s.size+int(a.first)
			if from < 0 || to-from > s.surely && !s.stays(r, from, to, a.line) {
				sum++
			}
			now[a.number] = i*s.size + int(a.last)
		}
		if before, now = now, before; s.budget < 0 {
			return 0, false
		}
	}
	return sum, true
}

// stays reports whether a block of operand r, which lies that far behind the start of its tile, is still in the last level when it comes again
// in an iteration, if it came last in another, in a tile before.
func (s *sequel) stays(r, from, to int, line int32) bool {
	s.counted++
	var met []uint64
	block := s.start(r, to/s.size) + uint64(int(line))
	set := s.last.set(block)
	for i := from / s.size; i <= to/s.size; i++ {
		low, high := from-i*s.size, to-i*s.size // iterations of the tile
		for o := range s.nest.Operands {
			start := s.start(o, i)
			list := s.arrivals(o, int(s.kinds[i]))
			s.budget -= len(list)
			for _, a := range list {
				b := start + uint64(int(a.line))
				if s.last.set(b) != set || b == block || int(a.last) < low || int(a.last) == low && o < r || int(a.first) > high || int(a.first) == high && o > r {
					continue
				}
				if !slices.Contains(met, b) {
					met = append(met, b)
				}
			}
		}
		if len(met) >= s.last.Ways {
			return false
		}
	}
	return true
}

// start is the line in which an operand starts a tile.
func (s *sequel) start(o, tile int) uint64 {
	op := s.nest.Operands[o]
	addr := op.Base
	for l := s.at - 1; l >= 0; l-- {
		addr += uint64(tile % s.nest.Trips[l] * op.Strides[l])
		tile /= s.nest.Trips[l]
	}
	return addr >> s.Shift
}

// arrivals are the blocks of an operand that come to the last level in a kind of tile.
func (s *sequel) arrivals(o, kind int) []arrival {
	if s.came[o][kind] != nil {
		return s.came[o][kind]
	}
	tile := s.tiles[kind]
	w, place := s.known[o][tile.loop], tile.places[o]
	times := s.gone(slices.Clone(w.fresh[place]), w, o, tile)
	slices.Sort(times)
	tour := s.tour(o, placed{tile.loop, place})
	list, at := []arrival{}, make([]int, len(tour.lines))
	for _, y := range times {
		b := tour.own[y]
		if at[b] == 0 {
			list = append(list, arrival{number: b, line: tour.lines[b], first: int32(y)})
			at[b] = len(list)
		}
		list[at[b]-1].last = int32(y)
	}
	s.came[o][kind] = list
	return list
}

// tour is that of an operand from a place.
func (s *sequel) tour(o int, at placed) *tour {
	if made := s.tours[o][at]; made != nil {
		return made
	}
	made, earlier, numbers := &tour{}, map[int]int32{}, map[int]int32{}
	if at.loop >= 0 {
		for _, by := range s.bytes[o] {
			line := (at.place - s.steps[o][at.loop] + by) >> s.Shift
			if _, known := earlier[line]; !known {
				earlier[line] = int32(len(earlier))
			}
		}
	}
	for _, by := range s.bytes[o] {
		line := (at.place + by) >> s.Shift
		number, known := numbers[line]
		if !known {
			number = int32(len(numbers))
			numbers[line] = number
			before, was := earlier[line]
			if !was {
				before = -1
			}
			made.lines, made.before = append(made.lines, int32(line)), append(made.before, before)
		}
		made.own = append(made.own, number)
	}
	s.tours[o][at] = made
	return made
}
