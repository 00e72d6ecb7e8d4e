package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/simcache"
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
			switch {
			case presets && asJSON:
				return writePresetsJSON(cmd.OutOrStdout())
			case presets || preset == "list":
				return writePresets(cmd.OutOrStdout())
			case preset != "":
				return writePreset(cmd.OutOrStdout(), preset)
			}
			if err := measuring.check(cmd); err != nil {
				return err
			}
			caches := simcache.Detect()
			measured, err := measuring.result(cmd, caches)
			if err != nil {
				return err
			}
			if measuring.on && !asJSON {
				return measured.write(cmd.OutOrStdout())
			}
			facts := results.ThisMachine().Facts()
			settings := geometry.settings(caches)
			if asJSON {
				return writeMachineJSON(cmd.OutOrStdout(), facts, caches, settings, measured)
			}
			if err := writeMachine(cmd.OutOrStdout(), facts, caches, settings); err != nil || measured == nil {
				return err
			}
			fmt.Fprintln(cmd.OutOrStdout())
			return measured.write(cmd.OutOrStdout())
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

func writeMachine(w io.Writer, facts []results.Fact, caches []simcache.Cache, s simcache.Settings) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "machine\tvalue\tfrom")
	for _, f := range facts {
		fmt.Fprintf(t, "%s\t%s\t%s\n", f.Name, f.Value, f.Source)
	}
	fmt.Fprintln(t, "\ncache\tsize\tways\tsets\tline\tshared by\tfrom")
	for _, c := range caches {
		fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%d B\t%s\t%s\n", cacheName(c), results.Bytes(c.Geometry.Size), c.Geometry.Ways,
			c.Geometry.Sets(), c.Geometry.Line, sharedBy(c.Shared), c.Source)
	}
	fmt.Fprintln(t, "\ndata TLB\tentries\tways\tpage\treach\tfrom")
	for _, p := range dataTLB() {
		fmt.Fprintf(t, "level %d\t%d\t%d\t%s\t%s\t%s\n", p.Level, p.TLB.Entries, p.TLB.Ways, results.Bytes(p.TLB.Page),
			results.Bytes(p.TLB.Entries*p.TLB.Page), p.Source)
	}
	fmt.Fprintln(t, "\nsimulated\tsize\tways\tsets\tline\tflag\tfrom")
	for _, n := range []struct {
		name    string
		setting simcache.Setting
	}{{"I1", s.I1}, {"D1", s.D1}, {"LL", s.LL}} {
		g := n.setting.Geometry
		fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%d B\t--%s %s\t%s\n", n.name, results.Bytes(g.Size), g.Ways, g.Sets(), g.Line, n.name, g, n.setting.Source)
	}
	return t.Flush()
}

// dataTLB is this CPU's, for pages of 4 KiB and of 2 MiB.
func dataTLB() []simcache.PageCache {
	return append(simcache.DetectTLB(4<<10), simcache.DetectTLB(2<<20)...)
}

func sharedBy(cpus int) string {
	if cpus == 0 {
		return "unknown"
	}
	return fmt.Sprintf("%d CPUs", cpus)
}

// cacheName is L1d, L1i, L2, L3, as lscpu says.
func cacheName(c simcache.Cache) string {
	suffix := map[string]string{"Data": "d", "Instruction": "i"}[c.Type]
	return fmt.Sprintf("L%d%s", c.Level, suffix)
}

func writeMachineJSON(w io.Writer, facts []results.Fact, caches []simcache.Cache, s simcache.Settings, measured *measurement) error {
	type jsonCache struct {
		Name   string          `json:"name"`
		Level  int             `json:"level"`
		Type   string          `json:"type"`
		Size   int             `json:"size"`
		Ways   int             `json:"ways"`
		Sets   int             `json:"sets"`
		Line   int             `json:"line"`
		Shared int             `json:"shared"`
		Source simcache.Source `json:"source"`
	}
	type jsonPages struct {
		Level   int             `json:"level"`
		Entries int             `json:"entries"`
		Ways    int             `json:"ways"`
		Page    int             `json:"page"`
		Source  simcache.Source `json:"source"`
	}
	pages := []jsonPages{}
	for _, p := range dataTLB() {
		pages = append(pages, jsonPages{p.Level, p.TLB.Entries, p.TLB.Ways, p.TLB.Page, p.Source})
	}
	list := []jsonCache{}
	for _, c := range caches {
		g := c.Geometry
		list = append(list, jsonCache{cacheName(c), c.Level, c.Type, g.Size, g.Ways, g.Sets(), g.Line, c.Shared, c.Source})
	}
	return writeJSON(w, struct {
		Machine   []results.Fact         `json:"machine"`
		Caches    []jsonCache            `json:"caches"`
		TLB       []jsonPages            `json:"tlb"`
		Simulated map[string]jsonSetting `json:"simulated"`
		Measured  *jsonMeasured          `json:"measured,omitempty"`
	}{listed(facts), list, pages, map[string]jsonSetting{"I1": toJSONSetting(s.I1), "D1": toJSONSetting(s.D1), "LL": toJSONSetting(s.LL)}, measured.json()})
}
