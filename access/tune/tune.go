// Package tune is the program's own and promises nothing. It finds the best tuning of the kernel
// sets (kernel.Tuning) on this CPU, in less than two seconds, and keeps it in a file.
//
// The best tuning is measured because neither a CPU's vendor nor its cache sizes predict it. Stores
// past the caches sped up copies of 256 MiB by a factor of 1.6 on AMD's Zen 3, and of 0.6 on an
// older Intel CPU. They sped up transposed copies by a factor of 4 on a current Intel CPU. A tuning
// changes no access, so simulated counts do not depend on it.
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

// budget is about how long a calibration takes. Every way is timed at least once.
const budget = 1200 * time.Millisecond

// most is the most rounds.
const most = 7

// sizes are the bytes written by the compared copies.
var sizes = []int{2 << 20, 8 << 20, 32 << 20}

// cold is the bytes written from which a copy finds nothing in a cache.
const cold = 32 << 20

// aheads are the compared prefetch distances in tiles, at size aheadAt. The default comes first.
// Another must be faster by aheadGain, since they differ little.
var aheads = []int{2, 1, 4, 8}

const (
	aheadAt   = 8 << 20
	aheadGain = 1.1
)

// readsAheads are the compared prefetch distances of sums in bytes: half a page, within which
// hardware prefetchers stay, and several pages.
var readsAheads = []int{2 << 10, 16 << 10}

// gain is the least speedup of stores past the caches, so that noise does not choose them. The data
// is then missing from the caches of its next reader.
const gain = 1.03

// A kind is a threshold of a tuning, of copies, or of sums if plan is nil.
type kind struct {
	of   func(t *kernel.Tuning) *int
	plan func(s *kernel.Set, bytes int) *kernel.Plan
}

// decides reports whether this threshold decides about a plan. It does not if the plan uses other
// buffers.
func (k kind) decides(s *kernel.Set, p *kernel.Plan) bool {
	defer s.Tune(s.Tuning())
	only := cached()
	*k.of(&only) = 1
	s.Tune(only)
	return p.PastCaches()
}

// cached returns a tuning that stores nothing past the caches.
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
	{of: func(t *kernel.Tuning) *int { return &t.Tiles },
		plan: func(s *kernel.Set, bytes int) *kernel.Plan {
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

func blocks(t *kernel.Tuning) *int { return &t.Blocks }

// transposed returns a transposed copy of about this many bytes, without conflict sets in any
// cache.
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

// colliding returns a transposed copy of bytes, a power of 2, from rows a multiple of 4 KiB apart.
func colliding(s *kernel.Set, bytes int) *kernel.Plan {
	columns := 1024
	for columns*columns*2 < bytes/4 {
		columns *= 2
	}
	rows := bytes / 4 / columns
	return kernel.NewPlan(s, 4, []kernel.Loop{{N: columns, To: rows * 4, From: 4},
		{N: rows, To: 4, From: columns * 4}})
}

// inShortRows returns a copy of about this many bytes, from adjacent rows of 128 B to places far
// apart.
func inShortRows(s *kernel.Set, bytes int) *kernel.Plan {
	const row, high = 128, 512
	rows := bytes / row / high
	return kernel.NewPlan(s, 4, []kernel.Loop{{N: row / 4, To: rows * high * 4, From: 4},
		{N: rows, To: high * 4, From: row}, {N: high, To: 4, From: rows * row}})
}

// A race compares ways of a copy, or of a sum if plan is nil.
type race struct {
	set     *kernel.Set
	kind    kind
	size    int // bytes written, or read
	plan    *kernel.Plan
	buffers []byte
	warm    bool // caches may hold its data
	ways    []kernel.Tuning
	best    []time.Duration // by way
}

// once makes the copy, or sums the buffers of a copy of half as many bytes.
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

// Measure returns the best tuning of each set that has a choice. It takes about 1.2 s and at most
// maxMemory bytes (0 for no limit). With little memory it compares fewer sizes. It restores the
// sets' tuning, and they must not be used while it runs. A set takes the tuning of the set that it
// is like, if that is in sets.
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

func fitting(maxMemory int) (all []int) {
	for _, size := range sizes {
		if maxMemory == 0 || 4*size <= maxMemory {
			all = append(all, size)
		}
	}
	return all
}

// thresholds returns the races that decide a set's thresholds.
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

func decided(t kernel.Tuning, s *kernel.Set, races []*race) kernel.Tuning {
	for _, k := range kinds {
		var compared []int
		var times [][]time.Duration // by way and size
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

// from returns the size from which the second way is better, or Never. It multiplies the speedups
// of all larger sizes, so that one disturbed time does not decide alone.
func from(compared []int, plain, past []time.Duration) int {
	least, best, gained := kernel.Never, 0.0, 0.0
	for i := len(compared) - 1; i >= 0; i-- {
		if gained += math.Log(float64(plain[i]) / (gain * float64(past[i]))); gained > best {
			least, best = compared[i], gained
		}
	}
	return least
}

// ever returns the best other way at the largest size, and the size from which it is always better
// than the first. Prefetching may speed up sums in a cache but not in memory.
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

// begin is the start of clocks without a start of their own.
var begin = time.Now()

type ground struct{ dst, src []byte }

// memory returns page-aligned bytes, none of them 0. Some CPUs store zeros past the caches three
// times faster than other data (an EPYC of 2022).
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

// run runs the races in rotation, each in all ways, and keeps the least time of each way.
func (g *ground) run(ctx context.Context, races []*race, budget time.Duration) error {
	runtime.LockOSThread() // now counts this thread's time
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

// round times each way once. Data that caches may hold is touched first, off the clock, or only the
// first way would fetch it from memory.
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
