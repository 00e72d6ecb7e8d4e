package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/mtx"
	"github.com/stridebench/stridebench/access/session/progress"
	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/explain"
	"github.com/stridebench/stridebench/simcache/machines"
	"github.com/stridebench/stridebench/simcache/reuse"
	"github.com/stridebench/stridebench/simcache/trace"
)

func newSim() *cobra.Command {
	var f simFlags
	cmd := &cobra.Command{
		Use:   "sim {--shape SHAPE | --program FILE.c | --exec FILE | --trace FILE | --matrix FILE}",
		Short: "Simulate the cache misses of a pattern, a program, or a trace",
		Args:  f.look.arguments, SuggestFor: []string{"simulate"},
		RunE: func(cmd *cobra.Command, _ []string) error {
			c := callOf(cmd)
			if f.hierarchy.preset == "list" {
				return writeTables(c.out, machines.WriteList)
			}
			return f.simulate(c)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	f.pattern.add(flags, 1, nests)
	f.pattern.order.most = mostMaps
	flags.IntVar(&f.width, "width", 0, "bytes of one access; default the element, or the parts "+
		"of a complex one; a wider one covers its neighbours along the storage's last dimension "+
		"and steps over them")
	flags.IntVar(&f.passes, "passes", 1, "walks over the whole pattern")
	f.program.add(flags)
	f.exec.add(flags)
	flags.StringVar(&f.trace, "trace", "", "replay a memory trace of a `file` instead; of lackey "+
		"or din, plain or gzipped, - for stdin")
	flags.StringVar(&f.matrix, "matrix", "", "simulate a sparse matrix, of a Matrix Market "+
		"`file`, times a vector; in CSR, of --dtype, - for stdin")
	f.geometry.add(flags)
	f.hierarchy.add(flags)
	f.curve.add(flags)
	f.look.add(flags)
	f.exact = oneOf("how", "auto", "brute", "affine")
	flags.Var(&f.exact, "exact", "auto, brute or affine: auto skips look-ups whose outcome it "+
		"can prove; brute looks up every access; the counts are the same; affine refuses a C "+
		"function that would have to be compiled and run")
	flags.IntVar(&f.threads, "threads", 1, "threads that share the pattern; each walks a part on "+
		"a core with its own first level")
	flags.IntVar(&f.grain, "grain", access.GrainSize,
		"with --threads, the fewest elements for which another thread is used")
	flags.IntVar(&f.cores, "cores", 1, "cores that look accesses up, each for some of the sets; "+
		"the counts are the same")
	flags.BoolVar(&f.asJSON, "json", false, "print as JSON; counts, geometry, loops, and what "+
		"was looked up or proved")
	flags.StringVarP(&f.results, "out", "o", "",
		"`file` for the counts by array or object, for 'bench check'")
	flags.StringVar(&f.out, "cachegrind-out", "",
		"`file` for cg_annotate, with a line for each tensor, or for the trace")
	return cmd
}

type simFlags struct {
	pattern       patternFlags
	program       programFlags
	exec          execFlags
	geometry      geometryFlags
	hierarchy     hierarchyFlags
	curve         curveFlags
	look          lookFlags
	width, passes int
	exact         parsed[string]
	cores         int
	threads       int
	grain         int
	trace, out    string
	results       string
	matrix        string
	asJSON        bool
	meter         *progress.Meter
}

func (f *simFlags) simulate(c call) error {
	if f.program.file == "" && f.trace == "" && f.matrix == "" && f.exec.path == "" &&
		!f.pattern.shape.set {
		return errors.New("nothing to simulate: want --shape 4000x4000, --program loops.c, " +
			"--matrix matrix.mtx or --trace my.trace (see bench sim --help)")
	}
	of, run := "shape", f.simulatePattern
	if of := f.program.file + f.trace + f.matrix + f.exec.path; f.results != "" && of == "" {
		return errors.New("--out is for --program, --trace and --matrix: for a pattern, bench " +
			"run --count 1 -o FILE writes counts and times, and bench sweep writes counts alone")
	}
	if _, _, err := f.calls(c); err != nil {
		return err
	}
	shapes := []string{"shape", "pad", "view", "op", "with", "from", "to", "tile", "order",
		"kernel", "width", "threads", "grain", "cores"}
	others := []string{"define", "include", "function", "align"}
	if err := f.look.check(c, f.pattern.order.texts); err != nil {
		return err
	}
	switch {
	case f.exec.path != "":
		of, run = "exec", f.simulateExec
		shapes = slices.DeleteFunc(shapes, func(name string) bool {
			return name == "from" || name == "to"
		})
		others = append(shapes, "dtype", "trace", "matrix", "program", "define", "include", "align",
			"exact", "passes")
		others = append(others, looks...)
	case f.program.file != "":
		of, run, others = "program", f.simulateProgram, append(shapes, "dtype", "trace", "matrix")
	case f.trace != "":
		of, run, others = "trace", f.replay, slices.Concat(shapes, others, looks,
			[]string{"dtype", "passes", "exact", "matrix"})
	case f.matrix != "":
		of, run, others = "matrix", f.replay,
			slices.Concat(shapes, others, looks, []string{"exact"})
	}
	if i := slices.IndexFunc(others, c.given); i >= 0 {
		why := ""
		if of == "program" && (others[i] == "order" || others[i] == "tile") {
			why = ", whose loops run as written: change them in the file and count both"
		}
		return fmt.Errorf("--%s does not go with --%s%s", others[i], of, why)
	}
	defer func() { f.meter.End() }()
	return run(c)
}

func (f *simFlags) simulated(c call) (m machines.Machine, err error) {
	if err := errors.Join(positive("passes", f.passes), positive("cores", f.cores)); err != nil {
		return m, err
	}
	m, err = f.hierarchy.machine(c, &f.geometry)
	m.Config.Brute, m.Config.Cores = f.exact.value == "brute", f.cores
	return m, err
}

func (f *simFlags) simulatePattern(c call) error {
	spec, err := f.pattern.spec()
	if err != nil {
		return err
	}
	spec.Width = f.width
	if err := f.share(c, &spec); err != nil {
		return err
	}
	if c.given("width") && f.width <= 0 {
		return fmt.Errorf("--width %d: want a positive number of bytes", f.width)
	}
	if spec.Op == access.Chase {
		return errors.New("--op chase is not a nest of loops: bench run simulates it and times it")
	}
	p, err := spec.Pattern()
	if err != nil {
		return atFlag(err)
	}
	m, err := f.simulated(c)
	if err != nil {
		return err
	}
	if err := m.Config.CheckPasses(f.passes, p.Nests...); err != nil {
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
	h, curve, err := f.start(c, m.Config)
	if err != nil {
		return err
	}
	efforts := []simcache.Effort{curve.Effort(f.passes, p.Nests)}
	if efforts[0].Check() == nil || f.exact.value == "brute" { // else the curve is refused
		efforts = append(efforts, h.Effort(f.passes, p.Nests...))
	}
	if _, err := f.announce(c, "simulating "+f.pattern.shape.text, efforts...); err != nil {
		return err
	}
	if err := curve.Passes(f.passes, p.Nests); err != nil {
		return err
	}
	counts, err := h.RunPasses(f.passes, p.Nests...)
	if err != nil {
		return err
	}
	if slices.Contains(spec.Shape, 0) {
		c.note("--shape %s has no elements, so nothing is accessed", f.pattern.shape.text)
	}
	run := explain.RunOf(h, m.Config, simcache.ByTensor(p.Nests, counts), p.Nests, f.passes)
	run.Curve = curve.Table()
	run.Arrays, run.Align = p.Arrays(false)
	f.improve(&run)
	return f.show(c, run, simcache.Counts.DataSummary, m.Name)
}

// mostTried is the most references of all tried changes, which take about 5 s.
const mostTried = 5e8

func (f *simFlags) improve(run *explain.Run) {
	if f.hierarchy.explain {
		f.meter.Phase("trying what would help", 0)
		run.Improve(mostTried)
	}
}

func (f *simFlags) start(c call, config simcache.Config) (*simcache.Hierarchy,
	*reuse.Meter, error) {
	if f.out != "" {
		if err := simcache.WriteOut(io.Discard, config, ""); err != nil {
			return nil, nil, fmt.Errorf("--cachegrind-out %s: %w", f.out, err)
		}
	}
	h, err := simcache.NewHierarchy(config)
	if err != nil {
		return nil, nil, err
	}
	curve, err := f.curve.start(c, config)
	return h, curve, err
}

// announce notes look-ups that take long. It refuses too many unless --exact brute is given. A
// terminal then shows the elapsed time; elsewhere the note is enough. It returns the sum of the
// efforts.
func (f *simFlags) announce(
	c call, what string, efforts ...simcache.Effort,
) (all simcache.Effort, err error) {
	for _, e := range efforts {
		all = all.And(e)
	}
	if err := all.Check(); err != nil && f.exact.value != "brute" {
		return all, fmt.Errorf("%w, or --exact brute", err)
	}
	if all.Time > 5*time.Second {
		c.note("%v", all)
		if !progress.Bars(c.err) {
			c.err = io.Discard
		}
	}
	f.meter = progress.New(c.err)
	f.meter.Phase(what, 0)
	return all, nil
}

func (f *simFlags) announceProduct(c call, what string, references int) error {
	effort := simcache.Effort{LookUps: float64(f.passes) * float64(references)}
	each := 6e6 // references a second
	if f.hierarchy.explain || f.hierarchy.observe.set {
		each = 3.5e6
	}
	effort.Time = time.Duration(min(effort.LookUps/each*1e9, 1<<62))
	if err := effort.Check(); err != nil {
		return fmt.Errorf("--passes %d: %w", f.passes, err)
	}
	if effort.Time > 5*time.Second {
		c.note("%v", effort)
	}
	f.meter.Phase(what, 0)
	return nil
}

// replay counts a trace as Cachegrind counts its program, or the accesses of a matrix product.
func (f *simFlags) replay(c call) error {
	which, name := "trace", f.trace
	if f.matrix != "" {
		which, name = "matrix", f.matrix
	}
	if err := positive("passes", f.passes); err != nil {
		return err
	}
	input, err := openInput(c, which, name)
	if err != nil {
		return err
	}
	defer input.Close()
	f.meter = progress.New(c.err)
	reader := f.meter.Reading("simulating "+name, input)
	records, regions, summary := trace.Records(reader, name), []trace.Region{{Name: name}},
		simcache.Counts.Summary
	if f.matrix != "" {
		p, err := mtx.ReadProduct(reader, name, f.pattern.dtype.or(layouts.Float32))
		if err != nil {
			return fmt.Errorf("--%s: %w", which, err)
		}
		if err := f.announceProduct(c, "simulating "+name, p.References()); err != nil {
			return err
		}
		records, regions, summary = p.Records(f.passes), p.Regions(), simcache.Counts.DataSummary
	}
	m, err := f.hierarchy.machine(c, &f.geometry)
	if err != nil {
		return err
	}
	m.Config.ZeroTags = true
	if m.Config.Check() != nil { // ZeroTags needs Cachegrind's levels
		m.Config.ZeroTags = false
	}
	h, curve, err := f.start(c, m.Config)
	if err != nil {
		return err
	}
	lines, err := trace.Feed(h, m.Config, curve.Watch(records), regions...)
	if err != nil {
		return fmt.Errorf("--%s: %w", which, err)
	}
	run := explain.RunOf(h, m.Config, lines, nil, f.passes)
	if run.Counts == (simcache.Counts{}) {
		return fmt.Errorf("--%s: %s has no accesses in it", which, name)
	}
	run.Curve = curve.Table()
	return f.show(c, run, summary, m.Name)
}

// show writes the wanted files, and prints JSON, or the summary and, unless that is complete, the
// tables.
func (f *simFlags) show(c call, run explain.Run, summary func(simcache.Counts) string,
	machine string) error {
	f.meter.End()
	if f.out != "" {
		var b bytes.Buffer
		if err := simcache.WriteOut(&b, run.Config, strings.Join(os.Args, " "),
			run.Lines()...); err != nil {
			return err
		}
		if err := writeFile("cachegrind-out", f.out, b.Bytes()); err != nil {
			return err
		}
	}
	if f.results != "" {
		text, err := f.record(run).Results()
		if err == nil {
			err = writeFile("out", f.results, text)
		}
		if err != nil {
			return err
		}
	}
	if f.asJSON {
		return writeJSON(c.out, run.JSON(machine, f.hierarchy.explain))
	}
	return run.Write(c.out, summary, !f.hierarchy.plain() || f.matrix != "", f.hierarchy.explain,
		columns(c.out))
}

type curveFlags struct {
	on   bool
	sets int
}

func (c *curveFlags) add(flags *pflag.FlagSet) {
	flags.BoolVar(&c.on, "curve", false, "print the misses of LRU caches of every capacity too")
	flags.IntVar(&c.sets, "curve-sets", 1, "sets of these caches, of every associativity; with 1 "+
		"they are fully associative")
}

// start returns the curve that the flags ask for, or nil. Its lines have D1's size.
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
