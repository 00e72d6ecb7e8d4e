package main

import (
	"fmt"

	"github.com/spf13/pflag"

	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/reuse"
)

const curveHelp = `With --curve, the misses of LRU caches of every capacity follow, from the same
pass: fully associative ones, or with --curve-sets those of one set count and
every associativity. Shown are the powers of two at which the misses change, the
knees (the curve falls to here, and hardly on to the next power of two), and the
capacities of D1 and LL.`

const curveExample = `  # how much cache a pass by columns needs
  bench sim --shape 4000x4000 --dtype int32 --order col --curve`

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
func (f *curveFlags) start(c call, config simcache.Config) (*reuse.Beside, error) {
	if !f.on {
		if c.given("curve-sets") {
			return nil, fmt.Errorf("--curve-sets %d goes with --curve", f.sets)
		}
		return nil, nil
	}
	beside, err := reuse.NewBeside(config, f.sets)
	if err != nil {
		return nil, fmt.Errorf("--curve-sets %d: %w", f.sets, err)
	}
	return beside, nil
}
