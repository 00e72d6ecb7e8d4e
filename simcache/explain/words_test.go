package explain

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/internal/engine"
)

// A plain cache is a level by its definition: sets of lines under LRU, the most
// recent last.
type plain struct {
	simcache.Level
	sets    map[uint64][]uint64
	fetched int // lines
}

// has looks a line up and fetches it.
func (p *plain) has(line uint64) bool {
	set := line % uint64(p.Sets())
	lines := p.sets[set]
	at := slices.Index(lines, line)
	if at >= 0 {
		lines = slices.Delete(lines, at, at+1)
	} else if p.fetched++; len(lines) == p.Ways {
		lines = lines[1:]
	}
	p.sets[set] = append(lines, line)
	return at >= 0
}

// A tally is what a tensor missed at each level: all, and at the first touch of a
// line of the first level.
type tally struct{ all, first []uint64 }

// tallies walks the nests, access by access, through plain caches. It returns the
// tallies by tensor, how many different lines were touched, and how many the last
// level fetched.
func tallies(levels []simcache.Level, nests []nest.Nest, passes int) (by map[string]tally, lines,
	fetched int) {
	var caches []*plain
	for _, l := range levels {
		caches = append(caches, &plain{Level: l, sets: map[uint64][]uint64{}})
	}
	by = map[string]tally{}
	touched := map[uint64]bool{}
	for range passes {
		for _, n := range nests {
			for i := range n.Iterations() {
				for _, op := range n.Operands {
					addr, rest := op.Base, i
					for l := len(n.Trips) - 1; l >= 0; l-- {
						addr += uint64(rest % n.Trips[l] * op.Strides[l])
						rest /= n.Trips[l]
					}
					if by[op.Tensor].all == nil {
						by[op.Tensor] = tally{make([]uint64, len(levels)),
							make([]uint64, len(levels))}
					}
					by[op.Tensor].refer(caches, touched, addr, uint64(op.Width))
				}
			}
		}
	}
	return by, len(touched), caches[len(caches)-1].fetched
}

func (t tally) refer(caches []*plain, touched map[uint64]bool, addr, width uint64) {
	first := false // touch of the line that counts: the first that is absent
	for level, c := range caches {
		missed := false
		for line := addr / uint64(c.Line); line <= (addr+width-1)/uint64(c.Line); line++ {
			if !c.has(line) {
				first = first || level == 0 && !missed && !touched[line]
				missed = true
			}
			if level == 0 {
				touched[line] = true
			}
		}
		if !missed {
			return
		}
		t.all[level]++
		if first {
			t.first[level]++
		}
	}
}

// A drawn case is a pattern on caches.
type drawn struct {
	config simcache.Config
	nests  []nest.Nest
	passes int
	lru    bool // the levels are plain
}

func drawCase(r *rand.Rand) drawn {
	d := drawn{passes: 1 + r.IntN(2)*r.IntN(3), lru: r.IntN(3) > 0}
	line := 32 << r.IntN(2)
	for range 1 + r.IntN(3) {
		ways, sets := 1+r.IntN(8), 1<<r.IntN(6)
		l := simcache.Level{Geometry: simcache.Geometry{Size: max(ways*sets, 2) * line,
			Ways: max(ways, 2/sets), Line: line}}
		if !d.lru {
			l.Policy = []string{"lru", "fifo", "random", "bit-plru", "srrip"}[r.IntN(5)]
			l.Inclusion = []string{"", "inclusive",
				"exclusive"}[min(r.IntN(6), len(d.config.Levels)*2)%3]
			l.VictimLines, l.NoWriteAllocate, l.WriteThrough = r.IntN(3)*r.IntN(9), r.IntN(4) == 0,
				r.IntN(5) == 0
			l.Prefetch = simcache.Prefetch{Kind: []string{"", "next-line", "stride"}[r.IntN(6)%4%3],
				Degree: r.IntN(3)}
		}
		d.config.Levels = append(d.config.Levels, l)
	}
	d.config.Observe = "classes,sets,bytes"
	d.config.WriteBacks = r.IntN(2) == 0 && !d.lru
	d.config.TLB = []simcache.TLB{{Entries: 4, Ways: 2, Page: 4096}}
	if d.config.Check() != nil {
		return drawCase(r)
	}
	d.nests = drawNests(r)
	return d
}

