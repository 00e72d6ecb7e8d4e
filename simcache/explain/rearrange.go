package explain

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/stridebench/stridebench/layouts/nest"
)

// Rearrangements returns changes of a program's loops and arrays that may help. It takes perfect
// nests and arrays with a tenth of all misses. Nests get two loops exchanged, or three in another
// order. Arrays get rows padded by a line, or two dims swapped.
func (r *Run) Rearrangements() (all []Change) {
	p := r.program.Program
	for _, chain := range r.chains(p) {
		var orders [][]int
		for inner := len(chain) - 1; inner > 0; inner-- {
			for outer := inner - 1; outer >= 0; outer-- {
				order := nest.UpTo(len(chain))
				order[outer], order[inner] = inner, outer
				orders = append(orders, order)
			}
		}
		if len(chain) == 3 {
			orders = append(orders, []int{1, 2, 0}, []int{2, 0, 1}) // others exchange two
		}
		for _, order := range orders {
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

// chains returns the nests with a tenth of all misses, the most first, except repeated ones.
func (r *Run) chains(p nest.Program) (all [][]*nest.Loop) {
	misses := map[*nest.Loop]uint64{}
	for op, around := range r.program.around {
		for _, l := range around {
			misses[l] += r.program.counts[op].D1Misses()
		}
	}
	for _, chain := range p.Chains() {
		if misses[chain[0]]*10 >= r.Counts.D1Misses() && !r.repeated(chain[0]) {
			all = append(all, chain)
		}
	}
	slices.SortStableFunc(all, func(a, b []*nest.Loop) int {
		return cmp.Compare(misses[b[0]], misses[a[0]])
	})
	return all
}

// reordered returns ok = false if nothing moves, or if a moved loop is not the file's.
func (r *Run) reordered(p nest.Program, chain []*nest.Loop, order []int) (c Change, ok bool) {
	first, last := 0, len(order)-1
	for first < last && order[first] == first {
		first++
	}
	for last > first && order[last] == last {
		last--
	}
	chain, order = chain[first:last+1], slices.Clone(order[first:last+1])
	var moved []string
	for i := range order {
		order[i] -= first
		if order[i] != i {
			moved = append(moved, chain[order[i]].Name)
			ok = true
		}
		if order[i] != i && !r.written(chain[i]) {
			return c, false
		}
	}
	if !ok {
		return c, false
	}
	if c.Program, c.loops, ok = p.Reorder(chain, order); !ok {
		return c, false
	}
	c.Chain, c.Order, c.kind = chain, order, fmt.Sprintf("loops %p", chain[0])
	c.Place = r.lineIn(chain[0])
	c.Words = "order the loops over " + strings.Join(moved, ", ")
	if len(moved) == 2 {
		c.Words = "exchange the loops over " + List([]string{moved[1], moved[0]})
	}
	c.Words += r.whereIs(p.Chains(), chain[0])
	if c.Kept = "unproved"; r.depth(chain[len(chain)-1]) < r.program.source.Carried {
		c.Kept = p.Keeps(r.Arrays, chain, order)
	}
	return c, true
}

// repeated reports whether the program has the file's loop more than once, such as in a function
// called twice. The file cannot change just one.
func (r *Run) repeated(l *nest.Loop) bool {
	inside := map[Statement]bool{}
	for op, around := range r.program.around {
		if slices.Contains(around, l) {
			inside[r.program.statement(op)] = true
		}
	}
	for op, around := range r.program.around {
		if !slices.Contains(around, l) && inside[r.program.statement(op)] {
			return true
		}
	}
	return false
}

// written reports whether the file has a loop of this name. A quotient splits one loop of the file
// into two, with the suffixes _q and _r.
func (r *Run) written(l *nest.Loop) bool {
	return !strings.HasSuffix(l.Name, "_q") && !strings.HasSuffix(l.Name, "_r")
}

func (r *Run) depth(l *nest.Loop) int {
	for _, around := range r.program.around {
		if d := slices.Index(around, l); d >= 0 {
			return d
		}
	}
	return math.MaxInt
}

// whereIs returns the line of a loop whose name another nest has, too.
func (r *Run) whereIs(chains [][]*nest.Loop, l *nest.Loop) string {
	same := 0
	for _, chain := range chains {
		if slices.ContainsFunc(chain, func(m *nest.Loop) bool { return m.Name == l.Name }) {
			same++
		}
	}
	if line := r.lineIn(l); same > 1 && line > 0 {
		return fmt.Sprintf(" around line %d", line)
	}
	return ""
}

// lineIn returns the line of the first statement, 0 without one.
func (r *Run) lineIn(l *nest.Loop) int {
	for op, around := range r.program.around {
		if slices.Contains(around, l) {
			return r.program.statement(op).Line
		}
	}
	return 0
}

var tileSizes = []int{32, 64, 16, 128}

// Tiles returns changes that tile two or three loops of a perfect nest with one size. The nest
// comes from the change. Without one, it is the first with a tenth of all misses.
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
	kept := "unproved"
	if r.depth(whole[len(whole)-1]) < r.program.source.Carried {
		kept = r.program.Keeps(r.Arrays, whole, nil)
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
			all = append(all, Change{Program: q, Kept: kept, Chain: whole,
				Place: r.lineIn(whole[0]),
				Tiled: names, Size: size,
				Words: fmt.Sprintf("%stile the loops over %s by %d", before, List(names), size),
				kind:  before + List(names)})
		}
	}
	return all
}

func within(chains [][]*nest.Loop, l *nest.Loop) []*nest.Loop {
	for _, chain := range chains {
		if slices.Contains(chain, l) {
			return chain
		}
	}
	return nil
}

// Alike reports whether two changes differ only in a size, so that a report needs just one.
func (c Change) Alike(d Change) bool { return c.kind == d.kind }
