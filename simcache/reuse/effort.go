package reuse

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/layouts/nest/touched"
	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/internal/lines"
)

// mostMemory limits a Meter, in bytes, approximately.
const mostMemory = 4 << 30

// pageBytes is the memory of a page of lines, approximately.
const pageBytes = 480

const mostPages = mostMemory / pageBytes

// perSecond approximates the speed in lookups/s.
const perSecond = 3e7

// Effort estimates the cost of Passes, 0 for a nil Meter.
func (m *Meter) Effort(passes int, nests []nest.Nest) simcache.Effort {
	if m == nil || m.checkNests(nests) != nil {
		return simcache.Effort{} // Passes returns the error
	}
	refs := 0.0
	for _, n := range nests {
		refs += float64(n.Iterations()) * float64(len(n.Operands)) / m.run(n.Canonical())
	}
	return effortOf(refs, passes)
}

// run returns how many consecutive innermost iterations stay in their lines, for each two walked.
func (m *Meter) run(n nest.Nest) float64 {
	if len(n.Trips) == 0 {
		return 1
	}
	inner := len(n.Trips) - 1
	run := n.Trips[inner]
	for _, op := range n.Operands {
		if size := max(op.Strides[inner], -op.Strides[inner]); size > 0 {
			run = min(run, m.stacks.line/size)
		}
	}
	return max(1, float64(run)/2)
}

// EffortOfProgram estimates the cost of Program, 0 for a nil Meter.
func (m *Meter) EffortOfProgram(passes int, p nest.Program) simcache.Effort {
	if m == nil {
		return simcache.Effort{}
	}
	refs, err := p.Count()
	if err != nil {
		return simcache.Effort{} // Program returns the error
	}
	return effortOf(float64(refs), passes)
}

// effortOf walks at most two passes.
func effortOf(refs float64, passes int) simcache.Effort {
	refs *= float64(min(passes, 2))
	return simcache.Effort{LookUps: refs, Time: time.Duration(min(refs/perSecond*1e9, 1<<62))}
}

// checkNests refuses nests with too many lines for the memory.
func (m *Meter) checkNests(nests []nest.Nest) error {
	for _, n := range nests {
		if err := n.Check(); err != nil {
			return err
		}
	}
	if pages := pagesOf(nests, m.stacks.line); pages > mostPages {
		return tooMuch(pages)
	}
	return nil
}

func (s *Stacks) checkRoom() {
	pages := 0
	for i := range s.stacks {
		pages += len(s.stacks[i].lines.Numbers) / lines.Page
	}
	if pages > s.most {
		s.full = tooMuch(float64(pages))
	}
}

func tooMuch(pages float64) error {
	return fmt.Errorf("--curve keeps every line that is touched, which takes about %.1f GiB: "+
		"want at most %d GiB, a smaller shape",
		max(pages*pageBytes, mostMemory*1.05)/(1<<30), mostMemory>>30)
}

// pagesOf estimates the pages of lines that nests touch. Overlapping tensors count at most their
// span.
func pagesOf(nests []nest.Nest, line int) float64 {
	page := lines.Page * line
	type extent struct {
		first, last uint64
		pages       float64
	}
	var list []extent
	for _, n := range nests {
		for _, op := range n.Operands {
			if n.Iterations() > 0 {
				first, last := op.Reach(n.Trips)
				list = append(list, extent{first / uint64(page), last / uint64(page),
					touched.Lines(op, n.Trips, page)})
			}
		}
	}
	slices.SortFunc(list, func(a, b extent) int { return cmp.Compare(a.first, b.first) })
	sum := 0.0
	for i := 0; i < len(list); {
		all := list[i]
		for i++; i < len(list) && list[i].first <= all.last; i++ {
			all.last = max(all.last, list[i].last)
			all.pages += list[i].pages
		}
		sum += min(all.pages, float64(all.last-all.first)+1)
	}
	return sum
}
