package main

import (
	"bytes"
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
	"github.com/stridebench/stridebench/access/session/node"
	"github.com/stridebench/stridebench/access/tune"
	"github.com/stridebench/stridebench/results/outfile"
	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/cpu"
	"github.com/stridebench/stridebench/simcache/machines"
	"github.com/stridebench/stridebench/simcache/machines/strict"
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
		text, err = strict.TextOf(os.Stdin)
	} else {
		text, err = strict.ReadText(path)
	}
	if err == nil && (path == "-" || strict.Regular(path) != nil) {
		piped[path] = text
	}
	return text, err
}

// kernelsFile returns the file beside the saved machine that keeps how kernels are tuned; "" means
// nowhere.
func kernelsFile() string {
	if f := files(); f.Err == nil {
		return filepath.Join(filepath.Dir(f.Saved), "kernels.yaml")
	}
	return ""
}

func (f *runFlags) tune(c call, s *session.Session) error {
	f.tuner.File = kernelsFile()
	warning, err := s.Tune(c.ctx, f.tuner)
	if warning != "" {
		c.warn("%s", warning)
	}
	return err
}

// loadKernels tunes the vector kernels, and reports whether an earlier run kept how.
func loadKernels() bool {
	_, kept := tune.Load(kernelsFile(), tune.Identity(node.ThisMachine().CPU, cpu.Caches()))
	return kept
}

// host is the CPU that threads are pinned to first.
func host(pinned ...int) probe.Host {
	return probe.Host{CPU: node.ThisMachine(pinned...).CPU, Caches: cpu.Caches(pinned...)}
}

// warnOther warns if file is the saved machine and that is another CPU.
func warnOther(c call, flag, file string, pinned ...int) {
	if file != probe.SavedName {
		return
	}
	m, err := files().Machine(file)
	if why := m.Other(host(pinned...)); err == nil && why != "" {
		c.warn("%s: %s: measure it with 'bench machine --measure'", flag, why)
	}
}

type modelFlags struct {
	geometry       geometryFlags
	pages          parsed[access.Pages]
	preset, caches string
	threads        parsed[[]int]
}

func (f *modelFlags) add(flags *pflag.FlagSet) {
	f.geometry.add(flags)
	flags.StringVar(&f.caches, "caches", "", "")
	f.threads.add(flags, "threads", "number", parseThreads)
	flags.StringVar(&f.preset, "preset", "", "")
	addPages(flags, &f.pages)
}

func (f *modelFlags) model(c call) (m cost.Model, err error) {
	if err := exclude(c, "preset", "caches I1 D1 LL"); err != nil {
		return m, err
	}
	loadKernels()
	if f.preset == "" {
		m, err = costModel(c, f.caches, &f.geometry, cpu.TLB(f.pages.value.Size()))
	} else {
		of, err := machines.Preset(f.preset)
		if err != nil {
			return m, err
		}
		m.Times, m.Caches = cost.Generic(fmt.Sprintf(
			"preset %s has no measured times; kernels are this CPU's", f.preset)), of.Config
	}
	switch cpus := len(cpu.Workers()); {
	case err != nil || !f.threads.set:
		return m, err
	case len(f.threads.value) > 1:
		return m, fmt.Errorf("--threads %s: want one number from 1 on, or all", f.threads.text)
	default:
		m.Threads = cmp.Or(f.threads.value[0], cpus) // 0 means all
		if f.preset == "" && f.caches == "" && !f.geometry.set() && m.Threads > cpus {
			c.warn("--threads %d: this process has %s, and the prediction is for a core for each "+
				"thread", m.Threads, counted(cpus, "CPU"))
		}
	}
	return m, nil
}

