package policies

import "github.com/stridebench/stridebench/simcache/internal/engine"

// A Level is one cache. What is zero is as in package reference.
type Level struct {
	engine.Level
	Replace         func(sets, ways int) Policy // nil for LRU
	Tie             Tie                         // to the level before
	WriteThrough    bool                        // stores are passed on, and no line is dirty
	NoWriteAllocate bool                        // a store that misses is passed on, no more
	VictimLines     int                         // of a fully associative victim cache beside it
	Prefetch        func(shift uint) Prefetcher // nil for none
}

// A Tie is what a level knows of the one before.
type Tie uint8

// The ties: none; to hold all that the levels before hold; to hold what the level
// before evicted, and nothing that it holds.
const (
	Untied Tie = iota
	Inclusive
	Exclusive
)
