package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/pflag"

	"github.com/stridebench/stridebench/access/cost"
	"github.com/stridebench/stridebench/access/probe"
	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/cpu"
	"github.com/stridebench/stridebench/simcache/explain"
	"github.com/stridebench/stridebench/simcache/machines"
)

// files are the descriptions of machines, with the place of the one that 'bench
// machine --measure' saves.
func files() probe.Files {
	dir, err := os.UserCacheDir()
	return probe.Files{Saved: filepath.Join(dir, "stridebench", "measured.yaml"), Err: err}
}

// warnOther says on stderr that the machine that was measured and saved, if a file
// is that, is another.
func warnOther(c call, flag, file string) error {
	if file != probe.SavedName {
		return nil
	}
	m, err := files().Machine(file)
	if this := results.ThisMachine().CPU; err == nil && m.Other(this) {
		_, err = fmt.Fprintf(c.err, "bench: warning: %s: %s was measured, this is %s: measure it with 'bench machine --measure'\n", flag, m.CPU, this)
	}
	return err
}

// costModel is what predictions are made by, see cost.ModelOf.
func costModel(file string, geometry *geometryFlags, tlb []simcache.TLB) (cost.Model, error) {
	if file != "" && geometry.set() {
		return cost.Model{}, errors.New("--caches names all caches: leave --I1, --D1 and --LL out")
	}
	detected := cpu.Caches()
	m, err := cost.ModelOf(files(), file, results.ThisMachine().CPU, cpu.Between(geometry.config(detected), detected), geometry.set(), tlb)
	if err != nil && file != "" {
		err = fmt.Errorf("--caches: %w", err)
	}
	return m, err
}

// measureFlags are the flags of bench machine --measure.
type measureFlags struct {
	on      bool
	out     string
	maxSize parsed[int]
	budget  time.Duration
}

func (f *measureFlags) add(flags *pflag.FlagSet) {
	f.maxSize = parsed[int]{parse: machines.ParseSize, kind: "size"}
	flags.BoolVar(&f.on, "measure", false, "measure the caches, memory and TLB, and save what was found")
	flags.StringVarP(&f.out, "out", "o", "", "`file` to save it in, instead of where --caches=measured looks")
	flags.Var(&f.maxSize, "max-size", "largest working set, such as 256MiB; default: twice the last level that the machine states")
	flags.DurationVar(&f.budget, "measure-time", 20*time.Second, "how long to measure, at least about; shorter is less steady")
}

// check refuses flags that do not go together.
func (f *measureFlags) check(c call) error {
	for _, name := range []string{"out", "max-size", "measure-time"} {
		if c.given(name) && !f.on {
			return fmt.Errorf("--%s goes with --measure, which is missing", name)
		}
	}
	if f.maxSize.set && (f.maxSize.value < probe.MinSize || f.maxSize.value > probe.MaxSize) {
		return fmt.Errorf("--max-size %s: want at least %s and at most %s", f.maxSize.text, machines.Size(probe.MinSize), machines.Size(probe.MaxSize))
	}
	if f.budget <= 0 || f.budget > time.Hour {
		return fmt.Errorf("--measure-time %v: want more than 0 and at most 1h", f.budget)
	}
	return nil
}

// A measurement is a machine that was measured, its file, and what to warn of.
type measurement struct {
	probe.Machine
	file     string
	warnings []string
}

// result is what is measured now, or what was measured and saved; nil if nothing
// was, or of another machine.
func (f *measureFlags) result(ctx context.Context, c call, caches []cpu.Cache) (*measurement, error) {
	if !f.on {
		m, found, err := files().Own(results.ThisMachine().CPU)
		if err != nil || !found {
			return nil, err
		}
		return &measurement{m, files().Saved, append(m.Warnings(caches), m.SimulatedWarnings()...)}, nil
	}
	defer watch(ctx)()
	before := results.Now()
	m, file, err := f.measure(ctx, c, caches)
	if err != nil {
		return nil, err
	}
	warnings := m.Warnings(caches)
	if a, known := before.Until(results.Now()); known && a.Others > busyOthers {
		warnings = append(warnings, fmt.Sprintf("Other programs kept %.1f of %d CPUs busy meanwhile: measure again when the machine is quiet.", a.Others, a.CPUs))
	}
	return &measurement{m, file, append(warnings, m.SimulatedWarnings()...)}, nil
}

// busyOthers is from how many CPUs on the work of others is warned of.
const busyOthers = 0.25

// measure measures this machine and saves it in a file.
func (f *measureFlags) measure(ctx context.Context, c call, caches []cpu.Cache) (m probe.Machine, file string, err error) {
	if file = f.out; file == "" {
		if file = files().Saved; files().Err != nil {
			return m, "", fmt.Errorf("where to save the machine is unknown, name a file with --out: %w", files().Err)
		}
	}
	saved, err := createFile("out", file) // before anything is measured, so that nothing is in vain
	if err != nil {
		return m, "", err
	}
	defer saved.Discard()
	machine := results.ThisMachine()
	o := probe.Options{CPU: machine.CPU, Caches: caches, TLB: cpu.TLB(probe.PageSize),
		MaxSize: f.maxSize.value, MaxMemory: machine.Available, Budget: f.budget}
	progress := newProgress(c, 100, "measuring: %d of %d %% ")
	defer progress.end()
	shown := 0
	o.Progress = func(done float64) {
		for ; shown < int(100*done); shown++ {
			progress.step()
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
	return m, file, saved.Commit()
}

// write prints what was measured for people.
func (m *measurement) write(w io.Writer) error {
	if err := m.WriteTables(w); err != nil {
		return err
	}
	fmt.Fprintf(w, "\nmeasured on %s, the ladder on pages of %s; saved in %s\n", m.Date.UTC().Format(time.DateTime), m.Pages, m.file)
	var warnings []string
	for _, warning := range m.warnings {
		warnings = append(warnings, "warning: "+warning)
	}
	return explain.WriteParagraphs(w, warnings)
}

func (m *measurement) json() *probe.JSON {
	if m == nil {
		return nil
	}
	return m.JSON(m.file, m.warnings)
}
