package policies

import "github.com/stridebench/stridebench/simcache/internal/engine"

// A Level is one cache. Zero settings mean package reference's.
type Level struct {
	engine.Level
	Replace         func(sets, ways int) Policy // nil for LRU
	Tie             Tie                         // to the level before
	WriteThrough    bool                        // stores are passed on, and lines are never dirty
	NoWriteAllocate bool                        // a store that misses is passed on only
	VictimLines     int                         // of the level's fully associative victim cache
	Prefetch        func(shift uint) Prefetcher // nil for none
}

// A Tie is a level's relation to the level before.
type Tie uint8

// The ties: see simcache.Inclusion.
const (
	Untied Tie = iota
	Inclusive
	Exclusive
)
