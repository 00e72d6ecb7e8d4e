package proofs

import (
	"math"
	"slices"

	"github.com/stridebench/stridebench/layouts/nest"
)

// A tiling is a nest on the nearest level, empty, as one run of its inner loops, a tile, after
// the other. It counts the misses of an operand whose gaps are neither surely short nor surely
// long (gaps).
//
// The last touch of an access's block lies in the access's tile or in the one before, or else the
// access misses: so is the size of tiles chosen (newTiling). It hits if and only if all operands
// together touch fewer other blocks of the set in between than there are ways. As they share no
// block, that is the sum of what each brings. What one brings to which sets is decided, up to
// turning them, by its place in a line at the start of the tile, and by the loop that went on
// then, which tells where the tile before lies. So that is listed for each place of each operand
// on its own; and of tiles it is counted how many there are of the same places, in sets turned
// alike against one another.
type tiling struct {
	*level
	nest   nest.Nest
	at     int     // loops around tiles
	size   int     // iterations of a tile
	bytes  [][]int // by operand and iteration of a tile: how far the access is from the tile's first
	steps  [][]int // by operand and loop: from a tile to the next
	tiles  []tilesAlike
	kinds  []int32            // of each tile, its number in tiles
	known  []map[int]*windows // by operand
	budget int
}

const (
	mostTile    = 1 << 14 // iterations of a tile
	mostTiles   = 1 << 20
	tilesBudget = 1 << 28 // accesses and sets that are looked at
)

// newTiling prepares one for operands of a nest, of which gaps from large on miss, and reports
// whether it could: whether in tiles of some size all their patterns that may lead back by more than a tile's
// iterations lead back by at least large.
func (l *level) newTiling(n nest.Nest, operands []gapped, asked ...unknown) (*tiling, bool) {
	if l.Ways > math.MaxUint8 {
		return nil, false
	}
	t := &tiling{level: l, nest: n, at: len(n.Trips), size: 1, known: make([]map[int]*windows, len(n.Operands)), budget: tilesBudget}
	unsure := func(u unknown) bool {
		return slices.ContainsFunc(operands[u.operand].patterns, func(p pattern) bool { return p.most > t.size && p.least < u.large })
	}
	for n.Iterations()/t.size > mostTiles || slices.ContainsFunc(asked, unsure) {
		if t.at--; t.at <= 0 || t.size*n.Trips[t.at] > mostTile {
			return nil, false
		}
		t.size *= n.Trips[t.at]
	}
	for _, op := range n.Operands {
		inside := make([]int, 0, t.size)
		at, steps := 0, nest.Steps(n.Trips[t.at:], op.Strides[t.at:])
		for loop := range nest.Walk(n.Trips[t.at:]) {
			if loop >= 0 {
				at += steps[loop]
			}
			inside = append(inside, at)
		}
		t.bytes = append(t.bytes, inside)
		t.steps = append(t.steps, nest.Steps(n.Trips[:t.at], op.Strides[:t.at]))
	}
	return t, true
}

// tilesAlike are tiles of the same places, in sets turned alike.
type tilesAlike struct {
	loop   int   // that went on before, -1 for none
	places []int // by operand: in the line, at the start of the tile
	turns  []int // by operand: how many sets it is behind the first there
	times  uint64
}

// alike lists the kinds of tiles, and reports whether it could.
func (t *tiling) alike() bool {
	line, size := 1<<t.Shift, float64(t.at+1)
	for range t.nest.Operands {
		size *= float64(line * t.Sets)
	}
	if size > 1<<62 {
		return false
	}
	addr, known := make([]uint64, len(t.nest.Operands)), map[uint64]int{}
	for r, op := range t.nest.Operands {
		addr[r] = op.Base
	}
	for loop := range nest.Walk(t.nest.Trips[:t.at]) {
		key := uint64(loop + 1)
		if loop >= 0 {
			for r := range addr {
				addr[r] += uint64(t.steps[r][loop])
			}
		}
		first := t.set(addr[0] >> t.Shift)
		for _, a := range addr {
			turn := t.set(a>>t.Shift) - first
			if turn > t.set(a>>t.Shift) {
				turn += uint64(t.Sets)
			}
			key = (key<<t.Shift+a&uint64(line-1))*uint64(t.Sets) + turn
		}
		at, found := known[key]
		if !found {
			at = len(t.tiles)
			known[key] = at
			t.tiles = append(t.tiles, t.tile(loop, addr))
		}
		t.tiles[at].times++
		t.kinds = append(t.kinds, int32(at))
	}
	return true
}

