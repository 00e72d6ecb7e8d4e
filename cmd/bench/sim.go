package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/csource"
	"github.com/stridebench/stridebench/access/given"
	"github.com/stridebench/stridebench/access/mtx"
	"github.com/stridebench/stridebench/access/session"
	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/results/outfile"
	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/explain"
	"github.com/stridebench/stridebench/simcache/machines"
	"github.com/stridebench/stridebench/simcache/reuse"
	"github.com/stridebench/stridebench/simcache/trace"
)

func newSim() *cobra.Command {
	var f simFlags
	cmd := verb("sim {--shape SHAPE | --program FILE.c | --exec FILE | --trace FILE | "+
		"--matrix FILE}", "Simulate the cache misses of a pattern, a program, or a trace",
		f.look.arguments, f.simulate)
	cmd.SuggestFor = []string{"simulate"}
	flags := cmd.Flags()
	f.pattern.add(flags, 1)
	f.pattern.order.most = mostMaps
	flags.IntVar(&f.width, "width", 0, "")
	flags.IntVar(&f.passes, "passes", 1, "")
	f.program.add(flags)
	f.exec.add(flags, &f.pattern)
	flags.StringVar(&f.trace, "trace", "", "")
	flags.StringVar(&f.matrix, "matrix", "", "")
	f.geometry.add(flags)
	f.hierarchy.add(flags)
	flags.BoolVar(&f.curve, "curve", false, "")
	flags.IntVar(&f.curveSets, "curve-sets", 1, "")
	f.look.add(flags)
	f.exact = oneOf("how", "auto", "brute", "affine")
	flags.Var(&f.exact, "exact", "")
	flags.IntVar(&f.threads, "threads", 1, "")
	flags.IntVar(&f.grain, "grain", access.GrainSize, "")
	flags.IntVar(&f.cores, "cores", 1, "")
	flags.BoolVar(&f.asJSON, "json", false, "")
	flags.StringVarP(&f.results, "out", "o", "", "")
	flags.StringVar(&f.out, "cachegrind-out", "", "")
	return cmd
}

type simFlags struct {
	pattern       patternFlags
	program       programFlags
	exec          execFlags
	geometry      geometryFlags
	hierarchy     hierarchyFlags
	look          lookFlags
	width, passes int
	exact         parsed[string]
	cores         int
	threads       int
	grain         int
	curve         bool
	curveSets     int
	trace, out    string
	results       string
	matrix        string
	asJSON        bool
}

func (f *simFlags) simulate(c call, _ []string) error {
	const walk = "shape view pad op with tile order kernel width threads grain cores "
	const source, looks = "define include align ", "map steps "
	if err := cmp.Or(f.look.check(c, f.pattern.order.texts), f.exec.check(c),
		exclude(c, "exec", walk+source+looks+"dtype exact passes trace matrix program"),
		exclude(c, "program", walk+"dtype from to trace matrix"),
		exclude(c, "trace", walk+source+looks+"dtype from to function passes exact matrix"),
		exclude(c, "matrix", walk+source+looks+"from to function exact"),
		exclude(c, "shape", source+"function"),
		needs(c, "curve", "curve-sets"), needs(c, "threads", "grain"),
		positive("passes", f.passes), positive("cores", f.cores), positive("threads", f.threads),
		positive("grain", f.grain)); err != nil {
		return err
	}
	run := f.simulatePattern
	switch {
	case f.exec.path != "":
		run = f.simulateExec
	case f.program.file != "":
		run = f.simulateProgram
	case f.trace != "" || f.matrix != "":
		run = f.replay
	case !f.pattern.shape.set:
		return errors.New("nothing to simulate: want --shape 4000x4000, --program loops.c, " +
			"--exec a.out, --matrix matrix.mtx or --trace my.trace (see bench sim --help)")
	case f.results != "":
		return errors.New("--out is for --program, --trace and --matrix: for a pattern, bench " +
			"run --count 1 -o FILE writes counts and times, and bench sweep writes counts alone")
	}
	m, err := f.hierarchy.machine(c, &f.geometry)
	if err != nil {
		return err
	}
	m.Config.Brute, m.Config.Cores = f.exact.value == "brute", f.cores
	return run(c, m)
}

