// Package tune finds how the sets of kernels are best tuned on the CPU that it runs
// on (kernel.Tuning), by a calibration of less than two seconds, and keeps what was
// found in a file.
//
// What is best is measured because neither the vendor of a CPU nor the sizes of its
// caches tell it: stores past the caches made copies of 256 MiB 1.6 times as fast on
// AMD's Zen 3 and 0.6 times on an older Intel CPU, and transposed ones 4 times as
// fast on an Intel CPU of today. No choice changes an access, so that no simulated
// count depends on a calibration.
package tune

import (
	"context"
	"math"
	"runtime"
	"runtime/debug"
	"slices"
	"time"
	"unsafe"

	"github.com/stridebench/stridebench/access/kernel"
)

// budget is how long a calibration takes, about: every way is timed once whatever
// that takes, and again as long as there is time left.
const budget = 1200 * time.Millisecond

// most is how many rounds there are at most.
const most = 7

// sizes are the bytes written at which plain stores and those past the caches are
// compared.
var sizes = []int{2 << 20, 8 << 20, 32 << 20}

// cold is the bytes written from which on no copy finds in a cache what the one before
// left there, whose source is as long.
const cold = 32 << 20

// aheads are the distances that are compared, in tiles, at the size aheadAt: the
// default first, which is left only for what is faster by aheadGain, since they
// differ by little.
var aheads = []int{2, 1, 4, 8}

const (
	aheadAt   = 8 << 20
	aheadGain = 1.1
)

// readsAheads are the distances at which sums ask for lines that are compared: the half of
// a page that prefetchers of hardware stay in, and several pages on.
var readsAheads = []int{2 << 10, 16 << 10}

// gain is how much faster stores past the caches have to be, so that noise does not
// choose them: they take what was written out of the caches of whoever reads it next.
const gain = 1.03

// A kind is one of the thresholds of a tuning, of copies or, where there is no plan, of sums.
type kind struct {
	of   func(t *kernel.Tuning) *int
	plan func(s *kernel.Set, bytes int) *kernel.Plan
}

// decides tells whether the threshold is the one that decides about a plan of the set, which
// it is not where that goes through other buffers.
func (k kind) decides(s *kernel.Set, p *kernel.Plan) bool {
	defer s.Tune(s.Tuning())
	only := cached()
	*k.of(&only) = 1
	s.Tune(only)
	return p.PastCaches()
}

// cached is the tuning by which nothing is written past the caches.
func cached() kernel.Tuning {
	t := kernel.Default()
	t.Runs, t.Tiles, t.Narrow, t.Blocks = kernel.Never, kernel.Never, kernel.Never, kernel.Never
	return t
}

var kinds = []kind{
	{of: func(t *kernel.Tuning) *int { return &t.Runs },
		plan: func(s *kernel.Set, bytes int) *kernel.Plan {
			return kernel.NewPlan(s, 4, []kernel.Loop{{N: bytes / 4, To: 4, From: 4}})
		}},
	{of: tiles, plan: func(s *kernel.Set, bytes int) *kernel.Plan {
		return transposed(s, 4, bytes)
	}},
	{of: func(t *kernel.Tuning) *int { return &t.Narrow },
		plan: func(s *kernel.Set, bytes int) *kernel.Plan {
			return transposed(s, 2, bytes)
		}},
	{of: blocks, plan: func(s *kernel.Set, bytes int) *kernel.Plan {
		p := colliding(s, bytes)
		if !(kind{of: blocks}).decides(s, p) {
			p = inShortRows(s, bytes)
		}
		return p
	}},
	{of: func(t *kernel.Tuning) *int { return &t.Reads }},
}

func tiles(t *kernel.Tuning) *int { return &t.Tiles }

func blocks(t *kernel.Tuning) *int { return &t.Blocks }

// transposed is a copy of about so many bytes of elements of size bytes whose rows do
// not collide in any cache, nor lie in few sets of one.
func transposed(s *kernel.Set, size, bytes int) *kernel.Plan {
	const line = 64
	pitch := int(math.Sqrt(float64(bytes*size))) / line * line
	if pitch%256 == 0 {
		pitch -= line
	}
	n := pitch / size
	return kernel.NewPlan(s, size, []kernel.Loop{{N: n, To: pitch, From: size},
		{N: n, To: size, From: pitch}})
}

