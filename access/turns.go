package access

import (
	"fmt"
	"slices"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache"
)

// mostInTurns bounds the references of a pass that are looked up for threads that take turns. It is
// about half a second for two passes, and there may be several before the first sample of a
// comparison.
const mostInTurns = 20e6

// inTurns returns about how many references of a pass Simulate looks up because threads that share
// a level take turns (simcache.NewThreads). It returns 0 if no level is shared, or if the working
// set fits the last level. It returns an error if Simulate does not count the misses of the last
// level. Then each thread is counted alone, on its first level.
func (p Pattern) inTurns(caches simcache.Config) (lookUps float64, err error) {
	if !caches.Shares(len(p.shared)) || caches.Holds(slices.Concat(p.threads()...)...) {
		return 0, nil
	}
	t, err := simcache.NewThreads(caches, p.threads())
	if err != nil {
		return 0, err
	}
	if lookUps = t.Effort(1).LookUps; lookUps > mostInTurns {
		return 0, fmt.Errorf("%.0f million references would be looked up (at most %.0f are)",
			lookUps/1e6, mostInTurns/1e6)
	}
	return lookUps, nil
}

func (p Pattern) threads() (all [][]nest.Nest) {
	for _, part := range p.walked() {
		all = append(all, part.Nests)
	}
	return all
}
