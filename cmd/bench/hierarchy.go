package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/cpu"
	"github.com/stridebench/stridebench/simcache/machines"
)

// hierarchyFlags choose the simulated machine besides D1 and LL, and the counts.
type hierarchyFlags struct {
	preset, config           string
	observe                  parsed[simcache.Observe]
	page                     parsed[int]
	writeBacks, tlb, explain bool
}

func (f *hierarchyFlags) add(flags *pflag.FlagSet) {
	f.observe = parsed[simcache.Observe]{parse: simcache.ParseObserve, kind: "list"}
	f.page = parsed[int]{parse: simcache.ParseBytes, kind: "size", value: access.PagesSmall.Size(),
		text: machines.Size(access.PagesSmall.Size()).String()}
	flags.StringVar(&f.preset, "preset", "", "simulate a real machine's caches, by a `name` from "+
		"--preset list")
	flags.StringVar(&f.config, "config", "", "simulate the caches that a YAML `file` describes, "+
		"or measured; docs/simulator.md tells the format, measured are those that machine "+
		"--measure found, and - is stdin")
	flags.Var(&f.observe, "observe", "count more of each miss, joined by commas: classes "+
		"(compulsory, capacity, conflict), sets (misses by set), bytes (bytes used of the lines "+
		"fetched)")
	flags.BoolVar(&f.writeBacks, "writebacks", false,
		"count write-backs, and bytes moved by level; they take part in the next level's order, "+
			"so that its misses may be others")
	flags.BoolVar(&f.tlb, "tlb", false, "simulate a data TLB: the preset's or the config's, else "+
		"this CPU's, else 64 entries 4-way and 1536 entries 12-way")
	flags.Var(&f.page, "page", "page size of this CPU's TLB, such as 4KiB or 2MiB; with --tlb or "+
		"--explain")
	flags.BoolVar(&f.explain, "explain", false,
		"observe all, with the TLB, and say first what would help, tried and counted, then why "+
			"it misses")
}

func (f *hierarchyFlags) machine(c call, g *geometryFlags) (machines.Machine, error) {
	m, err := f.base(c, g)
	if err != nil {
		return m, err
	}
	m.Config.Observe = f.observe.value
	if f.explain {
		m.Config.Observe = simcache.ObserveAll
	}
	if err := f.addTLB(&m); err != nil {
		return m, err
	}
	if f.writeBacks {
		m.Config.WriteBacks = true
		if err := m.Config.Check(); err != nil {
			return m, fmt.Errorf("--writebacks: %w", err)
		}
	}
	return m, nil
}

// plain reports whether Cachegrind's summary has all counts.
func (f *hierarchyFlags) plain() bool {
	return f.preset == "" && f.config == "" && !f.observe.set && !f.writeBacks &&
		!f.tlb && !f.explain
}

func (f *hierarchyFlags) base(c call, g *geometryFlags) (m machines.Machine, err error) {
	which, source := "--preset "+f.preset, simcache.Source("preset "+f.preset)
	switch {
	case f.preset == "" && f.config == "":
		g.noteApart(c)
		return machines.Machine{Config: g.config(cpu.Caches())}, nil
	case f.preset != "" && f.config != "":
		return m, errors.New("--preset and --config both name the caches: give one of them")
	case f.preset != "":
		m, err = machines.Preset(f.preset)
	default:
		which, source = "--config", simcache.Source("config "+f.config)
		if m, err = files().Description(f.config); err == nil {
			err = warnOther(c, "--config", f.config)
		}
	}
	for _, name := range []string{"I1", "D1", "LL"} {
		if c.given(name) {
			return m, fmt.Errorf("--%s does not go with %s, which names all caches (copy the "+
				"description with 'bench machine --preset NAME', change it, and give it as "+
				"--config)", name, which)
		}
	}
	if err != nil {
		return m, fmt.Errorf("%s: %w%s", strings.Fields(which)[0], err, kindHint(f.config))
	}
	m.Config = m.Config.From(source)
	return m, nil
}

// addTLB adds this CPU's TLB if a TLB is wanted and none is described.
func (f *hierarchyFlags) addTLB(m *machines.Machine) error {
	wanted := f.tlb || f.explain
	switch {
	case f.page.set && len(m.Config.TLB) > 0:
		return fmt.Errorf("--page %s: %s has a TLB and page size of its own", f.page.text,
			m.Config.First().Source)
	case f.page.set && !wanted:
		return fmt.Errorf("--page %s goes with --tlb or --explain", f.page.text)
	}
	if !wanted || len(m.Config.TLB) > 0 {
		return nil
	}
	m.Config.TLB = cpu.TLB(f.page.value)
	if err := m.Config.Check(); err != nil {
		return fmt.Errorf("--page %s: %w", f.page.text, err)
	}
	return nil
}