// tile is one that begins there.
func (t *tiling) tile(loop int, addr []uint64) tilesAlike {
	made := tilesAlike{loop: loop}
	for _, a := range addr {
		made.places = append(made.places, int(a&(1<<t.Shift-1)))
		made.turns = append(made.turns, (int(t.set(a>>t.Shift))-int(t.set(addr[0]>>t.Shift))+t.Sets)%t.Sets)
	}
	return made
}

// A placed is where an operand begins a tile, and what went on before it.
type placed struct{ loop, place int }

// A path is the blocks of an operand in a tile and, if there is one, in the tile before it.
type path struct {
	blocks []int // by iteration: a number of the block
	sets   []int // by number: behind that of the tile's start
}

// path is that of operand r.
func (t *tiling) path(r int, at placed) path {
	var made path
	numbers := map[int]int{}
	walk := func(start int) {
		for _, by := range t.bytes[r] {
			block := (start + by) >> t.Shift
			number, known := numbers[block]
			if !known {
				number = len(made.sets)
				numbers[block] = number
				made.sets = append(made.sets, (block%t.Sets+t.Sets)%t.Sets)
			}
			made.blocks = append(made.blocks, number)
		}
	}
	if at.loop >= 0 {
		walk(at.place - t.steps[r][at.loop])
	}
	walk(at.place)
	return made
}

// A span is from one iteration of a path to a later one.
type span struct{ from, to int }

// A reused is an access of a tile whose block was touched in the tile or in the one before.
type reused struct {
	at   int // iteration of the tile
	span int // its number, of spans
	set  int // behind that of the tile's start
	room int // ways, less what the operand itself brings to the set
}

// windows are what decides the misses of an operand in tiles before which the same loop went on.
type windows struct {
	numbers map[span]int // of spans
	spans   []span
	reuses  map[int][]reused  // by the operand's place: those whose gaps are not surely short
	fresh   map[int][]int     // by the operand's place: iterations of accesses without a last touch
	brings  []map[int][]uint8 // by operand and its place; see bring
	most    [][]uint8         // by operand and span: the greatest number that it brings to a set
}

// add adds those of operand r at a place.
func (w *windows) add(t *tiling, r int, at placed, hits int) {
	p := t.path(r, at)
	last := make([]int, len(p.sets))
	w.fresh[at.place] = []int{}
	for y, b := range p.blocks {
		before := last[b] - 1
		last[b] = y + 1
		now := y - (len(p.blocks) - t.size)
		if now < 0 {
			continue // of the tile before
		}
		switch {
		case before < 0:
			w.fresh[at.place] = append(w.fresh[at.place], now)
		case y-before > hits:
			s := span{before, y}
			number, known := w.numbers[s]
			if !known {
				number = len(w.spans)
				w.numbers[s] = number
				w.spans = append(w.spans, s)
			}
			w.reuses[at.place] = append(w.reuses[at.place], reused{now, number, p.sets[b], 0})
		}
	}
}

// cost is how many accesses and sets bring looks at.
func (w *windows) cost(t *tiling) (sum int) {
	for _, s := range w.spans {
		sum += s.to - s.from + 1 + t.Sets
	}
	return sum
}

// bring is how many blocks operand o, which begins a tile at a place, brings to each set, behind
// that of the start, by span of operand r, between the two accesses; as many as there are ways
// stand for more.
func (t *tiling) bring(w *windows, r, o int, at placed) []uint8 {
	counts := make([]uint8, len(w.spans)*t.Sets)
	p := t.path(o, at)
	seen := make([]int, len(p.sets))
	if w.most[o] == nil {
		w.most[o] = make([]uint8, len(w.spans))
	}
	most := w.most[o]
	for number, s := range w.spans {
		from, to := s.from, s.to // of the accesses between
		if o <= r {
			from++
		}
		if o >= r {
			to--
		}
		row := counts[number*t.Sets:][:t.Sets]
		for _, b := range p.blocks[from : to+1] {
			if seen[b] <= number {
				seen[b] = number + 1
				if set := p.sets[b]; int(row[set]) < t.Ways {
					row[set]++
					most[number] = max(most[number], row[set])
				}
			}
		}
	}
	return counts
}

