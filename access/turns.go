package access

import (
	"fmt"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache"
)

// mostInTurns is how many references of a pass are looked up at most of threads that
// take turns: about half a second for two passes, of which there may be some before the
// first sample of a comparison.
const mostInTurns = 20e6

// InTurns is about how many references of a pass Simulate looks up since threads that
// share a level take turns (simcache.Threads): none where nothing is shared, or all that
// they touch fits the last level, so that it misses nothing in whatever order they come. The error
// says why it does not count the misses of the last level, where it does not: then each
// thread is counted alone, on its first level.
func (p Pattern) InTurns(caches simcache.Config) (lookUps float64, err error) {
	if !caches.Shares(len(p.shared)) || caches.Holds(p.walkedNests()...) {
		return 0, nil
	}
	if err := caches.CheckThreads(); err != nil {
		return 0, err
	}
	if lookUps = simcache.EffortOfThreads(caches, p.Threads()); lookUps > mostInTurns {
		return 0, fmt.Errorf("%.0f million references would be looked up (at most %.0f are)",
			lookUps/1e6, mostInTurns/1e6)
	}
	return lookUps, nil
}

// Threads are the nests of each part.
func (p Pattern) Threads() (all [][]nest.Nest) {
	for _, part := range p.shared {
		all = append(all, part.Nests)
	}
	return all
}

// walkedNests are those of all threads.
func (p Pattern) walkedNests() (all []nest.Nest) {
	for _, part := range p.walked() {
		all = append(all, part.Nests...)
	}
	return all
}