func (f *simFlags) simulatePattern(c call, m machines.Machine) error {
	spec, err := f.pattern.spec()
	if err != nil {
		return err
	}
	if spec.Op == access.Chase {
		return errors.New("--op chase is not a nest of loops: bench run simulates it and times it")
	}
	if spec.Width = f.width; f.threads > 1 {
		spec.Threads, spec.Grain = f.threads, f.grain
		err = exclude(c, "threads", "cores curve observe explain writebacks tlb")
	}
	if err != nil {
		return err
	}
	p, err := spec.Pattern()
	if err == nil {
		err = m.Config.CheckPasses(f.passes, nest.Sequence(p.Nests...))
	}
	if err != nil {
		return atFlag(err)
	}
	if p.Parts() != nil {
		return f.simulateThreads(c, m, p)
	}
	if f.threads > 1 {
		c.note("--threads %d: one thread walks all of it: PyTorch does not split copies by "+
			"blocks, %d elements or fewer (--grain), or tensors that all threads would write",
			f.threads, f.grain)
	}
	if f.look.wanted() {
		return f.lookAtPattern(c, m.Config, spec)
	}
	h, curve, err := f.start(m.Config)
	if err != nil {
		return err
	}
	effort := curve.Effort(f.passes, nest.Sequence(p.Nests...))
	if effort.Check() == nil || m.Config.Brute { // else the curve is refused
		effort = effort.And(h.Effort(f.passes, p.Nests...))
	}
	if err := f.announce(c, f.pattern.shape.text, effort); err != nil {
		return err
	}
	if err := curve.Passes(f.passes, nest.Sequence(p.Nests...)); err != nil {
		return err
	}
	counts, err := h.Run(f.passes, p.Nests...)
	if err != nil {
		return err
	}
	run := explain.RunOf(h, m.Config, explain.ByTensor(p.Nests, counts), p.Nests, f.passes)
	run.Curve = curve.Table()
	run.Arrays, run.Align = p.Arrays(false)
	return f.show(c, run, m.Name)
}

// start returns what simulates, and a curve or nil. The curve's lines have D1's size.
func (f *simFlags) start(config simcache.Config) (h *simcache.Hierarchy, curve *reuse.Meter,
	err error) {
	if h, err = simcache.NewHierarchy(config); err == nil && f.curve {
		if curve, err = reuse.NewMeter(config, f.curveSets); err != nil {
			err = fmt.Errorf("--curve-sets %d: %w", f.curveSets, err)
		}
	}
	return h, curve, err
}

// announce begins a simulation. It notes look-ups that take long, and refuses too many unless
// --exact brute is given.
func (f *simFlags) announce(c call, what string, effort simcache.Effort) error {
	if err := effort.Check(); err != nil && f.exact.value != "brute" {
		return fmt.Errorf("%w, or --exact brute", err)
	}
	if effort.Time > 5*time.Second {
		c.note("%v", effort)
	}
	c.meter.Phase("simulating "+what, 0)
	return nil
}

// replay counts a trace as Cachegrind counts its program, or the accesses of a matrix product.
func (f *simFlags) replay(c call, m machines.Machine) error {
	name := cmp.Or(f.matrix, f.trace)
	input, err := c.open(name)
	if err != nil {
		return err
	}
	defer input.Close()
	reader := c.meter.Reading("simulating "+name, input)
	records, regions := trace.Records(reader, name), []trace.Region{{Name: name}}
	if f.matrix != "" {
		p, err := mtx.ReadProduct(reader, name, f.pattern.dtype.or(layouts.Float32))
		if err != nil {
			return err
		}
		effort := p.Effort(f.passes, m.Config.Observe != "")
		if err := cmp.Or(effort.Check(), f.announce(c, name, effort)); err != nil {
			return fmt.Errorf("--passes %d: %w", f.passes, err)
		}
		records, regions = p.Records(f.passes), p.Regions()
	}
	m.Config.ZeroTags = true
	m.Config.ZeroTags = m.Config.Check() == nil // it needs Cachegrind's levels
	h, curve, err := f.start(m.Config)
	if err != nil {
		return err
	}
	counts, err := trace.Feed(h, m.Config, curve.Watch(records), regions...)
	if err != nil {
		return err
	}
	var lines []explain.Line
	for i, r := range regions {
		lines = append(lines, explain.Line{Function: r.Name, Counts: counts[i]})
	}
	run := explain.RunOf(h, m.Config, lines, nil, f.passes)
	if run.Counts == (simcache.Counts{}) {
		return fmt.Errorf("%s has no accesses in it", name)
	}
	run.Curve = curve.Table()
	return f.show(c, run, m.Name)
}