// drawNests draws an op on views: one to three tensors of one shape, each whole,
// broadcast, with steps, backwards or padded, in some order, and now and then in
// tiles with what is left of them.
func drawNests(r *rand.Rand) []nest.Nest {
	shape := []int{1 + r.IntN(45), 1 + r.IntN(45)}
	if r.IntN(3) == 0 {
		shape = []int{1 + r.IntN(12), 1 + r.IntN(12), 1 + r.IntN(12)}
	}
	width := 1 << r.IntN(5)
	var operands []nest.Operand
	for i, tensor := range []string{"x", "with", "y"}[:1+r.IntN(3)] {
		op := nest.Operand{Tensor: tensor, Kind: nest.Kind(r.IntN(3)), Base: uint64(1+i)<<20 +
			uint64(width*r.IntN(100)), Width: width}
		if r.IntN(8) == 0 {
			op.Base += uint64(r.IntN(width)) // elements may lie in two lines
		}
		inner := width * (1 + r.IntN(2)*r.IntN(5))
		op.Strides = make([]int, len(shape))
		for _, l := range r.Perm(len(shape)) {
			op.Strides[l] = inner * []int{0, 1, 1, 1, 1, -1}[r.IntN(6)]
			inner = inner*shape[l] + width*r.IntN(2)*r.IntN(20)
		}
		operands = append(operands, op)
	}
	whole := nest.Nest{Trips: shape, Operands: operands}
	if r.IntN(3) > 0 {
		return []nest.Nest{whole}
	}
	return tiled(whole, 1+r.IntN(9))
}

// tiled is the nest in tiles of a size along the first and the last loop, and then
// what is left at the end of each.
func tiled(n nest.Nest, tile int) (nests []nest.Nest) {
	last := len(n.Trips) - 1
	a, b := n.Trips[0]/tile*tile, n.Trips[last]/tile*tile
	for _, part := range [][4]int{{0, a, 0, b}, {0, a, b, n.Trips[last]},
		{a, n.Trips[0], 0, n.Trips[last]}} {
		p := nest.Nest{Trips: slices.Clone(n.Trips)}
		p.Trips[0], p.Trips[last] = part[1]-part[0], part[3]-part[2]
		if p.Iterations() == 0 {
			continue
		}
		inTiles := len(nests) == 0 && part[1] == a && part[3] == b
		if inTiles {
			p.Trips[0], p.Trips[last] = a/tile, b/tile
			p.Trips = append(p.Trips, tile, tile)
		}
		for _, op := range n.Operands {
			op.Base += uint64(part[0]*op.Strides[0] + part[2]*op.Strides[last])
			op.Strides = slices.Clone(op.Strides)
			if inTiles {
				op.Strides = append(op.Strides, op.Strides[0], op.Strides[last])
				op.Strides[0], op.Strides[last] = tile*op.Strides[0], tile*op.Strides[last]
			}
			p.Operands = append(p.Operands, op)
		}
		nests = append(nests, p)
	}
	return nests
}

// TestWordsFollowCounts holds what is said of each tensor, and the values that it
// is made from, to plain caches; where levels are no plain ones, to the counts.
func TestWordsFollowCounts(t *testing.T) {
	t.Parallel()
	cases := uint64(3000)
	if testing.Short() {
		cases = 200
	}
	for seed := range cases {
		d := drawCase(rand.New(rand.NewPCG(seed, 13)))
		r := d.run(t)
		want, lines, fetched := tallies(d.config.Levels, d.nests, d.passes)
		if !d.lru {
			want = counted(r)
		}
		wrong := func(format string, args ...any) {
			t.Fatalf("seed %d: %s\n%s\n%+v\n%+v, %d passes", seed, fmt.Sprintf(format, args...),
				strings.Join(r.Text(), "\n"), d.config.Levels, d.nests, d.passes)
		}
		missed := map[string][]uint64{}
		for _, a := range r.accesses() {
			if missed[a.name] == nil {
				missed[a.name] = make([]uint64, len(r.Levels))
			}
			for level, n := range a.missed {
				missed[a.name][level] += n
			}
			if message := r.holdWords(a, want[a.name]); message != "" {
				wrong("%s: %s", a.name, message)
			}
		}
		for tensor, n := range missed {
			if !slices.Equal(n, want[tensor].all) {
				wrong("%s misses %v, want %v", tensor, n, want[tensor].all)
			}
		}
		if message := r.holdLevels(want, lines); message != "" {
			wrong("%s", message)
		}
		if given := "emory supplies " + simcache.Bytes(fetched*d.config.Levels[0].Line); d.lru &&
			!strings.Contains(r.memory(), given) {
			wrong("m%s", given)
		}
	}
}

