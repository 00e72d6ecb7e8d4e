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
	"github.com/stridebench/stridebench/results/outfile"
	"github.com/stridebench/stridebench/results/show"
	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/machines/strict"
)

// A tally has simulated counts of this run and, from a file, of earlier runs of the same program. A
// count depends only on the accesses, the caches and the program.
type tally struct {
	file   string
	caches string
	kept   keptCounts
	before map[string]bool // keys from earlier runs

	took  time.Duration // simulating
	known int           // patterns whose counts earlier runs had
	all   int
}

type keptCounts struct {
	Program string                   // that simulated them, see thisProgram
	Counts  map[string]access.Counts // by caches and access.Pattern.Fingerprint
}

// mostKept bounds the counts in a file, at some hundred bytes each.
const mostKept = 1 << 14

// thisProgram returns a hash of the program's file. If the file cannot be read, it returns "" and
// no counts are kept.
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

// openTally reads the counts in a file. It ignores files that are unreadable or another program's,
// and leaves alone those that are not regular.
func openTally(file string, caches simcache.Config) *tally {
	// %#v prints all fields; a level's String is only its geometry.
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

// close writes new counts to the file. It ignores a failure, which costs the next run some seconds.
func (t *tally) close() {
	if t.file == "" || t.kept.Program == "" || t.took == 0 {
		return
	}
	if text, err := json.Marshal(t.kept); err == nil {
		_ = outfile.WriteFile(t.file, text)
	}
}

func (t *tally) key(p access.Pattern) string { return t.caches + " " + p.Fingerprint() }

// String returns the simulation time, for the comment on overhead.
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

// perLookUp is the number of elements that simulate in the time of one reference looked up in
// turns. Few of the elements' references are looked up.
const perLookUp = 4

// mostAhead is how many elements are simulated before timing begins. The first sample comes soon,
// and all CPUs have work until the end.
const mostAhead = 1 << 26

// simulate counts at least the next comparison.
func (s *Session) simulate(ctx context.Context) error {
	var keys []string // of these comparisons
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

// uncounted says which patterns of a comparison lack LL misses, and why.
func (s *Session) uncounted(i int) (remarks []string) {
	for k, p := range s.patterns[i] {
		if _, err := p.InTurns(s.Caches); s.counts != nil && s.counts[i][k].Shared {
			remarks = append(remarks, fmt.Sprintf(
				"no LL-misses/op: %s: its threads share LL, and %v", s.Comparisons[i][k].Name, err))
		}
	}
	return remarks
}

func (s *Session) count(ctx context.Context, wanted map[string]access.Pattern) error {
	if len(wanted) == 0 {
		return nil
	}
	start := time.Now()
	steps := len(wanted)
	if s.Caches.TLB != nil {
		steps *= 2
	}
	s.progress.Phase("simulating "+show.Counted(len(wanted), "benchmark"), steps)
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
