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
	flags.StringVar(&f.preset, "preset", "", "")
	flags.StringVar(&f.config, "config", "", "")
	f.observe.add(flags, "observe", "list", parseObserve)
	flags.BoolVar(&f.writeBacks, "writebacks", false, "")
	flags.BoolVar(&f.tlb, "tlb", false, "")
	f.page.add(flags, "page", "size", simcache.ParseBytes)
	flags.BoolVar(&f.explain, "explain", false, "")
}

func (f *hierarchyFlags) machine(c call, g *geometryFlags) (m machines.Machine, err error) {
	if err := cmp.Or(exclude(c, "preset", "config I1 D1 LL"),
		exclude(c, "config", "I1 D1 LL")); err != nil {
		return m, err
	}
	switch {
	case f.preset != "":
		if m, err = machines.Preset(f.preset); err != nil {
			return m, err
		}
		m.Config = cpu.From(m.Config, "preset "+f.preset)
	case f.config != "":
		if m, err = files().Description(f.config); err != nil {
			return m, err
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