// colliding is a transposed copy of so many bytes, a power of 2, whose rows lie a
// multiple of 4 KiB apart where they are read.
func colliding(s *kernel.Set, bytes int) *kernel.Plan {
	columns := 1024
	for columns*columns*2 < bytes/4 {
		columns *= 2
	}
	rows := bytes / 4 / columns
	return kernel.NewPlan(s, 4, []kernel.Loop{{N: columns, To: rows * 4, From: 4},
		{N: rows, To: 4, From: columns * 4}})
}

// inShortRows is a copy of about so many bytes that reads rows of 128 B, each of which goes on
// in the next, to places far apart.
func inShortRows(s *kernel.Set, bytes int) *kernel.Plan {
	const row, high = 128, 512
	rows := bytes / row / high
	return kernel.NewPlan(s, 4, []kernel.Loop{{N: row / 4, To: rows * high * 4, From: 4},
		{N: rows, To: high * 4, From: row}, {N: high, To: 4, From: rows * row}})
}

// A race is a copy, or a sum where there is no plan, that is made in several ways.
type race struct {
	set     *kernel.Set
	kind    kind
	size    int // bytes written, or read
	plan    *kernel.Plan
	buffers []byte
	warm    bool // caches may hold what is touched
	ways    []kernel.Tuning
	best    []time.Duration // of each way
}

// once makes the copy, or sums up what copies of half as many bytes read and write.
func (r *race) once(g *ground) {
	if r.plan != nil {
		r.plan.Run(g.dst, g.src, r.buffers, 1)
		return
	}
	sum := kernel.NewSum[int32](r.set)
	for _, half := range [][]byte{g.dst, g.src} {
		x := unsafe.Slice((*int32)(unsafe.Pointer(unsafe.SliceData(half))), r.size/2/4)
		sum.Add(x, kernel.Rows{N: len(x), Count: 1})
	}
	sum.Total()
}

// Measure finds how these sets are best tuned, those of them that have a choice. It
// takes about 1.2 s, and memory of at most so many bytes (0 for no limit): where
// that is little, less is compared. The sets are tuned as before when it returns, and
// must not be used meanwhile. A set that is like another one is tuned as that is, if
// that is among them.
func Measure(ctx context.Context, sets []*kernel.Set,
	maxMemory int) (map[string]kernel.Tuning, error) {
	compared := fitting(maxMemory)
	found := map[string]kernel.Tuning{}
	if len(compared) == 0 {
		return found, nil
	}
	defer debug.FreeOSMemory()
	g := &ground{dst: memory(compared[len(compared)-1]), src: memory(compared[len(compared)-1])}
	var races []*race
	for _, s := range sets {
		if s.Streams() && (s.Like() == s || !slices.Contains(sets, s.Like())) {
			found[s.Name()] = kernel.Default()
			races = append(races, thresholds(s, compared)...)
		}
	}
	if err := g.run(ctx, races, budget*4/5); err != nil {
		return nil, err
	}
	for _, s := range sets {
		if t, ok := found[s.Name()]; ok {
			found[s.Name()] = decided(t, s, races)
		}
	}
	races = nil
	for _, s := range sets {
		if t, ok := found[s.Name()]; ok {
			races = append(races, distances(s, t, compared))
		}
	}
	if err := g.run(ctx, races, budget/5); err != nil {
		return nil, err
	}
	for _, r := range races {
		t := found[r.set.Name()]
		t.Ahead = r.ways[nearest(r.best)].Ahead
		found[r.set.Name()] = t
	}
	for _, s := range sets {
		if t, ok := found[s.Like().Name()]; ok {
			found[s.Name()] = t
		}
	}
	return found, nil
}

// fitting are the sizes of which there is memory for.
func fitting(maxMemory int) (all []int) {
	for _, size := range sizes {
		if maxMemory == 0 || 4*size <= maxMemory {
			all = append(all, size)
		}
	}
	return all
}

// thresholds are the races that find from which bytes on a set had best do otherwise.
func thresholds(s *kernel.Set, compared []int) (all []*race) {
	plain, past := cached(), kernel.Default()
	past.Runs, past.Tiles, past.Narrow, past.Blocks, past.Reads = 1, 1, 1, 1, 1
	for _, k := range kinds {
		for _, size := range compared {
			r := &race{set: s, kind: k, size: size, warm: size < cold,
				ways: []kernel.Tuning{plain, past}}
			if k.plan == nil {
				r.size, r.warm, r.ways = 2*size, true, r.ways[:1]
				for _, past.ReadsAhead = range readsAheads {
					r.ways = append(r.ways, past)
				}
			} else if r.plan = k.plan(s, size); !k.decides(s, r.plan) {
				continue
			} else {
				r.buffers = memory(r.plan.Buffers)
			}
			all = append(all, r)
		}
	}
	return all
}

