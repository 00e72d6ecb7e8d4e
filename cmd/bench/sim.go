package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/kernel"
	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/explain"
	"github.com/stridebench/stridebench/simcache/machines"
	"github.com/stridebench/stridebench/simcache/reuse"
	"github.com/stridebench/stridebench/simcache/trace"
)

func newSim() *cobra.Command {
	var f simFlags
	cmd := &cobra.Command{
		Use:   "sim {--shape SHAPE | --trace FILE}",
		Short: "Simulate the cache misses of one access pattern, or of a trace",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c := callOf(cmd)
			if f.hierarchy.preset == "list" {
				return machines.WriteList(c.out)
			}
			if f.trace == "" {
				return f.simulatePattern(c)
			}
			for _, name := range []string{"shape", "dtype", "view", "op", "with", "tile", "order", "kernel", "width", "passes", "exact", "cores"} {
				if c.given(name) {
					return fmt.Errorf("--%s does not go with --trace", name)
				}
			}
			return f.replay(c)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	f.pattern.add(flags)
	f.order, f.kernel = once{text: "row"}, once{text: "scalar"}
	flags.Var(&f.order, "order", orderUsage)
	flags.Var(&f.kernel, "kernel", kernelUsage+kernel.Names(kernel.All()))
	flags.IntVar(&f.width, "width", 0, "bytes of one access; default the element; a wider one covers its neighbours along the storage's last dimension and steps over them")
	flags.IntVar(&f.passes, "passes", 1, "walks over the whole pattern")
	flags.StringVar(&f.trace, "trace", "", "replay a memory trace instead, of lackey or din, plain or gzipped; - for stdin")
	f.geometry.add(flags)
	f.hierarchy.add(flags)
	f.curve.add(flags)
	flags.StringVar(&f.exact, "exact", "auto", "auto proves of as many accesses as it can that they hit or miss like others, and counts the same as brute, which looks up every one")
	flags.IntVar(&f.cores, "cores", 1, "cores to look accesses up on, each its own sets; the counts are the same")
	flags.BoolVar(&f.asJSON, "json", false, "print counts, geometry and loops as JSON, and how many accesses were visited and proved; with a TLB each counts once more for it")
	flags.StringVar(&f.out, "cachegrind-out", "", "file for cg_annotate, with a line for each tensor, or for the trace")
	return cmd
}

// simFlags are the flags of bench sim.
type simFlags struct {
	pattern       patternFlags
	geometry      geometryFlags
	hierarchy     hierarchyFlags
	curve         curveFlags
	order, kernel once
	width, passes int
	exact         string
	cores         int
	trace, out    string
	asJSON        bool
}

// simulatePattern counts passes over a pattern from cold caches.
func (f *simFlags) simulatePattern(c call) error {
	spec, err := f.pattern.spec(f.order.text, f.width)
	if err != nil {
		return err
	}
	if c.given("width") && f.width <= 0 {
		return fmt.Errorf("--width %d: want a positive number of bytes", f.width)
	}
	if spec.Op == access.Chase {
		return errors.New("--op chase is no nest of loops, which is what sim takes: run simulates it beside the times")
	}
	if err := atLeast("passes", f.passes, 1); err != nil {
		return err
	}
	if err := atLeast("cores", f.cores, 1); err != nil {
		return err
	}
	if f.exact != "auto" && f.exact != "brute" {
		return fmt.Errorf("--exact %s: want auto or brute", f.exact)
	}
	if spec.Kernel, err = access.ParseKernel(f.kernel.text); err != nil {
		return fmt.Errorf("--kernel %s: %w", f.kernel.text, err)
	}
	p, err := lower(spec)
	if err != nil {
		return err
	}
	m, err := f.hierarchy.machine(c, &f.geometry)
	if err != nil {
		return err
	}
	m.Config.Brute, m.Config.Cores = f.exact == "brute", f.cores
	h, err := simcache.NewHierarchy(m.Config)
	if err != nil {
		return err
	}
	curve, err := f.curve.start(c, m.Config)
	if err != nil {
		return err
	}
	if err := curve.Passes(f.passes, p.Nests); err != nil {
		return err
	}
	counts, err := h.RunPasses(f.passes, p.Nests...)
	if err != nil {
		return err
	}
	lines := simcache.ByTensor(p.Nests, counts)
	if err := f.writeOut(m.Config, lines); err != nil {
		return err
	}
	run := explain.RunOf(h, m.Config, lines, p.Nests, f.passes)
	if f.asJSON {
		return writeJSON(c.out, struct {
			explain.PatternJSON
			Curve *reuse.Table `json:"curve,omitempty"`
		}{run.Pattern(m.Name, f.hierarchy.explain), curve.Table()})
	}
	return f.print(c.out, run, simcache.Counts.DataSummary, curve)
}

// replay counts a trace as Cachegrind counts the program that it is of.
func (f *simFlags) replay(c call) error {
	input := c.in
	if f.trace != "-" {
		file, err := os.Open(f.trace)
		if err != nil {
			return fmt.Errorf("--trace: %w", err)
		}
		defer file.Close()
		input = file
	}
	m, err := f.hierarchy.machine(c, &f.geometry)
	if err != nil {
		return err
	}
	m.Config.ZeroTags = true
	if m.Config.Check() != nil { // it is for Cachegrind's kind of levels
		m.Config.ZeroTags = false
	}
	h, err := simcache.NewHierarchy(m.Config)
	if err != nil {
		return err
	}
	curve, err := f.curve.start(c, m.Config)
	if err != nil {
		return err
	}
	if err := trace.Feed(h, m.Config, curve.Watch(trace.Records(input, f.trace))); err != nil {
		return fmt.Errorf("--trace: %w", err)
	}
	lines := []simcache.Line{{Function: f.trace, Counts: h.Counts()}}
	if err := f.writeOut(m.Config, lines); err != nil {
		return err
	}
	run := explain.RunOf(h, m.Config, lines, nil, 1)
	if f.asJSON {
		return writeJSON(c.out, struct {
			explain.TraceJSON
			Curve *reuse.Table `json:"curve,omitempty"`
		}{run.Trace(m.Name, f.hierarchy.explain), curve.Table()})
	}
	return f.print(c.out, run, simcache.Counts.Summary, curve)
}

// writeOut writes the file for cg_annotate, if one is wanted.
func (f *simFlags) writeOut(c simcache.Config, lines []simcache.Line) error {
	if f.out == "" {
		return nil
	}
	var b bytes.Buffer
	if err := simcache.WriteOut(&b, c, strings.Join(os.Args, " "), lines...); err != nil {
		return err
	}
	return writeFile("cachegrind-out", f.out, b.Bytes())
}

// print writes the summary, and unless that says it all, the tables, and the curve.
func (f *simFlags) print(w io.Writer, run explain.Run, summary func(simcache.Counts) string, curve *reuse.Meter) error {
	if err := run.Write(w, summary, !f.hierarchy.plain(), f.hierarchy.explain); err != nil {
		return err
	}
	return curve.Table().Write(w)
}

// curveFlags are the flags of a miss-ratio curve.
type curveFlags struct {
	on   bool
	sets int
}

func (c *curveFlags) add(flags *pflag.FlagSet) {
	flags.BoolVar(&c.on, "curve", false, "print the misses of LRU caches of every capacity too")
	flags.IntVar(&c.sets, "curve-sets", 1, "sets of these caches, of every associativity; with 1 they are fully associative")
}

// start returns the curve that the flags ask for, of lines as D1 has them.
func (f *curveFlags) start(c call, config simcache.Config) (*reuse.Meter, error) {
	if !f.on {
		if c.given("curve-sets") {
			return nil, fmt.Errorf("--curve-sets %d goes with --curve", f.sets)
		}
		return nil, nil
	}
	meter, err := reuse.NewMeter(config, f.sets)
	if err != nil {
		return nil, fmt.Errorf("--curve-sets %d: %w", f.sets, err)
	}
	return meter, nil
}
