package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/kballard/go-shellquote"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/compiled"
	"github.com/stridebench/stridebench/access/csource"
	"github.com/stridebench/stridebench/layouts/blocked"
	"github.com/stridebench/stridebench/simcache/explain"
	"github.com/stridebench/stridebench/simcache/machines"
)

func newCC() *cobra.Command {
	return verb("cc -- COMPILER ARGUMENT...",
		"Build a program whose accesses bench sim --exec counts",
		takes(1, math.MaxInt, "a compiler and its arguments: g++ -O2 a.cpp -o a.out"),
		func(c call, args []string) error {
			dir, remove, err := temporaryFolder(c.ctx)
			defer remove()
			if err != nil {
				return err
			}
			build, err := compiled.Command(c.ctx, dir, args)
			if err != nil {
				return err
			}
			build.Stdin, build.Stdout, build.Stderr = os.Stdin, c.out, c.err
			return build.Run()
		})
}

// execFlags choose the program. The pattern's --from and --to choose the counted calls.
type execFlags struct {
	path     string
	args, cc parsed[[]string]
	from, to uint64 // calls
}

func (e *execFlags) add(flags *pflag.FlagSet, p *patternFlags) {
	p.from.parse, p.to.parse = callOr(p.from.parse, &e.from), callOr(p.to.parse, &e.to)
	flags.StringVar(&e.path, "exec", "", "")
	e.args.add(flags, "args", "arguments", shellquote.Split)
	e.cc.add(flags, "cc", "compiler", shellquote.Split)
}

// callOr returns a parser that also reads the number of a call, from 1 on.
func callOr(parse func(string) (blocked.Tag, error), call *uint64) func(string) (blocked.Tag,
	error) {
	return func(text string) (tag blocked.Tag, err error) {
		if *call, err = strconv.ParseUint(text, 10, 64); err != nil || *call == 0 {
			return parse(text)
		}
		return tag, nil
	}
}

func (e *execFlags) check(c call) error {
	switch from, to := e.from, e.to; {
	case from == 0 && to == 0: // they may be formats
		return exclude(c, "exec", "from to")
	case to > 0 && from > to:
		return fmt.Errorf("--from %d --to %d: want the first call before the last", from, to)
	}
	return cmp.Or(needs(c, "exec", "from to"), needs(c, "function", "from to"))
}

// temporaryFolder makes a folder that is removed even if a signal ends the program.
func temporaryFolder(ctx context.Context) (dir string, remove func(), err error) {
	stop := watch(ctx, "the compiler has ended")
	dir, err = os.MkdirTemp("", "bench-")
	leftovers.Store(dir, true)
	return dir, func() {
		os.RemoveAll(dir)
		leftovers.Delete(dir)
		stop()
	}, err
}

func (f *simFlags) simulateExec(c call, m machines.Machine) error {
	options := compiled.Options{Function: f.program.Function, Args: f.exec.args.value,
		First: f.exec.from, Last: f.exec.to}
	if options.First > 0 && options.Last == 0 {
		options.Last = math.MaxUint64
	}
	dir, remove, err := temporaryFolder(c.ctx)
	defer remove()
	if err != nil {
		return err
	}
	path, said, err := compiled.BuildFile(c.ctx, dir, f.exec.path, f.exec.cc.value)
	if err != nil {
		fmt.Fprint(c.err, said)
		return c.orStopped(fmt.Errorf("--exec %s: %w", f.exec.path, err), "nothing was counted")
	}
	return f.runCompiled(c, m, "--exec "+f.exec.path, path, options)
}

// compileProgram compiles and runs a C function whose loops are not affine.
func (f *simFlags) compileProgram(c call, m machines.Machine, text []byte,
	refused *csource.Error) error {
	dir, remove, err := temporaryFolder(c.ctx)
	defer remove()
	if err != nil {
		return err
	}
	source := f.program.file
	if source == "-" {
		source = filepath.Join(dir, "stdin.c")
		if err := os.WriteFile(source, text, 0o600); err != nil {
			return err
		}
	}
	task, options, err := compiled.TaskOf(source, text, f.program.Options)
	if err != nil {
		return fmt.Errorf("--%w", err)
	}
	if task.Passes = f.passes; f.exec.cc.set {
		task.Compiler = f.exec.cc.value
	}
	if task.Function == "" || task.Compiler == nil {
		return fmt.Errorf("%w; to compile and run it instead, want --function, or one "+
			"#pragma scop in a function whose definition begins a line", refused)
	}
	path := filepath.Join(dir, "program")
	driver, err := task.Build(c.ctx, path)
	switch {
	case c.ctx.Err() != nil:
		return stopped(c.ctx, "nothing was counted")
	case err != nil:
		why := strings.ReplaceAll(err.Error(), source, f.program.file)
		return fmt.Errorf("%w; it cannot be compiled and run instead: %s", refused, why)
	}
	how := "its main has to call " + task.Function
	if !driver.Main {
		how = "arrays are zeros, also where an if depends on them"
	}
	c.note("%v. It is compiled and run instead: %s. About 20 million accesses are counted a "+
		"second. --exact affine refuses it.", refused, how)
	options.Arrange = compiled.Arrangement{Origin: m.Config.Aligned(access.Origin, f.program.Align),
		Align: uint64(f.program.Align), Parameters: driver.Parameters}
	return f.runCompiled(c, m, "--program "+f.program.file, path, options)
}

func (f *simFlags) runCompiled(c call, m machines.Machine, name, path string,
	o compiled.Options) error {
	defer watch(c.ctx, "what was counted so far is written")()
	program, err := compiled.Open(path)
	if err != nil {
		flag, _, _ := strings.Cut(name, " ")
		return fmt.Errorf("%s: %w", flag, err)
	}
	h, curve, err := f.start(m.Config)
	if err != nil {
		return err
	}
	c.meter.Phase("running "+name, 0)
	count := &compiled.Counter{Hierarchy: h, Curve: curve}
	o.Stdin, o.Environment = os.Stdin, environment()
	outcome, err := program.Run(c.ctx, o, count)
	if err != nil && c.ctx.Err() == nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	var end error // why these are not the counts of a whole run
	fault := outcome.Fault()
	switch {
	case c.ctx.Err() != nil:
		fault, end = "it was stopped", stopped(c.ctx, "these are the counts so far")
	case fault != "":
		end = fmt.Errorf("%s: %s; these are the counts until then", name, fault)
	}
	if (o.Function != "" && outcome.Calls == 0 || o.Region.To > 0) && h.Counts().Refs() == 0 {
		return errors.Join(fmt.Errorf("%s: no access is made in %s", name, cmp.Or(o.Function,
			"the lines between #pragma scop and #pragma endscop")), end)
	}
	for _, note := range append(outcome.Notes(o, f.passes), count.Notes(program, o)...) {
		c.note("%s: %s", name, note)
	}
	run := explain.RunOf(h, m.Config, nil, nil, f.passes)
	run.Tensors, run.Code = count.Lines()
	run.Curve = curve.Table()
	if f.results != "" && end != nil {
		c.note("--out %s is not written: the counts are not those of a whole run", f.results)
		f.results = ""
	}
	run.Partial = fault
	return errors.Join(f.show(c, run, m.Name), end, count.Full)
}

// environment is all that a program gets of bench's environment, so that every run is the same.
func environment() (all []string) {
	for _, name := range []string{"PATH", "HOME", "LD_LIBRARY_PATH"} {
		if value, set := os.LookupEnv(name); set {
			all = append(all, name+"="+value)
		}
	}
	return all
}
