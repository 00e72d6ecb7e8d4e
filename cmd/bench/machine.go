package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/stridebench/stridebench/access/probe"
	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/cpu"
	"github.com/stridebench/stridebench/simcache/explain"
)

func newMachine() *cobra.Command {
	var geometry geometryFlags
	var measuring measureFlags
	var asJSON, presets bool
	var preset string
	cmd := &cobra.Command{
		Use:   "machine",
		Short: "Print what is known of the CPU and its caches, and from where",
		Long: `machine prints what is known of this machine, its caches, and the caches that
sim and run would simulate here, each with where the figures come from: a flag,
sysfs (the Linux kernel), cpuid, or a default where neither knows.

A last level whose set count is no power of two is rounded as Cachegrind does:
the power of two below, and ways so that the size is about kept.

--measure measures what the caches give, which in a virtual machine is often less
than they state: a pointer chase (one load a line, in a random cyclic order, on
huge pages where there are any) over working sets from 4 KiB to twice the stated
last level shows the latency of each level and up to which working set it serves
at least three quarters of the loads; then come the data TLB, by a chase with
one load a page, and the bandwidth of reads and copies. It takes about 20 s,
saves what it found, and says where. From then on --caches=measured (of run,
check) and --config measured (of sim) simulate those caches, and the suite has
working sets on both sides of each. Measure while the machine is quiet.

--presets lists the other machines that sim --preset knows, and --preset NAME
prints the description of one, with its sources, to copy and change for sim
--config.`,
		Example: `  bench machine
  bench machine --json
  bench machine --LL 8388608,16,64
  bench machine --measure
  bench machine --measure --measure-time 60s --max-size 256MiB -o server.yaml
  bench machine --presets
  bench machine --preset amd-zen3 > my.yaml`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c := callOf(cmd)
			switch {
			case presets && asJSON:
				return writePresetsJSON(c.out)
			case presets || preset == "list":
				return writePresets(c.out)
			case preset != "":
				return writePreset(c.out, preset)
			}
			if err := measuring.check(c); err != nil {
				return err
			}
			caches := cpu.Caches()
			measured, err := measuring.result(cmd.Context(), c, caches)
			if err != nil {
				return err
			}
			if measuring.on && !asJSON {
				return measured.write(c.out)
			}
			facts := results.ThisMachine().Facts()
			config := geometry.config(caches)
			if asJSON {
				return writeMachineJSON(c.out, facts, caches, config, measured)
			}
			if err := writeMachine(c.out, facts, caches, config); err != nil || measured == nil {
				return err
			}
			fmt.Fprintln(c.out)
			return measured.write(c.out)
		},
	}
	geometry.add(cmd.Flags())
	measuring.add(cmd.Flags())
	cmd.Flags().BoolVar(&presets, "presets", false, "list the machines that sim --preset knows")
	cmd.Flags().StringVar(&preset, "preset", "", "print the description of one by `name`, as sim --config reads it")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	cmd.MarkFlagsMutuallyExclusive("measure", "presets")
	cmd.MarkFlagsMutuallyExclusive("measure", "preset")
	return cmd
}

func writeMachine(w io.Writer, facts []results.Fact, caches []cpu.Cache, config simcache.Config) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "machine\tvalue\tfrom")
	for _, f := range facts {
		fmt.Fprintf(t, "%s\t%s\t%s\n", f.Name, f.Value, f.Source)
	}
	fmt.Fprintln(t)
	if err := t.Flush(); err != nil {
		return err
	}
	return cpu.WriteTables(w, caches, config)
}

func writeMachineJSON(w io.Writer, facts []results.Fact, caches []cpu.Cache, config simcache.Config, measured *measurement) error {
	list, tlb := cpu.JSON(caches)
	return writeJSON(w, struct {
		Machine   []results.Fact             `json:"machine"`
		Caches    []cpu.JSONCache            `json:"caches"`
		TLB       []cpu.JSONTLB              `json:"tlb"`
		Simulated map[string]explain.Setting `json:"simulated"`
		Measured  *probe.JSON                `json:"measured,omitempty"`
	}{listed(facts), list, tlb, explain.Settings(config, true), measured.json()})
}
