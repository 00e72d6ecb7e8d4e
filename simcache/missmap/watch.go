package missmap

import (
	"errors"
	"math/bits"
	"slices"

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
	lines   []found // of the reference, in the first level
}

// A found is a line of a reference, and its state in a level before.
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
	caches, first := reference.New(levels), watched{reference.New(levels[:1]), levels[0]}
	operands := p.Operands()
	for pass := range passes {
		for op, addr := range p.Accesses() {
			width := uint64(operands[op].Width)
			missed := caches.Access(addr, width)
			if !see(outcome{pass, op, addr, missed, first.look(addr, addr+width-1)}) {
				return nil
			}
		}
	}
	return nil
}

// A watched level shows what becomes of each line.
type watched struct {
	*reference.Caches
	engine.Level
}

// look looks up the lines of bytes first to last.
func (w watched) look(first, last uint64) (lines []found) {
	for line := first >> w.Shift; line <= last>>w.Shift; line++ {
		one := found{line: line, set: line % uint64(w.Sets)}
		held := w.Contents(0, int(one.set))
		if len(held) == w.Ways && !slices.Contains(held, line) {
			one.evicts, one.evicted = true, held[w.Ways-1]
		}
		one.missed = w.Access(line<<w.Shift, 1) > 0
		lines = append(lines, one)
	}
	return lines
}