// mostTried is the most references of all tried changes, which take about 5 s.
const mostTried = 3e8

// show writes the wanted files, and prints JSON, or the summary and, unless that is complete, the
// tables.
func (f *simFlags) show(c call, run explain.Run, machine string) error {
	if run.Counts == (simcache.Counts{}) {
		c.note("no element of a tensor or an array is accessed")
	}
	if f.hierarchy.explain {
		c.meter.Phase("trying what would help", 0)
		run.Improve(mostTried)
	}
	if f.out != "" {
		var b bytes.Buffer
		if err := explain.WriteOut(&b, run.Config, strings.Join(os.Args, " "),
			run.Lines()...); err != nil {
			return err
		}
		if err := outfile.WriteFile(f.out, b.Bytes()); err != nil {
			return err
		}
	}
	if f.results != "" {
		text, err := f.record(run).Results()
		if err == nil {
			err = outfile.WriteFile(f.results, text)
		}
		if err != nil {
			return err
		}
	}
	if f.asJSON {
		return writeJSON(c.out, run.JSON(machine, f.hierarchy.explain))
	}
	if !f.hierarchy.explain { // it begins with what would help, and has a table of the caches
		if err := c.print(explain.Heading(run.Config, f.trace != "")); err != nil {
			return err
		}
	}
	tables := c.any("preset config observe writebacks tlb explain matrix")
	return run.Write(c.out, f.trace != "", tables, f.hierarchy.explain, columns(c.out))
}

func (f *simFlags) simulateThreads(c call, m machines.Machine, p access.Pattern) error {
	if m.Config.TLB != nil {
		c.note("--threads %d: the TLB is left out, which is of one thread", f.threads)
		m.Config.TLB = nil
	}
	var threads [][]nest.Nest
	for _, part := range p.Parts() {
		threads = append(threads, part.Nests)
	}
	h, err := simcache.NewThreads(m.Config, threads)
	if err != nil {
		return fmt.Errorf("--threads %d: %w", f.threads, err)
	}
	if err := f.announce(c, f.pattern.shape.text, h.Effort(f.passes)); err != nil {
		return err
	}
	counts, err := h.Run(f.passes)
	if err != nil {
		return atFlag(err)
	}
	nests := slices.Concat(threads...)
	return f.show(c, explain.RunOf(h, m.Config, explain.ByTensor(nests, counts), nests, f.passes),
		m.Name)
}

// record names a simulation by the flags that determine its counts.
func (f *simFlags) record(run explain.Run) session.Simulated {
	s := session.Simulated{Family: "Program", Config: run.Config, Counts: run.Counts,
		Arrays: run.Tensors, Program: thisProgram()}
	if n := len(run.TLB); n > 0 {
		s.Walks = run.TLB[n-1].Misses()
	}
	file := f.program.file
	switch {
	case f.trace != "":
		s.Family, file, s.Arrays = "Trace", f.trace, nil // a trace does not name arrays
	case f.matrix != "":
		s.Family, file = "Matrix", f.matrix
	case f.exec.path != "":
		file = f.exec.path
	}
	add := func(key, value string) {
		if value != "" {
			s.Parts = append(s.Parts, results.Pair{Key: key, Value: value})
		}
	}
	add("file", filepath.Base(file))
	add("function", f.program.Function)
	add("cc", f.exec.cc.text)
	add("args", f.exec.args.text)
	if f.exec.from+f.exec.to > 0 {
		add("calls", fmt.Sprintf("%d-%d", f.exec.from, f.exec.to))
	}
	// Any order of the flags gives one name.
	for _, d := range slices.Sorted(slices.Values(f.program.Defines)) {
		add(given.Split(d))
	}
	if f.program.file != "" && f.program.Align != csource.DefaultAlign {
		add("align", strconv.Itoa(f.program.Align))
	}
	if f.matrix != "" {
		add("dtype", f.pattern.dtype.or(layouts.Float32).String())
	}
	if f.passes > 1 {
		add("passes", strconv.Itoa(f.passes))
	}
	return s
}
