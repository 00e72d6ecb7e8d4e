package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/pflag"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/cost"
	"github.com/stridebench/stridebench/access/probe"
	"github.com/stridebench/stridebench/access/session"
	"github.com/stridebench/stridebench/access/session/progress"
	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/results/noise"
	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/cpu"
	"github.com/stridebench/stridebench/simcache/machines"
	kept "github.com/stridebench/stridebench/simcache/machines/strict"
)

func files() probe.Files {
	dir, err := os.UserCacheDir()
	return probe.Files{Saved: filepath.Join(dir, "stridebench", "measured.yaml"), Err: err,
		Read: readOnce}
}

// piped keeps texts that can be read once, such as <(bench machine --preset NAME).
var piped = map[string][]byte{}

// readOnce reads a suite, or a description, which is needed twice: for its caches and its times.
func readOnce(path string) (text []byte, err error) {
	if text, is := piped[path]; is {
		return text, nil
	}
	if path == "-" {
		text, err = kept.TextOf(os.Stdin)
	} else {
		text, err = kept.ReadText(path)
	}
	if err == nil && (path == "-" || kept.Regular(path) != nil) {
		piped[path] = text
	}
	return text, err
}

// kernelsFile returns where calibrations of the kernels are kept; "" means nowhere.
func kernelsFile() string { return besideSaved("kernels.yaml") }

func besideSaved(name string) string {
	if f := files(); f.Err == nil {
		return filepath.Join(filepath.Dir(f.Saved), name)
	}
	return ""
}

func (f *runFlags) tune(ctx context.Context, c call, s *session.Session) error {
	f.tuner.File = kernelsFile()
	warning, err := s.Tune(ctx, f.tuner)
	if warning != "" {
		c.warn("%s", warning)
	}
	return err
}

// host is the CPU that threads are pinned to first.
func host(pinned ...int) probe.Host {
	return probe.Host{CPU: session.ThisMachine(pinned...).CPU, Caches: cpu.Caches(pinned...)}
}

// warnOther warns if file is the saved machine and that is another CPU.
func warnOther(c call, flag, file string, pinned ...int) error {
	if file != probe.SavedName {
		return nil
	}
	m, err := files().Machine(file)
	if why := m.Other(host(pinned...)); err == nil && why != "" {
		c.warn("%s: %s: measure it with 'bench machine --measure'", flag, why)
	}
	return err
}

type modelFlags struct {
	geometry       geometryFlags
	pages          parsed[access.Pages]
	preset, caches string
	threads        parsed[int]
}

func (f *modelFlags) add(flags *pflag.FlagSet) {
	f.geometry.add(flags)
	flags.StringVar(&f.caches, "caches", "", "predict for the caches of a YAML `file`, or "+
		"measured; with its TLB, and its times if it was measured; measured is the result of "+
		"'bench machine --measure', - is stdin")
	f.threads = parsed[int]{parse: parseCount, kind: "number"}
	flags.Var(&f.threads, "threads", "predict for threads that share each walk; a number, cut as "+
		"bench run --threads does, or all: one for each CPU here")
	flags.StringVar(&f.preset, "preset", "", "predict for a real machine's caches, by a `name` "+
		"from --preset list")
	f.pages = parsed[access.Pages]{parse: access.ParsePages, kind: "pages",
		text: access.PagesSmall.String()}
	flags.Var(&f.pages, "pages", "pages of the tensors' memory: 4k (16k or 64k where the "+
		"system's are), thp or hugetlb")
}

// parseCount parses one number of threads; 0 means all.
func parseCount(text string) (int, error) {
	counts, err := parseThreads(text)
	if err != nil || len(counts) > 1 {
		return 0, errors.New("want one number from 1 on, or all")
	}
	return counts[0], nil
}

func (f *modelFlags) model(c call) (cost.Model, error) {
	m, err := f.machine(c)
	if !f.threads.set || err != nil {
		return m, err
	}
	cpus := len(cpu.Workers())
	m.Threads = cmp.Or(f.threads.value, cpus)
	if here := f.preset == "" && f.caches == "" && !f.geometry.set(); here && m.Threads > cpus {
		c.warn("--threads %d: this process has %s, and the prediction is for a core for each thread", m.Threads, counted(cpus, "CPU"))
	}
	return m, err
}

func (f *modelFlags) machine(c call) (cost.Model, error) {
	session.Tuner{File: kernelsFile()}.Load()
	if f.preset == "" {
		if err := warnOther(c, "--caches", f.caches); err != nil {
			return cost.Model{}, err
		}
		if f.caches == "" {
			f.geometry.noteApart(c)
		}
		return costModel(f.caches, &f.geometry, cpu.TLB(f.pages.value.Size()))
	}
	if f.caches != "" || f.geometry.set() {
		return cost.Model{}, errors.New("--preset names all caches: leave --caches, --I1, --D1 " +
			"and --LL out")
	}
	m, err := machines.Preset(f.preset)
	if err != nil {
		return cost.Model{}, fmt.Errorf("--preset: %w", err)
	}
	times := cost.Generic(fmt.Sprintf("preset %s has no measured times; kernels are this CPU's",
		f.preset))
	return cost.Model{Times: times, Caches: m.Config}, nil
}

func costModel(file string, geometry *geometryFlags, tlb []simcache.TLB,
	pinned ...int) (cost.Model, error) {
	if file != "" && geometry.set() {
		return cost.Model{}, errors.New("--caches names all caches: leave --I1, --D1 and --LL out")
	}
	this := host(pinned...)
	m, err := cost.ModelOf(files(), file, this,
		cpu.Between(geometry.config(this.Caches), this.Caches), geometry.set(), tlb)
	if err != nil && file != "" {
		err = fmt.Errorf("--caches: %w%s", err, kindHint(file))
	}
	return m, err
}