// misses counts the misses of operand r, of which gaps of at most hits hit, and reports whether that
// did not take too long.
func (t *tiling) misses(r, hits int) (sum uint64, ok bool) {
	byLoop, ok := t.windows(r, hits)
	if !ok {
		return 0, false
	}
	var lost []int
	for _, tile := range t.tiles {
		w, place := byLoop[tile.loop], tile.places[r]
		if t.budget -= len(tile.places) * len(w.reuses[place]); t.budget < 0 {
			return 0, false
		}
		lost = t.gone(lost[:0], w, r, tile)
		sum += tile.times * uint64(len(w.fresh[place])+len(lost))
	}
	return sum, true
}

// windows are those of operand r by the loop that went on before. It reports false where they take too long to list.
func (t *tiling) windows(r, hits int) (byLoop map[int]*windows, ok bool) {
	if t.known[r] != nil {
		return t.known[r], true
	}
	byLoop = map[int]*windows{}
	for _, tile := range t.tiles {
		w, place := byLoop[tile.loop], tile.places[r]
		if w == nil {
			w = &windows{numbers: map[span]int{}, reuses: map[int][]reused{}, fresh: map[int][]int{}, most: make([][]uint8, len(t.nest.Operands))}
			for range t.nest.Operands {
				w.brings = append(w.brings, map[int][]uint8{})
			}
			byLoop[tile.loop] = w
		}
		if w.fresh[place] == nil {
			w.add(t, r, placed{tile.loop, place}, hits)
			t.budget -= 2 * t.size
		}
	}
	for _, tile := range t.tiles {
		w := byLoop[tile.loop]
		for o, place := range tile.places {
			if _, asked := w.brings[o][place]; !asked {
				w.brings[o][place] = nil
				if t.budget -= w.cost(t); t.budget < 0 {
					return nil, false
				}
			}
		}
	}
	for loop, w := range byLoop {
		for o, places := range w.brings {
			for place := range places {
				places[place] = t.bring(w, r, o, placed{loop, place})
			}
		}
	}
	for _, w := range byLoop {
		w.prune(t, r)
	}
	t.known[r] = byLoop
	return byLoop, true
}

// prune leaves out the accesses of operand r that hit wherever what the operands bring lies, and tells
// of the others how much room the operand leaves.
func (w *windows) prune(t *tiling, r int) {
	surely := func(u reused) bool {
		all := 0
		for _, most := range w.most {
			all += int(most[u.span])
		}
		return all < t.Ways
	}
	for place, list := range w.reuses {
		list = slices.DeleteFunc(list, surely)
		for k := range list {
			list[k].room = t.Ways - int(w.brings[r][place][list[k].span*t.Sets+list[k].set])
		}
		w.reuses[place] = list
	}
}

// gone lists the iterations in which accesses of operand r in a tile find that their block has gone since it was touched.
func (t *tiling) gone(list []int, w *windows, r int, tile tilesAlike) []int {
	type brought struct {
		counts []uint8
		turn   int
	}
	var others []brought
	for o, place := range tile.places {
		if o != r {
			others = append(others, brought{w.brings[o][place], (tile.turns[r] - tile.turns[o] + t.Sets) % t.Sets})
		}
	}
	for _, u := range w.reuses[tile.places[r]] {
		room, row := u.room, u.span*t.Sets
		for i := range others {
			set := u.set + others[i].turn
			if set >= t.Sets {
				set -= t.Sets
			}
			room -= int(others[i].counts[row+set])
		}
		if room <= 0 {
			list = append(list, u.at)
		}
	}
	return list
}

// An unknown is an operand of which gaps up to hits hit in the nearest level, and those from large
// on miss, and there are others.
type unknown struct{ operand, hits, large int }

// tiled counts the misses of these operands in the nearest level, empty, tile by tile, and reports
// whether it could. Tiles are large enough for all of them: small ones that do for some are many, of nearly as
// many kinds. They may be known already.
func (x *prover) tiled(n nest.Nest, operands []gapped, known *tiling, left []unknown, misses []uint64) bool {
	if len(left) == 0 {
		return true
	}
	t, ok := x.levels[0].newTiling(n, operands, left...)
	if !ok || x.untiled {
		return false
	}
	if known != nil && known.at == t.at {
		t = known
	} else if !t.alike() {
		return false
	}
	for _, u := range left {
		t.budget = tilesBudget
		if misses[u.operand*len(x.levels)], ok = t.misses(u.operand, u.hits); !ok {
			return false
		}
		x.took.tiled++
	}
	return true
}