func (d drawn) run(t *testing.T) Run {
	t.Helper()
	h, err := simcache.NewHierarchy(d.config)
	if err != nil {
		t.Fatal(err)
	}
	counts, err := h.Run(d.passes, d.nests...)
	if err != nil {
		t.Fatal(err)
	}
	r := Run{Config: d.config, Nests: d.nests, Passes: d.passes, Levels: h.Levels(), TLB: h.TLBs(),
		Counts: h.Counts()}
	for i, op := range d.nests[0].Operands {
		line := Line{Function: op.Tensor}
		for k := range d.nests {
			line.Counts = line.Counts.Add(counts[k][i])
		}
		r.Tensors = append(r.Tensors, line)
	}
	return r
}

// counted are the tallies that a run itself has.
func counted(r Run) map[string]tally {
	by := map[string]tally{}
	for _, l := range r.Tensors {
		t := tally{make([]uint64, len(r.Levels)), make([]uint64, len(r.Levels))}
		for i := range r.Levels {
			for _, u := range r.Levels[i].Reuses {
				if u.Tensor != l.Function {
					continue
				}
				t.all[i] += u.Misses()
				if u.Since == engine.Never {
					t.first[i] += u.Misses()
				}
			}
		}
		by[l.Function] = t
	}
	return by
}

var (
	lost = regexp.MustCompile(`(\w+)(?: \([\d,]+ lines?\) (?:has evicted it|does not have it|has it, except))`)
)

// holdWords holds what is said of an access to its tensor's misses: a level that has lost its lines
// has missed them twice, and the first one is said to have lost them if most misses are later ones.
func (r Run) holdWords(a access, want tally) string {
	text := r.words(a)
	says := func(of *regexp.Regexp, level string) bool {
		return slices.ContainsFunc(of.FindAllStringSubmatch(text, -1), func(m []string) bool {
			return m[1] == level
		})
	}
	for i, l := range r.Levels {
		if want.all[i] == want.first[i] && says(lost, l.Name) {
			return l.Name + " is said to have lost what it never missed twice"
		}
	}
	again := a.missed[0]
	for _, u := range a.reuses {
		if u.Since == engine.Never {
			again -= u.Misses()
		}
	}
	if again > a.missed[0]/2 && !says(lost, r.Levels[0].Name) {
		return "no cause of its misses is told"
	}
	if strings.Contains(text, "never returns") && again > 0 {
		return "it comes back to lines, and misses them"
	}
	return ""
}

// holdLevels holds what is said of the levels and of what would help.
func (r Run) holdLevels(want map[string]tally, lines int) string {
	misses := uint64(0)
	for _, t := range want {
		misses += t.all[0]
	}
	all := simcache.Bytes(lines * r.Config.Levels[0].Line)
	text := strings.Join(r.Text(), "\n")
	exact := regexp.MustCompile(`The working set, ([\d.]+ \w+), (?:fits|exceeds)`)
	for _, m := range exact.FindAllStringSubmatch(text, -1) {
		if m[1] != all {
			return fmt.Sprintf("%s is the working set", all)
		}
	}
	for _, once := range []string{"Lines are fetched into " + r.Levels[0].Name +
		" once and used whole", "fetches each line once"} {
		if strings.Contains(text, once) && misses > uint64(lines) {
			return fmt.Sprintf("%s: %d lines in %d misses", once, lines, misses)
		}
	}
	return ""
}
