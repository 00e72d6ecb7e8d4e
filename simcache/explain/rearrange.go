package explain

import (
	"fmt"
	"slices"

	"github.com/stridebench/stridebench/layouts/nest"
)

// Rearrangements are the changes of a program's loops and arrays that may help: each perfect nest that
// misses a tenth of all in every order of up to three loops, or with two exchanged; the rows of each
// array that does padded by a line; and two of its dims swapped.
func (r *Run) Rearrangements() (all []Change) {
	p := r.program.Program
	all = r.exchanges(p)
	for _, chain := range r.chains(p) {
		if len(chain) != 3 {
			continue
		}
		for _, order := range [][]int{{1, 2, 0}, {2, 0, 1}} { // the others exchange two
			if c, ok := r.reordered(p, chain, order); ok {
				all = append(all, c)
			}
		}
	}
	for _, a := range r.arrays(p) {
		all = append(all, r.layouts(p, a)...)
	}
	return all
}

// tileSizes are the iterations of a loop within a tile that are tried.
var tileSizes = []int{32, 64, 16, 128}

// Tiles are the perfect nest of an order of loops, or the first that misses a tenth of all where the
// change is none, with two of its loops or three in tiles of the same size.
func (r *Run) Tiles(c Change) (all []Change) {
	p, before := r.program.Program, ""
	chains := r.chains(p)
	if len(chains) == 0 {
		return nil
	}
	if c.Chain == nil {
		c.Chain, c.loops = chains[0], chains[0]
	} else {
		p, before = c.Program, c.Words+", and "
	}
	whole, chain := within(chains, c.Chain[0]), within(p.Chains(), c.loops[0])
	if len(chain) < 2 || len(chain) > 4 {
		return nil
	}
	kept := nest.Unproved
	if r.depth(whole[len(whole)-1]) < r.program.source.Carried {
		kept = r.program.KeepsTiles(r.Arrays, whole)
	}
	for _, size := range tileSizes {
		for set := (1 << len(chain)) - 1; set > 0; set-- {
			sizes := make([]int, len(chain))
			var names []string
			for l, loop := range chain {
				if set>>l&1 == 1 && r.written(loop) {
					sizes[l] = size
					names = append(names, loop.Name)
				}
			}
			if len(names) < 2 || len(names) > 3 {
				continue
			}
			q, ok := p.Tile(chain, sizes)
			if !ok {
				continue
			}
			all = append(all, Change{Program: q, Kept: kept, Chain: whole, Place: r.lineIn(whole[0]),
				Words: fmt.Sprintf("%stile the loops over %s by %d", before, List(names), size),
				kind:  before + List(names)})
		}
	}
	return all
}

// within is the perfect nest that a loop is in.
func within(chains [][]*nest.Loop, l *nest.Loop) []*nest.Loop {
	for _, chain := range chains {
		if slices.Contains(chain, l) {
			return chain
		}
	}
	return nil
}

// Alike reports whether two changes differ in a size alone, so that one of them is enough to say.
func (c Change) Alike(d Change) bool { return c.kind == d.kind }
