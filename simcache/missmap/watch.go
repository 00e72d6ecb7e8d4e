package missmap

import (
	"errors"
	"math/bits"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/internal/engine"
	"github.com/stridebench/stridebench/simcache/internal/reference"
)

// An outcome is what became of one reference of a program.
type outcome struct {
	pass    int // from 0
	operand int // the access's number
	addr    uint64
	missed  int     // how many levels missed, from the first on
	lines   []found // of the reference, in the first level; the next call overwrites them
}

// A found is a line of a reference, as it was found in a level.
type found struct {
	line, set uint64 // line is the address divided by the bytes of a line
	missed    bool
	evicts    bool   // another line was evicted for it
	evicted   uint64 // that line
}

// watch looks up every reference of passes over a program, one by one, until see returns false. The
// caches start cold, and are those of package reference. It returns an error for what NewHierarchy
// and RunProgram refuse, and for levels that are not independent LRU caches.
func watch(c simcache.Config, passes int, p nest.Program, see func(outcome) bool) error {
	if err := c.Check(); err != nil {
		return err
	}
	if err := c.CheckPasses(passes, p); err != nil {
		return err
	}
	if c.CheckThreads() != nil {
		return errors.New("single references are watched in LRU levels that know nothing of each " +
			"other, without write-backs: want --D1 and --LL, or a description with such levels")
	}
	var levels []engine.Level
	for _, l := range c.Levels {
		levels = append(levels, engine.Level{Sets: l.Sets(), Ways: l.Ways,
			Shift: uint(bits.TrailingZeros(uint(l.Line)))})
	}
	var lines []found
	caches := reference.New(levels)
	caches.Saw = func(line uint64, missed bool, evicted []uint64) {
		one := found{line: line, set: line % uint64(levels[0].Sets), missed: missed}
		if len(evicted) > 0 {
			one.evicts, one.evicted = true, evicted[0]
		}
		lines = append(lines, one)
	}
	operands := p.Operands()
	for pass := range passes {
		for op, addr := range p.Accesses() {
			lines = lines[:0]
			missed := caches.Access(addr, uint64(operands[op].Width))
			if !see(outcome{pass, op, addr, missed, lines}) {
				return nil
			}
		}
	}
	return nil
}
