package access

import (
	"fmt"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/cpu"
)

// This file has the part of Measure for several threads.

// severalNodes reports whether first touch determines where memory lies.
var severalNodes = func() bool { return len(cpu.Nodes()) > 1 }

// mapArenas maps one arena for all patterns. On several NUMA nodes, a pattern with parts has its
// own, so that each part lies near its thread.
func mapArenas(patterns []Pattern, o Options) (arenas []arena, free func(), err error) {
	apart := severalNodes() && o.Bind == nil
	own := func(p Pattern) bool { return apart && p.shared != nil }
	if err := checkTogether(patterns, o.MaxMemory); err != nil {
		return nil, nil, err
	}
	common, all := 0, 0
	for _, p := range patterns {
		if own(p) {
			all += p.Memory
		} else {
			common = max(common, p.Memory)
		}
	}
	if err := checkMemory(all+common, o.MaxMemory); err != nil {
		return nil, nil, err
	}
	var frees []func() error
	free = func() {
		for _, f := range frees {
			_ = f() // our mapping, whole
		}
	}
	var shared arena
	for _, p := range patterns {
		size, mem := common, shared
		if own(p) {
			size, mem = p.Memory, nil
		}
		if mem == nil {
			var unmap func() error
			if mem, unmap, err = o.Memory.lend(size, own(p), o); err != nil {
				free()
				return nil, nil, err
			}
			frees = append(frees, unmap)
		}
		if arenas = append(arenas, mem); !own(p) {
			shared = mem
		}
	}
	return arenas, free, nil
}

// A Memory lends memory to successive measurements, so that most find touched pages: the first
// touch takes up to 12 us on virtual machines. It has small pages and the size of its largest
// measurement. The zero value is ready to use, by one measurement at a time.
type Memory struct {
	mem   arena
	free  func() error
	nodes []int
}

// lend lends an arena. It maps a separate one if threads have to touch their parts first (apart),
// and for huge pages, which have to be counted.
func (m *Memory) lend(size int, apart bool, o Options) (arena, func() error, error) {
	if m == nil || apart || o.Pages != PagesSmall {
		mem, free, err := mapArena(size, o.Pages, o.Bind)
		if err == nil && !apart {
			mem.populate()
		}
		return mem, free, err
	}
	if len(m.mem) < size || !slices.Equal(m.nodes, o.Bind) {
		m.Close()
		mem, free, err := mapArena(size, o.Pages, o.Bind)
		if err != nil {
			return nil, nil, err
		}
		mem.populate()
		*m = Memory{mem, free, slices.Clone(o.Bind)}
	}
	return m.mem[:size:size], func() error { return nil }, nil
}

// Close unmaps the memory; the next measurement maps it again.
func (m *Memory) Close() {
	if m.free != nil {
		_ = m.free() // our mapping, whole
	}
	*m = Memory{}
}

func newTeams(patterns []Pattern, o Options) (teams map[int]*team, end func(), err error) {
	teams = map[int]*team{}
	end = func() {
		for _, t := range teams {
			t.end()
		}
	}
	for _, p := range patterns {
		n := len(p.shared)
		if n == 0 || teams[n] != nil {
			continue
		}
		if n > len(o.CPUs) {
			end()
			return nil, nil, fmt.Errorf("%s: %w", p.Spec.Name(), fault("threads", p.Spec.Threads,
				fmt.Errorf("there are %d CPUs for them", len(o.CPUs))))
		}
		teams[n] = newTeam(o.CPUs[:n])
		if !teams[n].pinned && o.Pinned != nil {
			o.Pinned(-1)
		}
	}
	return teams, end, nil
}

func (m *meter) among(p Pattern, mem arena, t *team) error {
	if p.shared == nil {
		return nil
	}
	for _, part := range p.shared {
		r, err := newRunner(part, mem)
		if err != nil {
			return err
		}
		m.parts = append(m.parts, r)
	}
	m.team, m.reader = t, nil
	m.runner.passes = func(n int) float64 {
		sum, _ := m.together(n)
		return sum
	}
	return nil
}

func (m *meter) together(passes int) (sum float64, took time.Duration) {
	return m.team.timed(func(worker int) float64 { return m.parts[worker].passes(passes) })
}

func (m *meter) turn(do func()) {
	if m.team == nil {
		do()
		return
	}
	m.team.enter()
	do()
	m.team.leave()
}

// touch has each worker touch its part first, so that the kernel takes the pages from its node. The
// first worker to touch a page of several parts gets it.
func (m *meter) touch(p Pattern, mem arena) {
	if m.team == nil {
		return
	}
	page := os.Getpagesize()
	taken := make([]atomic.Bool, (len(mem)+page-1)/page)
	m.turn(func() {
		m.team.do(func(worker int) {
			p.shared[worker].eachPage(page, func(i int) {
				if !taken[i].Swap(true) {
					mem[i*page] = 0
				}
			})
		})
	})
}

// eachPage calls f for the touched pages of the arena, in any order, some more than once.
func (p Pattern) eachPage(size int, f func(page int)) {
	for _, n := range p.Nests {
		if n.Iterations() == 0 {
			continue
		}
		for _, op := range n.Operands {
			first, _ := op.Reach(n.Trips)
			run, steps := op.Span(n.Trips, size-1) // no hole holds a page
			runs := nest.Nest{Operands: []nest.Operand{{Base: first}}}
			for _, s := range steps {
				runs.Trips, runs.Operands[0].Strides = append(runs.Trips, s.Trips),
					append(runs.Operands[0].Strides, s.Bytes)
			}
			for _, addr := range runs.Accesses() {
				at := int(addr - Origin)
				for i := at / size; i <= (at+run-1)/size; i++ {
					f(i)
				}
			}
		}
	}
}
