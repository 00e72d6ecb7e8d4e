package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/kernel"
	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/explain"
	"github.com/stridebench/stridebench/simcache/reuse"
	"github.com/stridebench/stridebench/simcache/trace"
)

func newSim() *cobra.Command {
	var f simFlags
	cmd := &cobra.Command{
		Use:   "sim {--shape SHAPE | --trace FILE}",
		Short: "Simulate the cache misses of one access pattern, or of a trace",
		Long: `sim walks one access pattern through a D1 and a last-level cache that start
cold, and prints what Cachegrind would count. No tensor is allocated and no
clock is read, so shapes may be larger than memory.

Tensors lie one after the other, each on the next multiple of 4096 B, the first
at 0x100000000; the buffers of a kernel lie behind them. With --tile, all whole
tiles are walked first, in the order of --order, then what is left at the end of
each dim. With --kernel, what that kernel touches is walked, in an order and in
widths of its own, whatever this CPU runs.

With --trace, a program's memory trace is replayed instead, and the summary is
Cachegrind's of the same program, to the last count.

` + curveHelp + `

` + hierarchyHelp + `

View operations: ` + strings.Join(layouts.ViewOps(), ", ") + `.`,
		Example: `  # by rows and by columns, as in the articles
  bench sim --shape 4000x4000 --dtype int32 --width 16 --passes 10 --order row
  bench sim --shape 4000x4000 --dtype int32 --width 16 --passes 10 --order col

  # a transposed copy in tiles, on a machine with a 36 MiB last level
  bench sim --shape 4096x4096 --view 'transpose(0,1)' --op copy --tile 32x32 --LL 37748736,18,64

  # what the vector kernels touch for it, buffers and all, whatever this CPU runs
  bench sim --shape 1024x1024 --view 'transpose(0,1)' --op copy --kernel avx2

  # a row broadcast over a matrix
  bench sim --shape 4000x4000 --op add --with 1x4000

  # a program's own accesses, as Cachegrind would count them
  valgrind --tool=lackey --trace-mem=yes --log-file=my.trace ./program
  bench sim --trace my.trace --I1 32768,8,64 --D1 32768,8,64 --LL 8388608,16,64

` + curveExample + `

` + hierarchyExample + `

  # what is touched, loop by loop
  bench sim --shape 32x64x56x56 --view 'permute(0,2,3,1)' --op copy --json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c := callOf(cmd)
			if f.hierarchy.preset == "list" {
				return writePresets(c.out)
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
	flags.StringVar(&f.order, "order", "row", orderUsage)
	flags.StringVar(&f.kernel, "kernel", "scalar", kernelUsage+kernel.Names(kernel.All()))
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
	order, kernel string
	width, passes int
	exact         string
	cores         int
	trace, out    string
	asJSON        bool
}

// simulatePattern counts passes over a pattern from cold caches.
func (f *simFlags) simulatePattern(c call) error {
	spec, err := f.pattern.spec(f.order, f.width)
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
	if spec.Kernel, err = access.ParseKernel(f.kernel); err != nil {
		return fmt.Errorf("--kernel %s: %w", f.kernel, err)
	}
	p, err := lower(spec)
	if err != nil {
		return err
	}
	sim, err := f.hierarchy.simulation(c, &f.geometry)
	if err != nil {
		return err
	}
	sim.config.Brute, sim.config.Cores = f.exact == "brute", f.cores
	h, err := simcache.NewHierarchy(sim.config)
	if err != nil {
		return err
	}
	curve, err := f.curve.start(c, sim.config)
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
	if err := f.writeOut(sim.config, lines); err != nil {
		return err
	}
	run := explain.RunOf(h, sim.config, lines, p.Nests, f.passes)
	if f.asJSON {
		visited, proved := h.Work()
		return writeJSON(c.out, struct {
			Counts   simcache.Counts            `json:"counts"`
			Visited  uint64                     `json:"visited"` // accesses looked up, in the caches and once more in the TLB
			Proved   uint64                     `json:"proved"`  // accesses proved to hit or miss like others, in both
			Geometry map[string]explain.Setting `json:"geometry"`
			Passes   int                        `json:"passes"`
			explain.JSON
			Nests []explain.Nest `json:"nests"`
			Curve *reuse.Table   `json:"curve,omitempty"`
		}{h.Counts(), visited, proved, explain.Settings(sim.config, false), f.passes, sim.json(run), explain.Nests(p.Nests), curve.Table()})
	}
	return sim.print(c.out, run, h.Counts(), simcache.Counts.DataSummary, curve)
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
	sim, err := f.hierarchy.simulation(c, &f.geometry)
	if err != nil {
		return err
	}
	sim.config.ZeroTags = true
	if sim.config.Check() != nil { // it is for Cachegrind's kind of levels
		sim.config.ZeroTags = false
	}
	h, err := simcache.NewHierarchy(sim.config)
	if err != nil {
		return err
	}
	curve, err := f.curve.start(c, sim.config)
	if err != nil {
		return err
	}
	if err := trace.Feed(h, sim.config, curve.Watch(trace.Records(input, f.trace))); err != nil {
		return fmt.Errorf("--trace: %w", err)
	}
	lines := []simcache.Line{{Function: f.trace, Counts: h.Counts()}}
	if err := f.writeOut(sim.config, lines); err != nil {
		return err
	}
	run := explain.RunOf(h, sim.config, lines, nil, 1)
	if f.asJSON {
		return writeJSON(c.out, struct {
			Counts   simcache.Counts            `json:"counts"`
			Geometry map[string]explain.Setting `json:"geometry"`
			explain.JSON
			Curve *reuse.Table `json:"curve,omitempty"`
		}{h.Counts(), explain.Settings(sim.config, true), sim.json(run), curve.Table()})
	}
	return sim.print(c.out, run, h.Counts(), simcache.Counts.Summary, curve)
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

func (s *simulation) explanation(run explain.Run) []string {
	if !s.explain {
		return nil
	}
	return run.Text()
}

func (s *simulation) json(run explain.Run) explain.JSON {
	return run.JSON(s.machine, s.explanation(run))
}

// print writes the summary, and unless that says it all, the tables, and the curve.
func (s *simulation) print(w io.Writer, run explain.Run, counts simcache.Counts, summary func(simcache.Counts) string, curve *reuse.Beside) error {
	if len(run.Levels) != 2 {
		summary = simcache.Counts.EndsSummary
	}
	if _, err := io.WriteString(w, summary(counts)); err != nil {
		return err
	}
	if !s.plain {
		for _, table := range run.Tables() {
			if err := printTable(w, table); err != nil {
				return err
			}
		}
		for _, paragraph := range s.explanation(run) {
			if _, err := fmt.Fprintf(w, "\n%s\n", wrap(paragraph, 80)); err != nil {
				return err
			}
		}
	}
	return curve.Table().Write(w)
}
