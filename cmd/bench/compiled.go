package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stridebench/stridebench/access/compiled"
	"github.com/stridebench/stridebench/access/session/progress"
	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/explain"
)

func newCC() *cobra.Command {
	return &cobra.Command{
		Use:   "cc -- COMPILER ARGUMENT...",
		Short: "Build a program whose accesses bench sim --exec counts",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c := callOf(cmd)
			build, remove, err := compiled.Command(cmd.Context(), args)
			if err != nil {
				return err
			}
			build.Stdin, build.Stdout, build.Stderr = os.Stdin, c.out, c.err
			return errors.Join(build.Run(), remove())
		},
	}
}

// execFlags say which program is run and counted.
type execFlags struct {
	path        string
	args        string
	cc          string
	first, last uint64
}

func (e *execFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&e.path, "exec", "", "run a program that 'bench cc' built, or build and run a source `file`, and simulate its accesses; with --function those inside of one function")
	flags.StringVar(&e.args, "args", "", "with --exec, `arguments` of the program, separated by spaces")
	flags.StringVar(&e.cc, "cc", "", "with --exec FILE.cpp, the compiler and its `options`, such as 'g++ -O2 -DN=64'")
	flags.Uint64Var(&e.first, "from-call", 0, "with --exec and --function, the first `call` of it that is counted")
	flags.Uint64Var(&e.last, "to-call", 0, "the last `call` of it that is counted")
}

// compilers are the default commands by the suffix of a source file.
var compilers = map[string]string{".c": "gcc -O2", ".cc": "g++ -O2", ".cpp": "g++ -O2", ".cxx": "g++ -O2",
	".f": "gfortran -O2", ".f90": "gfortran -O2", ".F90": "gfortran -O2"}

// program is the executable, built if it is named by its source, and what removes it.
func (e *execFlags) program(c call) (path string, remove func(), err error) {
	remove = func() {}
	compiler, isSource := compilers[filepath.Ext(e.path)]
	if !isSource {
		if e.cc != "" {
			return "", remove, fmt.Errorf("--cc goes with a source file: --exec %s is none", e.path)
		}
		return e.path, remove, nil
	}
	if _, err := os.Stat(e.path); err != nil {
		return "", remove, fmt.Errorf("--exec: %w", err)
	}
	dir, err := os.MkdirTemp("", "bench-exec-")
	if err != nil {
		return "", remove, err
	}
	remove = func() { os.RemoveAll(dir) }
	path = filepath.Join(dir, "program")
	args := append(strings.Fields(cmp.Or(e.cc, compiler)), e.path, "-o", path)
	build, done, err := compiled.Command(c.ctx, args)
	if err != nil {
		return "", remove, fmt.Errorf("--exec %s: %w", e.path, err)
	}
	out, err := build.CombinedOutput()
	if err := errors.Join(err, done()); err != nil {
		return "", remove, fmt.Errorf("--exec %s: %s: %w\n%s", e.path, strings.Join(args, " "), err, out)
	}
	return path, remove, nil
}

// A counter counts the accesses of a program by place and by object.
type counter struct {
	h       *simcache.Hierarchy
	sources []compiled.Source
}

func (c *counter) New(s compiled.Source) int {
	c.sources = append(c.sources, s)
	return c.h.NewSource(s.Kind)
}

func (c *counter) Access(source int, addr uint64, size int) { c.h.AccessOf(source, addr, size) }

// simulateExec counts what a compiled program accesses.
func (f *simFlags) simulateExec(c call) error {
	m, err := f.hierarchy.machine(c, &f.geometry)
	if err != nil {
		return err
	}
	path, remove, err := f.exec.program(c)
	defer remove()
	if err != nil {
		return err
	}
	program, err := compiled.Open(path)
	if err != nil {
		return fmt.Errorf("--exec: %w", err)
	}
	h, _, err := f.start(c, m.Config)
	if err != nil {
		return err
	}
	f.meter = progress.New(c.err)
	f.meter.Phase("running "+f.exec.path, 0)
	count := &counter{h: h}
	ctx := c.ctx
	stop := watch(ctx, "what was counted so far")
	outcome, err := program.Run(ctx, compiled.Options{Args: strings.Fields(f.exec.args),
		Function: f.program.Function, First: f.exec.first, Last: f.exec.last}, count)
	stop()
	if err != nil && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("--exec %s: %w", f.exec.path, err)
	}
	run := explain.RunOf(h, m.Config, nil, nil, 1)
	run.Tensors, run.Code = count.lines()
	if err := f.show(c, run, simcache.Counts.DataSummary, func() any { return run.Trace(m.Name, f.hierarchy.explain) }); err != nil {
		return err
	}
	return errors.Join(err, said2(f.exec.path, outcome))
}

// said2 is the error of a program that did not end as it should.
func said2(path string, o compiled.Outcome) error {
	switch {
	case o.Stopped != "":
		return fmt.Errorf("--exec %s: %s: these are the counts until then", path, o.Stopped)
	case o.Signal != "":
		return fmt.Errorf("--exec %s: it ended by a signal (%s): these are the counts until then", path, o.Signal)
	case o.Code != 0:
		return fmt.Errorf("--exec %s: it exited with %d: %s", path, o.Code, o.Said)
	}
	return nil
}

// lines are the counts by object and by line.
func (c *counter) lines() (objects, code []simcache.Line) {
	type key struct {
		object string
		place  compiled.Place
	}
	index := map[key]int{}
	add := func(list *[]simcache.Line, k key, line simcache.Line) {
		i, known := index[k]
		if !known {
			i, index[k] = len(*list), len(*list)
			*list = append(*list, line)
			return
		}
		(*list)[i].Counts = (*list)[i].Counts.Add(line.Counts)
	}
	for i, counts := range c.h.SourceCounts() {
		s := c.sources[i]
		add(&objects, key{object: s.Object}, simcache.Line{Function: s.Object, Counts: counts})
		add(&code, key{place: s.Place}, simcache.Line{Function: s.Place.Function, File: s.Place.File, Number: s.Place.Line, Counts: counts})
	}
	byMisses := func(a, b simcache.Line) int { return cmp.Compare(b.Counts.D1Misses(), a.Counts.D1Misses()) }
	slices.SortStableFunc(objects, byMisses)
	return objects, code
}

var _ = exec.Command
