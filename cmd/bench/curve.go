package main

import (
	"fmt"

	"github.com/spf13/pflag"

	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/reuse"
)

// curveFlags are the flags of a miss-ratio curve.
type curveFlags struct {
	on   bool
	sets int
}

func (c *curveFlags) add(flags *pflag.FlagSet) {
	flags.BoolVar(&c.on, "curve", false, "print the misses of LRU caches of every capacity too")
	flags.IntVar(&c.sets, "curve-sets", 1, "sets of these caches, of every associativity; with 1 they are fully associative")
}

// start returns the curve that the flags ask for, of lines as D1 has them.
func (f *curveFlags) start(c call, config simcache.Config) (*reuse.Meter, error) {
	if !f.on {
		if c.given("curve-sets") {
			return nil, fmt.Errorf("--curve-sets %d goes with --curve", f.sets)
		}
		return nil, nil
	}
	meter, err := reuse.NewMeter(config, f.sets)
	if err != nil {
		return nil, fmt.Errorf("--curve-sets %d: %w", f.sets, err)
	}
	return meter, nil
}
