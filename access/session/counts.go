package session

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/machines/strict"
)

// A tally has the counts of all accesses that were simulated, by this run and, where a file
// keeps them, by earlier runs of the same program: a count depends on nothing but the
// accesses, the caches and the program.
type tally struct {
	file   string
	caches string
	kept   keptCounts
	before map[string]bool // keys of those that earlier runs kept

	took  time.Duration // simulating
	known int           // patterns whose counts earlier runs had
	all   int           // patterns
}

// keptCounts is what a file of counts holds.
type keptCounts struct {
	Program string                   // that simulated them, see thisProgram
	Counts  map[string]access.Counts // by caches and access.Pattern.Fingerprint
}

// mostKept is how many counts a file has at most: some hundred bytes each.
const mostKept = 1 << 14

// thisProgram identifies the program that runs by what its file holds; it is empty where that
// cannot be read, and then nothing is kept.
var thisProgram = sync.OnceValue(func() string {
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, f); err != nil {
		return ""
	}
	return hex.EncodeToString(hash.Sum(nil))
})

// openTally reads the counts that a file keeps. One that cannot be read, or that another
// program wrote, keeps none; what is no regular file is left alone.
func openTally(file string, caches simcache.Config) *tally {
	// all fields: a level as text is its geometry
	config := sha256.Sum256(fmt.Appendf(nil, "%#v", caches))
	if strict.Regular(file) != nil {
		file = ""
	}
	t := &tally{file: file, caches: hex.EncodeToString(config[:8]), before: map[string]bool{}}
	if file != "" {
		text, err := os.ReadFile(file)
		if err != nil || json.Unmarshal(text, &t.kept) != nil || t.kept.Program != thisProgram() ||
			len(t.kept.Counts) > mostKept {
			t.kept = keptCounts{}
		}
		t.kept.Program = thisProgram()
	}
	if t.kept.Counts == nil {
		t.kept.Counts = map[string]access.Counts{}
	}
	for key := range t.kept.Counts {
		t.before[key] = true
	}
	return t
}

// close writes the counts of this run to the file, if there are new ones. That it cannot costs
// the next run some seconds, and is no error.
func (t *tally) close() {
	if t.file == "" || t.kept.Program == "" || t.took == 0 {
		return
	}
	if text, err := json.Marshal(t.kept); err == nil {
		_ = results.WriteFile(t.file, text)
	}
}

// key is what the counts of a pattern are kept under.
func (t *tally) key(p access.Pattern) string { return t.caches + " " + p.Fingerprint() }

// String says what simulation took, for the comment on overhead.
func (t *tally) String() string {
	switch {
	case t == nil:
		return ""
	case t.known == 0:
		return fmt.Sprintf(", %.1f s of it simulating", t.took.Seconds())
	}
	return fmt.Sprintf(", %.1f s of it simulating (%d of %d benchmarks were known from earlier "+
		"runs of this program)", t.took.Seconds(), t.known, t.all)
}

// perLookUp is how many elements take as long to simulate as one reference that is looked up
// in turns: few of theirs are looked up.
const perLookUp = 4

// mostAhead is how many elements are simulated before anything is timed: the first sample comes
// soon, and enough is simulated at once that all CPUs have their part until the end.
const mostAhead = 1 << 26

// simulate counts the next comparisons, at least one.
func (s *Session) simulate(ctx context.Context) error {
	var keys []string // of the patterns of these comparisons
	wanted := map[string]access.Pattern{}
	first, upTo := len(s.counts), len(s.counts)
	for elems := 0; upTo < len(s.patterns) && (upTo == first || elems < s.ahead); upTo++ {
		for _, p := range s.patterns[upTo] {
			key := s.tally.key(p)
			keys = append(keys, key)
			if _, known := s.tally.kept.Counts[key]; !known {
				wanted[key] = p
				inTurns, _ := p.InTurns(s.Caches)
				elems += max(p.Elems, int(perLookUp*inTurns))
			}
		}
	}
	for _, key := range keys {
		if s.tally.before[key] {
			s.tally.known++
		}
	}
	s.tally.all += len(keys)
	if err := s.count(ctx, wanted); err != nil {
		return err
	}
	for _, patterns := range s.patterns[first:upTo] {
		var counts []access.Counts
		for range patterns {
			counts, keys = append(counts, s.tally.kept.Counts[keys[0]]), keys[1:]
		}
		s.counts = append(s.counts, counts)
	}
	return nil
}

// uncounted are the patterns of a comparison whose threads' misses of the last level were
// not counted, in words that say why.
func (s *Session) uncounted(i int) (remarks []string) {
	for k, p := range s.patterns[i] {
		if _, err := p.InTurns(s.Caches); s.counts != nil && s.counts[i][k].Shared {
			remarks = append(remarks, fmt.Sprintf(
				"no LL-misses/op: %s: its threads share LL, and %v", s.Comparisons[i][k].Name, err))
		}
	}
	return remarks
}

// count simulates patterns, and keeps their counts under their keys.
func (s *Session) count(ctx context.Context, wanted map[string]access.Pattern) error {
	if len(wanted) == 0 {
		return nil
	}
	start := time.Now()
	steps := len(wanted)
	if s.Caches.TLB != nil {
		steps *= 2
	}
	s.progress.Phase("simulating "+results.Counted(len(wanted), "benchmark"), steps)
	keys := slices.Sorted(maps.Keys(wanted))
	var patterns []access.Pattern
	for _, key := range keys {
		patterns = append(patterns, wanted[key])
	}
	counts, err := access.Simulate(ctx, s.Caches, patterns, func() { s.progress.Step(1) })
	if err != nil {
		return err
	}
	for i, key := range keys {
		s.tally.kept.Counts[key] = counts[i]
	}
	s.tally.took += time.Since(start)
	return nil
}
