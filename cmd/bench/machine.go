package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/stridebench/stridebench/access/counters"
	"github.com/stridebench/stridebench/access/probe"
	"github.com/stridebench/stridebench/access/session"
	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/cpu"
	"github.com/stridebench/stridebench/simcache/explain"
	"github.com/stridebench/stridebench/simcache/machines"
)

type machineFlags struct {
	geometry  geometryFlags
	measuring measureFlags
	caches    string
	presets   bool
	preset    string
	asJSON    bool
}

func newMachine() *cobra.Command {
	var f machineFlags
	cmd := &cobra.Command{
		Use:   "machine",
		Short: "Print the CPU, its caches, and the source of each figure",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c := callOf(cmd)
			for _, other := range []string{"presets", "preset", "caches"} {
				for _, flag := range []string{"I1", "D1", "LL", "measure", "out", "max-size",
					"measure-time", "loaded", "results"} {
					if err := exclude(c, other, flag); err != nil {
						return err
					}
				}
			}
			for _, pair := range [][2]string{{"caches", "presets"}, {"caches", "preset"},
				{"presets", "preset"}} {
				if err := exclude(c, pair[0], pair[1]); err != nil {
					return err
				}
			}
			switch {
			case f.presets || f.preset != "":
				return f.writePresets(c)
			case f.caches != "":
				return f.writeDescribed(c)
			}
			return f.run(cmd.Context(), c)
		},
	}
	flags := cmd.Flags()
	f.geometry.add(flags)
	f.measuring.add(flags)
	flags.StringVar(&f.caches, "caches", "", "print the machine of a YAML `file` instead, as "+
		"--measure -o writes it; measured is the saved one, even of another CPU; - is stdin")
	flags.BoolVar(&f.presets, "presets", false, "list the machines that sim --preset knows")
	flags.StringVar(&f.preset, "preset", "", "print the description of one by `name`, as sim "+
		"--config reads it")
	flags.BoolVar(&f.asJSON, "json", false, "print as JSON")
	return cmd
}

func (f *machineFlags) writePresets(c call) error {
	switch list := f.presets || f.preset == "list"; {
	case list && f.asJSON:
		return writeJSON(c.out, machines.List())
	case list:
		return writeTables(c.out, machines.WriteList)
	case f.asJSON:
		return exclude(c, "preset", "json")
	}
	text, err := machines.File(f.preset)
	if err != nil {
		return fmt.Errorf("--preset: %w", err)
	}
	_, err = c.out.Write(text)
	return err
}

func (f *machineFlags) writeDescribed(c call) error {
	described, err := files().Description(f.caches)
	if err != nil {
		return fmt.Errorf("--caches: %w%s", err, kindHint(f.caches))
	}
	described.Config = described.Config.From(simcache.Source(f.caches))
	facts := factsOf(described, f.caches)
	var measured *probe.Report
	switch m, err := files().Machine(f.caches); {
	case err == nil:
		if m.CPU != "" {
			facts = append(facts, results.Fact{Name: "cpu", Value: m.CPU, Source: f.caches})
		}
		measured = probe.ReportOf(m, f.caches, m.Warnings(nil, f.caches))
	case !errors.Is(err, probe.ErrNotMeasured):
		return fmt.Errorf("--caches: %w", err)
	}
	if f.asJSON {
		return writeJSON(c.out, struct {
			Machine   []results.Fact `json:"machine"`
			Simulated any            `json:"simulated"`
			Measured  *probe.Report  `json:"measured,omitempty"`
		}{facts, explain.Settings(described.Config, described.Config.I1 != (simcache.Geometry{})),
			measured})
	}
	return writeTables(c.out, func(w io.Writer) error {
		if len(facts) > 0 {
			if err := results.WriteFacts(w, facts); err != nil {
				return err
			}
			fmt.Fprintln(w)
		}
		if err := described.WriteTables(w); err != nil || measured == nil {
			return err
		}
		fmt.Fprintln(w)
		return measured.Write(w)
	})
}

func factsOf(m machines.Machine, file string) []results.Fact {
	facts := []results.Fact{}
	add := func(name, value string) {
		if value != "" {
			facts = append(facts, results.Fact{Name: name, Value: value, Source: file})
		}
	}
	add("name", m.Name)
	add("description", m.Description)
	for _, source := range m.Sources {
		add("source", source)
	}
	return facts
}

func (f *machineFlags) run(ctx context.Context, c call) error {
	if err := f.measuring.check(c); err != nil {
		return err
	}
	f.geometry.noteApart(c)
	caches := cpu.Caches()
	measured, err := f.measuring.result(ctx, c, caches)
	if err != nil {
		return err
	}
	if f.measuring.on && !f.asJSON {
		return writeTables(c.out, measured.Write)
	}
	facts := session.ThisMachine().Facts()
	config := f.geometry.config(caches)
	if f.asJSON {
		return writeMachineJSON(c.out, facts, caches, config, measured)
	}
	return writeTables(c.out, func(w io.Writer) error {
		if err := writeMachine(w, facts, caches, config); err != nil || measured == nil {
			return err
		}
		fmt.Fprintln(w)
		return measured.Write(w)
	})
}

func writeMachine(w io.Writer, facts []results.Fact, caches []cpu.Cache,
	config simcache.Config) error {
	if err := results.WriteFacts(w, facts); err != nil {
		return err
	}
	fmt.Fprintln(w)
	if err := errors.Join(cpu.WriteTables(w, caches, config),
		probe.WriteNodes(w, cpu.Nodes())); err != nil {
		return err
	}
	_, note := counters.Hardware()
	_, err := fmt.Fprintf(w, "\ncounters: %s\n", note)
	return err
}

func writeMachineJSON(w io.Writer, facts []results.Fact, caches []cpu.Cache, config simcache.Config,
	measured *probe.Report) error {
	list, tlb := cpu.JSON(caches)
	return writeJSON(w, struct {
		Machine   []results.Fact `json:"machine"`
		Caches    any            `json:"caches"`
		TLB       any            `json:"tlb"`
		Nodes     []cpu.Node     `json:"nodes"`
		Simulated any            `json:"simulated"`
		Measured  *probe.Report  `json:"measured,omitempty"`
	}{append([]results.Fact{}, facts...), list, tlb, append([]cpu.Node{}, cpu.Nodes()...),
		explain.Settings(config, true), measured})
}
