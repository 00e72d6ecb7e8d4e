package simcache

import "github.com/stridebench/stridebench/simcache/internal/engine"

// A Reuse counts the references of an operand that reached a level, by the last touch of their
// line by any operand (Since). Lines are first-level lines, at all levels. For a reference to two
// lines, the first absent one counts, else the lower.
type Reuse = engine.Reuse
