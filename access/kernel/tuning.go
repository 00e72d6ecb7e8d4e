package kernel

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A Tuning holds choices of a set that change no access: which stores it uses, and how far ahead it
// prefetches lines. The best choices depend on the CPU (package tune measures them).
type Tuning struct {
	// Least bytes written from which stores of whole lines bypass the caches. Runs is for each run,
	// and for copies written like a few runs: interleaved or separated rows, and tiles of elements
	// of 4 bytes or more along the output. Tiles is for such tiles down the output, Narrow for
	// tiles of 1 and 2 bytes, Blocks for blocks through buffers.
	Runs, Tiles, Narrow, Blocks int
	// Ahead is how many tiles ahead lines are prefetched, 0 to maxAhead.
	Ahead int
	// Reads is the least bytes read for which sums prefetch lines too, in addition to hardware.
	// ReadsAhead is the distance in bytes, 1 to maxReadsAhead.
	Reads, ReadsAhead int
}

// Never is a number of bytes that no copy writes.
const Never = math.MaxInt

// maxAhead is the most tiles ahead that are useful.
const maxAhead = 64

// maxReadsAhead is the most bytes ahead that a sum prefetches. Beyond it, a second level of 256 KiB
// evicts lines before their use.
const maxReadsAhead = 128 << 10

// leastAsked is the bytes below which a lookup takes longer than prefetching saves.
const leastAsked = 1 << 20

// Default returns the tuning of sets without Tune, the same on every CPU. Stores bypass the caches
// from 32 MiB: one core has less of most last levels, and C libraries switch at about that size in
// memcpy. Sums do not prefetch.
func Default() Tuning {
	const most = 32 << 20
	return Tuning{Runs: most, Tiles: most, Narrow: most, Blocks: most, Ahead: 2, Reads: Never,
		ReadsAhead: 16 << 10}
}

// Tuning returns the tuning of the set. A set without stores past the caches, such as portable and
// neon, uses none, and its sums do not prefetch.
func (s *Set) Tuning() Tuning {
	t := Default()
	if s.tuning != nil {
		t = *s.tuning
	}
	if !s.amd64 {
		t.Runs, t.Tiles, t.Narrow, t.Blocks, t.Reads = Never, Never, Never, Never, Never
	}
	return t
}

// Tune tunes the set, for all plans, including existing ones. Nothing else may use the set during
// the call. It panics if Check refuses the tuning.
func (s *Set) Tune(t Tuning) {
	if err := t.Check(); err != nil {
		panic("kernel: " + err.Error())
	}
	s.tuning = &t
}

// Streams reports whether the set has stores past the caches. Other sets have nothing to tune.
func (s *Set) Streams() bool { return s.amd64 }

// Check returns an error for a field out of range.
func (t Tuning) Check() error {
	for _, past := range t.thresholds() {
		if past.from < 1 {
			return fmt.Errorf("%s: past the caches from %d bytes on (want at least 1)",
				past.name, past.from)
		}
	}
	if t.Ahead < 0 || t.Ahead > maxAhead {
		return fmt.Errorf("ahead: %d tiles (want 0 to %d)", t.Ahead, maxAhead)
	}
	if t.Reads < 1 {
		return fmt.Errorf("reads: asked for ahead from %d bytes on (want at least 1)", t.Reads)
	}
	if t.ReadsAhead < 1 || t.ReadsAhead > maxReadsAhead {
		return fmt.Errorf("reads: asked for %d bytes ahead (want 1 to %d)", t.ReadsAhead,
			maxReadsAhead)
	}
	return nil
}

// asks returns how many bytes ahead a sum prefetches, or 0. Few bytes are read sooner than
// prefetched. Beyond a short row, unless the next one follows it, lies memory that nobody reads.
func (t Tuning) asks(n, rows, pitch int) int {
	bytes := n
	if pitch != 0 { // not at the same place
		bytes *= rows
	}
	follows := pitch >= n && pitch-n <= n/8
	if bytes < max(leastAsked, t.Reads) || rows > 1 && !follows && n < 8*t.ReadsAhead {
		return 0
	}
	return t.ReadsAhead
}

type threshold struct {
	name string
	from int
}

func (t Tuning) thresholds() []threshold {
	return []threshold{{"runs", t.Runs}, {"tiles", t.Tiles}, {"narrow", t.Narrow},
		{"blocks", t.Blocks}}
}

// String returns such as "past caches: runs 16MiB tiles 4MiB narrow never blocks 8MiB; ahead: 2".
// If sums prefetch, it has "; reads: 32MiB, 16KiB ahead" in between: the least bytes read, and the
// distance.
func (t Tuning) String() string {
	words := []string{"past caches:"}
	for _, past := range t.thresholds() {
		words = append(words, past.name, size(past.from))
	}
	text := strings.Join(words, " ")
	if t.Reads < Never {
		text += fmt.Sprintf("; reads: %s, %s ahead", size(t.Reads), size(t.ReadsAhead))
	}
	return text + fmt.Sprintf("; ahead: %d", t.Ahead)
}

func size(bytes int) string {
	switch {
	case bytes == Never:
		return "never"
	case bytes%(1<<20) == 0:
		return strconv.Itoa(bytes>>20) + "MiB"
	case bytes%(1<<10) == 0:
		return strconv.Itoa(bytes>>10) + "KiB"
	}
	return strconv.Itoa(bytes) + "B"
}
