package kernel

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A Tuning is what a set may do in one way or another without a word, because
// every access stays as it is: which stores it uses, and how far ahead it asks
// for lines. What is best differs from CPU to CPU (package tune measures it).
type Tuning struct {
	// Bytes written from which on stores go past the caches, of whole lines:
	// of runs, each of which is as long, and of what is written like a few of these:
	// copies that interleave rows or take them apart, and tiles of elements of 4 bytes
	// and more, one beside the other where they are written; of such tiles one below
	// the other; of narrow ones, of 1 and 2 bytes; and of blocks, which go through
	// buffers.
	Runs, Tiles, Narrow, Blocks int
	// Ahead is how many tiles ahead lines are asked for, 0 to MaxAhead.
	Ahead int
	// Reads is the bytes read from which on sums ask for lines ahead, too, instead of
	// leaving that to hardware alone, and how many bytes ahead, 1 to MaxReadsAhead.
	Reads, ReadsAhead int
}

// Never is a number of bytes that no copy writes.
const Never = math.MaxInt

// MaxAhead is the most tiles that there is a use in asking for.
const MaxAhead = 64

// MaxReadsAhead is the most bytes ahead that a sum asks for lines: of more, a second level
// of 256 KiB has lost some before their turn comes.
const MaxReadsAhead = 128 << 10

// leastAsked is the bytes below which no sum asks for lines: looking it up would take longer.
const leastAsked = 1 << 20

// Default is how sets are tuned unless Tune says otherwise, the same on every CPU:
// from 32 MiB on past the caches, which is more than one core has of most last
// levels and about where C libraries do so in a memcpy. Sums ask for nothing.
func Default() Tuning {
	const most = 32 << 20
	return Tuning{Runs: most, Tiles: most, Narrow: most, Blocks: most, Ahead: 2, Reads: Never,
		ReadsAhead: 16 << 10}
}

// Tuning is how the set is tuned. One that has no stores past the caches, as
// portable and neon, never uses them, however it is tuned, and its sums ask for nothing.
func (s *Set) Tuning() Tuning {
	t := Default()
	if s.tuning != nil {
		t = *s.tuning
	}
	if !s.streams {
		t.Runs, t.Tiles, t.Narrow, t.Blocks, t.Reads = Never, Never, Never, Never, Never
	}
	return t
}

// Tune tunes the set, for all plans, also those that were made before. It must not
// be called while anything else uses the set. It panics if Check refuses the
// tuning.
func (s *Set) Tune(t Tuning) {
	if err := t.Check(); err != nil {
		panic("kernel: " + err.Error())
	}
	s.tuning = &t
}

// Streams tells whether the set has stores that go past the caches: only then is
// there anything to tune.
func (s *Set) Streams() bool { return s.streams }

// Check refuses a tuning that says what there is not.
func (t Tuning) Check() error {
	for _, past := range t.thresholds() {
		if past.from < 1 {
			return fmt.Errorf("%s: past the caches from %d bytes on (want at least 1)",
				past.name, past.from)
		}
	}
	if t.Ahead < 0 || t.Ahead > MaxAhead {
		return fmt.Errorf("ahead: %d tiles (want 0 to %d)", t.Ahead, MaxAhead)
	}
	if t.Reads < 1 {
		return fmt.Errorf("reads: asked for ahead from %d bytes on (want at least 1)", t.Reads)
	}
	if t.ReadsAhead < 1 || t.ReadsAhead > MaxReadsAhead {
		return fmt.Errorf("reads: asked for %d bytes ahead (want 1 to %d)", t.ReadsAhead,
			MaxReadsAhead)
	}
	return nil
}

// asks is how many bytes ahead a sum of rows of n bytes asks for lines, 0 where it does not:
// few bytes are sooner read, and beyond the end of a short row that the next one does not
// follow lies what nobody reads.
func (t Tuning) asks(n, rows, pitch int) int {
	bytes := n
	if pitch != 0 { // else they lie on each other
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

// String is such as "past caches: runs 16MiB tiles 4MiB narrow never blocks
// 8MiB; ahead: 2": the bytes written from which on stores go past the caches. Where sums
// ask for lines, "; reads: 32MiB, 16KiB ahead" before the end says from how many bytes on and
// where they lie.
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