type measureFlags struct {
	on      bool
	out     string
	maxSize parsed[int]
	budget  time.Duration
	loaded  bool
	results string
}

func (f *measureFlags) add(flags *pflag.FlagSet) {
	f.maxSize = parsed[int]{parse: simcache.ParseBytes, kind: "size"}
	flags.BoolVar(&f.on, "measure", false, "measure the caches, memory and TLB; save the result")
	flags.StringVarP(&f.out, "out", "o", "", "`file` to save it in, instead of where "+
		"--caches=measured looks")
	flags.Var(&f.maxSize, "max-size", "largest working set of the ladder, such as 256MiB "+
		"(memory's bandwidth is measured on twice as much); default: twice the last level that "+
		"the machine states, at most 256MiB and a quarter of the available memory")
	flags.BoolVar(&f.loaded, "loaded", false,
		"measure the latency of memory under load too: one thread chases pointers while the "+
			"others stream at a stepped rate")
	flags.StringVar(&f.results, "results", "",
		"`file` for the samples of --loaded as results, which bench report draws")
	flags.DurationVar(&f.budget, "measure-time", 20*time.Second,
		"about how long to measure, if the ladder does not take longer; shorter is less steady")
}

func (f *measureFlags) check(c call) error {
	for _, name := range []string{"out", "max-size", "measure-time", "loaded", "results"} {
		if c.given(name) && !f.on {
			return fmt.Errorf("--%s goes with --measure, which is missing", name)
		}
	}
	if f.results != "" && !f.loaded {
		return errors.New("--results goes with --loaded, which is missing")
	}
	if n := len(cpu.Workers()); f.loaded && n < 2 {
		return errors.New("--loaded wants two CPUs, one to chase and one to stream: this process " +
			"may run on one")
	}
	if f.maxSize.set && (f.maxSize.value < probe.MinSize || f.maxSize.value > probe.MaxSize) {
		return fmt.Errorf("--max-size %s: want at least %s and at most %s", f.maxSize.text,
			machines.Size(probe.MinSize), machines.Size(probe.MaxSize))
	}
	if f.budget <= 0 || f.budget > time.Hour {
		return fmt.Errorf("--measure-time %v: want more than 0 and at most 1h", f.budget)
	}
	return nil
}

// result measures this machine or returns its saved measurements. It returns nil if there are none.
func (f *measureFlags) result(ctx context.Context, c call,
	caches []cpu.Cache) (*probe.Report, error) {
	if !f.on {
		m, found, err := files().Own(host())
		if err != nil || !found {
			return nil, err
		}
		return probe.ReportOf(m, files().Saved, m.Warnings(caches, probe.SavedName)), nil
	}
	defer watch(ctx, "this pass")()
	before := results.Now()
	m, file, err := f.measure(ctx, c, caches)
	if err != nil {
		return nil, err
	}
	warnings := m.Warnings(caches, cmp.Or(f.out, probe.SavedName))
	if a, known := before.Until(results.Now()); known && a.Others > noise.MinOthers {
		warnings = append(warnings, fmt.Sprintf(
			"Other programs kept %.1f of %s busy: measure again when the machine is quiet.",
			a.Others, counted(a.CPUs, "CPU")))
	}
	return probe.ReportOf(m, file, warnings), nil
}

func (f *measureFlags) measure(ctx context.Context, c call, caches []cpu.Cache) (m probe.Machine,
	file string, err error) {
	if file = f.out; file == "" {
		if file = files().Saved; files().Err != nil {
			return m, "", fmt.Errorf("where to save the machine is unknown, name a file with "+
				"--out: %w", files().Err)
		}
		if err := kept.Regular(file); err != nil {
			return m, "", fmt.Errorf("where the machine is saved: %w (remove it, or name a file "+
				"with --out)", err)
		}
	}
	saved, err := createFile("out", file) // fails before the measuring
	if err != nil && f.out == "" {
		return m, "", fmt.Errorf("where the machine is saved unless --out names a file: %w",
			errors.Unwrap(err))
	}
	if err != nil {
		return m, "", err
	}
	defer saved.Discard()
	session.Tuner{File: kernelsFile()}.Load()
	machine := session.ThisMachine()
	o := probe.Options{CPU: machine.CPU, Caches: caches, TLB: cpu.TLB(probe.PageSize()),
		MaxSize: f.maxSize.value, MaxMemory: machine.Available, Budget: f.budget,
		Workers: cpu.Workers(), Nodes: cpu.Nodes(), Loaded: f.loaded}
	meter := progress.New(c.err)
	defer meter.End()
	meter.Timed("measuring this machine", 100)
	shown := 0
	o.Progress = func(done float64) {
		for ; shown < int(100*done); shown++ {
			meter.Step(1)
		}
	}
	m, err = probe.Measure(ctx, o)
	if errors.Is(err, context.Canceled) {
		return m, "", stopped(ctx, "nothing is saved")
	}
	if err != nil {
		return m, "", err
	}
	if err := m.Write(saved); err != nil {
		return m, "", err
	}
	return m, file, errors.Join(saved.Commit(), f.writeLoads(m))
}

func (f *measureFlags) writeLoads(m probe.Machine) error {
	if f.results == "" {
		return nil
	}
	file, err := createFile("results", f.results)
	if err != nil {
		return err
	}
	defer file.Discard()
	if err := session.WriteLoads(file, m, thisProgram()); err != nil {
		return err
	}
	return file.Commit()
}
