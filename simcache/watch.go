package simcache

import (
	"errors"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/reference"
)

// An Outcome is what became of one reference of a program.
type Outcome struct {
	Pass    int // from 0
	Operand int // the access's number
	Addr    uint64
	Missed  int         // how many levels missed, from the first on
	Lines   []LineFound // in the first level, that it lies in; the next call overwrites them
}

// A LineFound is a line of a reference, as it was found in a level.
type LineFound struct {
	Line, Set uint64 // Line is the address divided by the bytes of a line
	Missed    bool
	Evicts    bool   // another line had to go for it
	Evicted   uint64 // which
}

// Watch looks up every reference of passes over a program, one by one and as plainly as package
// reference says what a cache is, in caches that start cold, until see returns false. It refuses
// what NewHierarchy and RunProgram refuse, and levels that are no LRU caches of their own.
func (c Config) Watch(passes int, p nest.Program, see func(Outcome) bool) error {
	if err := c.Check(); err != nil {
		return err
	}
	if err := c.CheckProgram(passes, p); err != nil {
		return err
	}
	if !c.lone() || c.ZeroTags {
		return errors.New("single references are watched in LRU levels that know nothing of each " +
			"other, without write-backs: want --D1 and --LL, or a description with such levels")
	}
	var found []LineFound
	caches := reference.New(c.shapes())
	sets := uint64(c.Levels[0].shape().Sets)
	caches.Saw = func(line uint64, missed bool, evicted []uint64) {
		one := LineFound{Line: line, Set: line % sets, Missed: missed}
		if len(evicted) > 0 {
			one.Evicts, one.Evicted = true, evicted[0]
		}
		found = append(found, one)
	}
	operands := p.Operands()
	for pass := range passes {
		for op, addr := range p.Accesses() {
			found = found[:0]
			missed := caches.Access(addr, uint64(operands[op].Width))
			if !see(Outcome{Pass: pass, Operand: op, Addr: addr, Missed: missed, Lines: found}) {
				return nil
			}
		}
	}
	return nil
}

// LevelNames are the names of the data levels, the nearest first.
func (c Config) LevelNames() (names []string) {
	for i := range c.Levels {
		names = append(names, c.name(i))
	}
	return names
}