// costModel returns the model of a description, or of this machine with the caches of the flags.
func costModel(c call, file string, geometry *geometryFlags, tlb []simcache.TLB,
	pinned ...int) (cost.Model, error) {
	if err := exclude(c, "caches", "I1 D1 LL TLB"); err != nil {
		return cost.Model{}, err
	}
	warnOther(c, "--caches", file, pinned...)
	if file == "" {
		geometry.noteApart(c, pinned...)
	}
	this := host(pinned...)
	return cost.ModelOf(files(), file, this,
		cpu.Between(geometry.config(this.Caches), this.Caches), geometry.set(), tlb)
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
	flags.BoolVar(&f.on, "measure", false, "")
	flags.StringVarP(&f.out, "out", "o", "", "")
	f.maxSize.add(flags, "max-size", "size", simcache.ParseBytes)
	flags.BoolVar(&f.loaded, "loaded", false, "")
	flags.StringVar(&f.results, "results", "", "")
	flags.DurationVar(&f.budget, "measure-time", 20*time.Second, "")
}

func (f *measureFlags) check(c call) error {
	if err := cmp.Or(needs(c, "measure", "out max-size measure-time loaded results"),
		needs(c, "loaded", "results")); err != nil {
		return err
	}
	if f.loaded && len(cpu.Workers()) < 2 {
		return errors.New("--loaded wants two CPUs, one to chase and one to stream: this process " +
			"may run on one")
	}
	if f.maxSize.set && (f.maxSize.value < probe.MinSize || f.maxSize.value > probe.MaxSize) {
		return fmt.Errorf("--max-size %s: want at least %s and at most %s", f.maxSize.text,
			strict.Size(probe.MinSize), strict.Size(probe.MaxSize))
	}
	if f.budget <= 0 || f.budget > time.Hour {
		return fmt.Errorf("--measure-time %v: want more than 0 and at most 1h", f.budget)
	}
	return nil
}

// result measures this machine or returns its saved measurements. It returns nil if there are none.
func (f *measureFlags) result(c call, caches []cpu.Cache) (*probe.Report, error) {
	if !f.on {
		m, found, err := files().Own(host())
		if err != nil || !found {
			return nil, err
		}
		return probe.ReportOf(m, files().Saved, m.Warnings(caches, probe.SavedName)), nil
	}
	defer watch(c.ctx, "this pass")()
	before := node.Now()
	m, file, err := f.measure(c, caches)
	if err != nil {
		return nil, err
	}
	warnings := m.Warnings(caches, cmp.Or(f.out, probe.SavedName))
	if a, _ := before.Until(node.Now()); a.Busy() != "" {
		warnings = append(warnings, a.Busy()+": measure again when the machine is quiet.")
	}
	return probe.ReportOf(m, file, warnings), nil
}

func (f *measureFlags) measure(c call, caches []cpu.Cache) (m probe.Machine, file string,
	err error) {
	file = cmp.Or(f.out, files().Saved)
	var saved *outfile.File
	if err = cmp.Or(files().Err, strict.Regular(file)); err == nil || f.out != "" {
		saved, err = createFile(file) // fails before the measuring
	}
	if err != nil && f.out == "" {
		err = fmt.Errorf("where the machine is saved: %w (name a file with --out)", err)
	}
	if err != nil {
		return m, "", err
	}
	defer saved.Discard()
	loadKernels()
	machine := node.ThisMachine()
	o := probe.Options{CPU: machine.CPU, Caches: caches, TLB: cpu.TLB(probe.PageSize()),
		MaxSize: f.maxSize.value, MaxMemory: machine.Available, Budget: f.budget,
		Workers: cpu.Workers(), Loaded: f.loaded}
	c.meter.Timed("measuring this machine", 100)
	o.Progress = c.meter.Shares(100)
	m, err = probe.Measure(c.ctx, o)
	if errors.Is(err, context.Canceled) {
		return m, "", stopped(c.ctx, "nothing is saved")
	}
	if err != nil {
		return m, "", err
	}
	text, err := m.Format()
	if err != nil {
		return m, "", err
	}
	return m, file, errors.Join(saved.Put(text), f.writeLoads(m))
}

func (f *measureFlags) writeLoads(m probe.Machine) error {
	if f.results == "" {
		return nil
	}
	var text bytes.Buffer
	if err := session.WriteLoads(&text, m, thisProgram()); err != nil {
		return err
	}
	return outfile.WriteFile(f.results, text.Bytes())
}