// decided is a tuning with the thresholds that follow from the races of a set.
func decided(t kernel.Tuning, s *kernel.Set, races []*race) kernel.Tuning {
	for _, k := range kinds {
		var compared []int
		var times [][]time.Duration // of each way, by size
		at := k.of(&t)
		for _, r := range races {
			if r.set == s && r.kind.of(&t) == at {
				if compared = append(compared, r.size); times == nil {
					times = make([][]time.Duration, len(r.best))
				}
				for way, best := range r.best {
					times[way] = append(times[way], best)
				}
			}
		}
		switch {
		case compared == nil:
		case k.plan == nil:
			var way int
			t.Reads, way = ever(compared, times)
			t.ReadsAhead = readsAheads[way]
		default:
			*at = from(compared, times[0], times[1])
		}
	}
	return t
}

// from is the size of ascending ones from which on the second way is better: by the
// product of the times at all sizes, so that one that was disturbed does not decide alone.
func from(compared []int, plain, past []time.Duration) int {
	least, best, gained := kernel.Never, 0.0, 0.0
	for i := len(compared) - 1; i >= 0; i-- {
		if gained += math.Log(float64(plain[i]) / (gain * float64(past[i]))); gained > best {
			least, best = compared[i], gained
		}
	}
	return least
}

// ever is the size from which on a way is better than the first at each, and which of the
// others that is: the best at the largest size. Sums that are better for asking in a cache
// need not be so in memory.
func ever(compared []int, times [][]time.Duration) (least, way int) {
	last := len(compared) - 1
	plain, others := times[0], times[1:]
	for i := range others {
		if others[i][last] < others[way][last] {
			way = i
		}
	}
	least = kernel.Never
	for i := last; i >= 0 && float64(plain[i]) > gain*float64(others[way][i]); i-- {
		least = compared[i]
	}
	return least, way
}

// distances is the race between distances of a set that is tuned otherwise.
func distances(s *kernel.Set, t kernel.Tuning, compared []int) *race {
	size := compared[0]
	for _, c := range compared {
		if c <= aheadAt {
			size = c
		}
	}
	r := &race{set: s, size: size, plan: transposed(s, 4, size), warm: true}
	for _, t.Ahead = range aheads {
		r.ways = append(r.ways, t)
	}
	return r
}

// nearest is the first of the times that is about as good as the best.
func nearest(times []time.Duration) int {
	best := times[0]
	for _, t := range times {
		best = min(best, t)
	}
	for i, t := range times {
		if float64(t) <= aheadGain*float64(best) {
			return i
		}
	}
	return 0
}

// begin is what clocks that have no beginning count from.
var begin = time.Now()

// ground is the memory of all races.
type ground struct{ dst, src []byte }

// memory is so many bytes from a page on, written: none of them is 0, as there are CPUs
// that write zeros past the caches three times as fast as anything else (an EPYC of 2022).
func memory(bytes int) []byte {
	const page = 4096
	all := make([]byte, bytes+page)
	for i := range min(page-1, len(all)) {
		all[i] = byte(1 + i%251)
	}
	for done := page - 1; done < len(all); done *= 2 {
		copy(all[done:], all[:done])
	}
	return all[-uintptr(unsafe.Pointer(unsafe.SliceData(all)))%page:][:bytes]
}

// run runs all races by turns, every way of each in turn, and keeps the least time of
// each way.
func (g *ground) run(ctx context.Context, races []*race, budget time.Duration) error {
	runtime.LockOSThread() // whose time it is
	defer runtime.UnlockOSThread()
	start := time.Now()
	for round := range most {
		for _, r := range races {
			if err := ctx.Err(); err != nil {
				return err
			}
			if round > 0 && time.Since(start) > budget {
				return nil
			}
			r.round(g)
		}
	}
	return nil
}

// round times each way once. What caches may hold is copied once before that off the
// clock, or read, as passes follow each other where they are measured: else the first way
// would fetch from memory what all others find in a cache.
func (r *race) round(g *ground) {
	defer r.set.Tune(r.set.Tuning())
	for i, t := range r.ways {
		r.set.Tune(t)
		if r.warm {
			r.once(g)
		}
		start := now()
		r.once(g)
		took := now() - start
		if len(r.best) == i {
			r.best = append(r.best, took)
		}
		r.best[i] = min(r.best[i], took)
	}
}
