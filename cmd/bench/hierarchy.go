package main

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/cpu"
	"github.com/stridebench/stridebench/simcache/machines"
	"github.com/stridebench/stridebench/simcache/machines/strict"
)

// hierarchyFlags choose the simulated machine besides D1 and LL, and the counts.
type hierarchyFlags struct {
	preset, config           string
	observe                  parsed[string]
	page                     parsed[int]
	writeBacks, tlb, explain bool
}

func (f *hierarchyFlags) add(flags *pflag.FlagSet) {
	f.observe.known = []string{"classes", "sets", "bytes"}
	f.page.value = access.PagesSmall.Size()
	f.page.text = strict.Size(f.page.value).String()
	flags.StringVar(&f.preset, "preset", "", "simulate a real machine's caches, by a `name` from "+
		"--preset list")
	flags.StringVar(&f.config, "config", "", "simulate the caches that a YAML `file` describes, "+
		"or measured; docs/simulator.md tells the format, measured are those that machine "+
		"--measure found, and - is stdin")
	f.observe.add(flags, "observe", "list", parseObserve, "count more of each miss, "+
		"joined by commas: classes (compulsory, capacity, conflict), sets (misses by set), bytes "+
		"(bytes used of the lines fetched)")
	flags.BoolVar(&f.writeBacks, "writebacks", false,
		"count write-backs, and bytes moved by level; they take part in the next level's order, "+
			"so that its misses may be others")
	flags.BoolVar(&f.tlb, "tlb", false, "simulate a data TLB: the preset's or the config's, else "+
		"this CPU's, else 64 entries 4-way and 1536 entries 12-way")
	f.page.add(flags, "page", "size", simcache.ParseBytes,
		"page size of this CPU's TLB, such as 4KiB or 2MiB; with --tlb or --explain")
	flags.BoolVar(&f.explain, "explain", false,
		"observe all, with the TLB, and say first what would help, tried and counted, then why "+
			"it misses")
}

func (f *hierarchyFlags) machine(c call, g *geometryFlags) (m machines.Machine, err error) {
	if err := cmp.Or(exclude(c, "preset", "config I1 D1 LL"),
		exclude(c, "config", "I1 D1 LL")); err != nil {
		return m, err
	}
	switch {
	case f.preset != "":
		if m, err = machines.Preset(f.preset); err != nil {
			return m, fmt.Errorf("--preset: %w", err)
		}
		m.Config = cpu.From(m.Config, "preset "+f.preset)
	case f.config != "":
		if m, err = files().Description(f.config); err != nil {
			return m, fmt.Errorf("--config: %w", err)
		}
		warnOther(c, "--config", f.config)
		m.Config = cpu.From(m.Config, "config "+f.config)
	default:
		g.noteApart(c)
		m.Config = g.config(cpu.Caches())
	}
	m.Config.Observe = f.observe.value
	m.Config.WriteBacks = m.Config.WriteBacks || f.writeBacks
	if f.explain {
		m.Config.Observe = "classes,sets,bytes"
	}
	wanted, own := f.tlb || f.explain, len(m.Config.TLB) > 0
	switch {
	case f.page.set && own:
		return m, fmt.Errorf("--page %s: %s has a TLB and page size of its own", f.page.text,
			m.Config.First().Source)
	case f.page.set && !wanted:
		return m, fmt.Errorf("--page %s goes with --tlb or --explain", f.page.text)
	case wanted && !own:
		m.Config.TLB = cpu.TLB(f.page.value)
	}
	err = m.Config.Check()
	for flag := range strings.FieldsSeq("page writebacks") {
		if err != nil && c.given(flag) {
			err = fmt.Errorf("--%s: %w", flag, err)
		}
	}
	return m, err
}

func parseObserve(names string) (string, error) {
	c := cpu.Choose(nil)
	c.Observe = names
	return names, c.Check()
}
