package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/stridebench/stridebench/access/counters"
	"github.com/stridebench/stridebench/access/probe"
	"github.com/stridebench/stridebench/access/session/node"
	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/cpu"
	"github.com/stridebench/stridebench/simcache/explain"
	"github.com/stridebench/stridebench/simcache/machines"
)

type machineFlags struct {
	geometry  geometryFlags
	measuring measureFlags
	caches    string
	preset    string
	asJSON    bool
}

func newMachine() *cobra.Command {
	var f machineFlags
	cmd := verb("machine", "Print the CPU, its caches, and the source of each figure", noArgs,
		func(c call, _ []string) error {
			const others = "I1 D1 LL measure out max-size measure-time loaded results "
			if err := cmp.Or(exclude(c, "preset", others+"caches json"),
				exclude(c, "caches", others)); err != nil {
				return err
			}
			switch {
			case f.preset != "":
				text, err := machines.File(f.preset)
				if err != nil {
					return err
				}
				_, err = c.out.Write(text)
				return err
			case f.caches != "":
				return f.writeDescribed(c)
			}
			return f.run(c)
		})
	flags := cmd.Flags()
	f.geometry.add(flags)
	f.measuring.add(flags)
	flags.StringVar(&f.caches, "caches", "", "")
	flags.StringVar(&f.preset, "preset", "", "")
	flags.BoolVar(&f.asJSON, "json", false, "")
	return cmd
}

// machineJSON is what --json prints. A described machine has no caches of its own.
type machineJSON struct {
	Machine   []node.Fact   `json:"machine"`
	Caches    any           `json:"caches,omitzero"`
	TLB       any           `json:"tlb,omitzero"`
	Nodes     []cpu.Node    `json:"nodes,omitzero"`
	Simulated any           `json:"simulated"`
	Measured  *probe.Report `json:"measured,omitempty"`
}

// write prints a machine, with tables of its caches between the facts and the measurements.
func (f *machineFlags) write(c call, m machineJSON, tables func(io.Writer) error) error {
	if f.asJSON {
		return writeJSON(c.out, m)
	}
	return c.tables(func(w io.Writer) error {
		if len(m.Machine) > 0 {
			if err := node.WriteFacts(w, m.Machine); err != nil {
				return err
			}
			fmt.Fprintln(w)
		}
		if err := tables(w); err != nil || m.Measured == nil {
			return err
		}
		fmt.Fprintln(w)
		return m.Measured.Write(w)
	})
}

func (f *machineFlags) writeDescribed(c call) error {
	described, err := files().Description(f.caches)
	if err != nil {
		return err
	}
	described.Config = cpu.From(described.Config, f.caches)
	var facts []node.Fact
	add := func(name, value string) {
		facts = append(facts, node.Fact{Name: name, Value: value, Source: f.caches})
	}
	add("name", described.Name)
	add("description", described.Description)
	for _, source := range described.Sources {
		add("source", source)
	}
	shown := machineJSON{
		Simulated: explain.Settings(described.Config, described.Config.I1 != (simcache.Geometry{}))}
	m, err := files().Machine(f.caches)
	if err == nil {
		add("cpu", m.CPU)
		shown.Measured = probe.ReportOf(m, f.caches, m.Warnings(nil, f.caches))
	} else if !errors.Is(err, probe.ErrNotMeasured) {
		return err
	}
	shown.Machine = node.Known(facts)
	return f.write(c, shown, described.WriteTables)
}

func (f *machineFlags) run(c call) error {
	if err := f.measuring.check(c); err != nil {
		return err
	}
	f.geometry.noteApart(c)
	caches := cpu.Caches()
	measured, err := f.measuring.result(c, caches)
	if err != nil {
		return err
	}
	if f.measuring.on && !f.asJSON {
		return c.tables(measured.Write)
	}
	config := f.geometry.config(caches)
	list, tlb := cpu.JSON(caches)
	shown := machineJSON{node.ThisMachine().Facts(), list, tlb,
		append([]cpu.Node{}, cpu.Nodes()...), explain.Settings(config, true), measured}
	return f.write(c, shown, func(w io.Writer) error {
		err := errors.Join(cpu.WriteTables(w, caches, config), cpu.WriteNodes(w, shown.Nodes))
		_, note := counters.Hardware()
		fmt.Fprintf(w, "\ncounters: %s\n", note)
		return err
	})
}
