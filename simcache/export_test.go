package simcache

import "github.com/stridebench/stridebench/simcache/internal/proofs"

// LookUp makes a hierarchy of LRU levels look accesses up instead of proving
// what they do, but for runs in one line, which its chain counts in bulk.
func LookUp(h *Hierarchy) {
	if p, ok := h.data.(*proofs.Engine); ok {
		h.data = p.Chain
	}
}
