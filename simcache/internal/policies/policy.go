package policies

import "math/bits"

// A Policy keeps the replacement order of sets. Empty ways are filled first, the lowest first.
type Policy interface {
	touch(set, way int)  // a hit
	filled(set, way int) // a line entered a way
	victim(set int) int  // the way to evict from a full set
}

// A settler ignores repeated hits: after some hits, the same hits in the same order change nothing.
// For other policies all hits are looked up.
type settler interface{ settles() }

func settles(p Policy) bool {
	_, says := p.(settler)
	return says
}

// LRU: see simcache.Policy.
func LRU(sets, ways int) Policy { return order(sets, ways) }

// FIFO: see simcache.Policy.
func FIFO(sets, ways int) Policy { return fifo{order(sets, ways)} }

// Random: see simcache.Policy.
func Random(seed uint64) func(sets, ways int) Policy {
	return func(_, ways int) Policy { return &random{ways: ways, state: seed} }
}

// TreePLRU: see simcache.Policy.
func TreePLRU(sets, ways int) Policy {
	p := &treePLRU{ways: ways, trees: make([]uint64, sets*((ways+63)/64))}
	if ways <= 64 {
		for way := range ways {
			p.paths = append(p.paths, p.path(way))
		}
	}
	return p
}

// BitPLRU: see simcache.Policy.
func BitPLRU(sets, ways int) Policy {
	return &bitPLRU{ways: ways, touched: make([]bool, sets*ways)}
}

// SRRIP: see simcache.Policy.
func SRRIP(sets, ways int) Policy { return &srrip{ways: ways, distance: make([]uint8, sets*ways)} }

const mostRanked = 16

func order(sets, ways int) Policy {
	if ways > mostRanked {
		return &byTime{ways: ways, last: make([]uint64, sets*ways)}
	}
	p := &ranked{ways: ways, ranks: make([]uint64, sets)}
	for set := range p.ranks {
		p.ranks[set] = 0xFEDCBA9876543210
	}
	return p
}

// ranked has a word for each set, of 4 bits for each way, the last touched lowest.
type ranked struct {
	ways  int
	ranks []uint64
}

func (p *ranked) touch(set, way int) {
	const ones = 0x1111111111111111
	ranks := p.ranks[set]
	// 0 at the way's place, which is the lowest place whose top bit the next line sets
	other := ranks ^ uint64(way)*ones
	at := bits.TrailingZeros64((other-ones)&^other&(ones<<3)) &^ 3
	before := uint64(1)<<at - 1
	p.ranks[set] = ranks&^(before<<4|15) | ranks&before<<4 | uint64(way)
}

func (p *ranked) filled(set, way int) { p.touch(set, way) }

func (p *ranked) settles() {}

func (p *ranked) victim(set int) int { return int(p.ranks[set] >> (4 * (p.ways - 1)) & 15) }

type byTime struct {
	ways int
	now  uint64
	last []uint64
}

func (p *byTime) touch(set, way int) {
	p.now++
	p.last[set*p.ways+way] = p.now
}

func (p *byTime) filled(set, way int) { p.touch(set, way) }

func (p *byTime) settles() {}

func (p *byTime) victim(set int) int {
	oldest := 0
	row := p.last[set*p.ways:][:p.ways]
	for way, t := range row {
		if t < row[oldest] {
			oldest = way
		}
	}
	return oldest
}

// fifo ignores hits.
type fifo struct{ Policy }

func (p fifo) touch(int, int) {}

func (p fifo) settles() {}

type random struct {
	ways  int
	state uint64
}

func (p *random) touch(int, int) {}

func (p *random) filled(int, int) {}

func (p *random) settles() {}

// victim returns the next number of splitmix64 (Steele, Lea and Flood, OOPSLA 2014), scaled.
func (p *random) victim(int) int {
	p.state += 0x9E3779B97F4A7C15
	z := p.state
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	way, _ := bits.Mul64(z^z>>31, uint64(p.ways))
	return int(way)
}

// treePLRU keeps a bit for each inner node of a binary tree over the ways, with root 1: the half of
// the victim.
type treePLRU struct {
	ways  int
	trees []uint64
	paths []path // by way, if a word holds a tree
}

type path struct{ set, clear uint64 }

func (p *treePLRU) path(way int) (all path) {
	for n := p.ways + way; n > 1; n /= 2 {
		if bit := uint64(1) << (n / 2); n%2 == 0 { // points away, to the right half
			all.set |= bit
		} else {
			all.clear |= bit
		}
	}
	return all
}

func (p *treePLRU) node(set, n int) (*uint64, uint64) {
	return &p.trees[set*((p.ways+63)/64)+n/64], 1 << (n % 64)
}

func (p *treePLRU) touch(set, way int) {
	if p.paths != nil {
		p.trees[set] = p.trees[set]&^p.paths[way].clear | p.paths[way].set
		return
	}
	for n := p.ways + way; n > 1; n /= 2 {
		word, bit := p.node(set, n/2)
		if n%2 == 0 { // points away, to the right half
			*word |= bit
		} else {
			*word &^= bit
		}
	}
}

func (p *treePLRU) filled(set, way int) { p.touch(set, way) }

func (p *treePLRU) settles() {}

func (p *treePLRU) victim(set int) int {
	n := 1
	if p.paths != nil {
		for tree := p.trees[set]; n < p.ways; {
			n = 2*n + int(tree>>n&1)
		}
	}
	for n < p.ways {
		word, bit := p.node(set, n)
		n *= 2
		if *word&bit != 0 {
			n++
		}
	}
	return n - p.ways
}

type bitPLRU struct {
	ways    int
	touched []bool
}

func (p *bitPLRU) touch(set, way int) {
	row := p.touched[set*p.ways:][:p.ways]
	row[way] = true
	for _, touched := range row {
		if !touched {
			return
		}
	}
	clear(row)
	row[way] = true
}

func (p *bitPLRU) filled(set, way int) { p.touch(set, way) }

func (p *bitPLRU) victim(set int) int {
	for way, touched := range p.touched[set*p.ways:][:p.ways] {
		if !touched {
			return way
		}
	}
	return 0 // a single way, which is always touched
}

// srrip keeps re-reference distances, 0 to 3.
type srrip struct {
	ways     int
	distance []uint8
}

func (p *srrip) touch(set, way int) { p.distance[set*p.ways+way] = 0 }

func (p *srrip) filled(set, way int) { p.distance[set*p.ways+way] = 2 }

func (p *srrip) settles() {}

func (p *srrip) victim(set int) int {
	row := p.distance[set*p.ways:][:p.ways]
	farthest := 0
	for way, d := range row {
		if d > row[farthest] {
			farthest = way
		}
	}
	if raise := 3 - row[farthest]; raise > 0 {
		for way := range row {
			row[way] += raise
		}
	}
	return farthest
}
