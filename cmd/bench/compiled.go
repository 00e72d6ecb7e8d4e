package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/kballard/go-shellquote"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/compiled"
	"github.com/stridebench/stridebench/access/csource"
	"github.com/stridebench/stridebench/access/given"
	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/explain"
	"github.com/stridebench/stridebench/simcache/machines"
	"github.com/stridebench/stridebench/simcache/reuse"
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
	from, to callFlag
}

func (e *execFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&e.path, "exec", "", "run a program that 'bench cc' built, or build and run "+
		"a source `file`, and simulate its accesses; with --function those made inside of it")
	e.args.add(flags, "args", "arguments", shellquote.Split,
		"with --exec, the program's arguments, in quotes where they have spaces")
	e.cc.add(flags, "cc", "compiler", shellquote.Split,
		"with --exec FILE.cpp, the compiler and its options, such as 'g++ -O2 -DN=64'")
	for name, call := range map[string]*callFlag{"from": &e.from, "to": &e.to} {
		flag := flags.Lookup(name)
		call.Value, flag.Value = flag.Value, call
		flag.Usage += "; with --exec, the first or last call of --function that is counted, from " +
			"1 on"
	}
}

// A callFlag is a flag that also accepts the number of a call.
type callFlag struct {
	pflag.Value
	call uint64
}

// String implements pflag.Value.
func (f *callFlag) String() string {
	if f.call > 0 {
		return fmt.Sprint(f.call)
	}
	return f.Value.String()
}

// Set implements pflag.Value.
func (f *callFlag) Set(text string) (err error) {
	if f.call, err = strconv.ParseUint(text, 10, 64); err != nil || f.call == 0 {
		return f.Value.Set(text)
	}
	return nil
}

func (e *execFlags) check(c call) error {
	switch from, to := e.from.call, e.to.call; {
	case from == 0 && to == 0: // they may be formats
		return exclude(c, "exec", "from to")
	case to > 0 && from > to:
		return fmt.Errorf("--from %d --to %d: want the first call before the last", from, to)
	}
	return cmp.Or(needs(c, "exec", "from to"), needs(c, "function", "from to"))
}

// program returns the executable, built in a folder if --exec names a source file.
func (e *execFlags) program(c call, dir string) (string, error) {
	compiler, isSource := compiled.Compilers[filepath.Ext(e.path)]
	if !isSource {
		if e.cc.set {
			return "", fmt.Errorf("--cc %s: it builds a source file, and --exec %s is none",
				e.cc.text, e.path)
		}
		return e.path, nil
	}
	if _, err := os.Stat(e.path); err != nil {
		return "", fmt.Errorf("--exec: %w", err)
	}
	path, args := filepath.Join(dir, "program"), []string{compiler, "-O2"}
	if e.cc.set {
		args = e.cc.value
	}
	args = append(args, e.path, "-o", path)
	build, err := compiled.Command(c.ctx, dir, args)
	if err != nil {
		return "", fmt.Errorf("--exec %s: %w", e.path, err)
	}
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprint(c.err, strings.ReplaceAll(string(out), path, "program"))
		return "", fmt.Errorf("--exec %s: %s: %w", e.path, strings.Join(args[:len(args)-2], " "),
			err)
	}
	return path, nil
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
		First: f.exec.from.call, Last: f.exec.to.call}
	if options.First > 0 && options.Last == 0 {
		options.Last = math.MaxUint64
	}
	dir, remove, err := temporaryFolder(c.ctx)
	defer remove()
	if err != nil {
		return err
	}
	path, err := f.exec.program(c, dir)
	if err := c.orStopped(err, "nothing was counted"); err != nil {
		return err
	}
	return f.runCompiled(c, m, "--exec "+f.exec.path, path, options)
}

// compileProgram compiles and runs a C function whose loops are not affine.
func (f *simFlags) compileProgram(c call, m machines.Machine, text []byte,
	refused *csource.Error) error {
	defines, err := given.Parse(text, f.program.Defines)
	if err != nil {
		return fmt.Errorf("--define: %w", err)
	}
	maps.Copy(defines.Values, defines.Fields)
	dir, remove, err := temporaryFolder(c.ctx)
	defer remove()
	if err != nil {
		return err
	}
	task := compiled.Task{Path: f.program.file, Function: f.program.Function, Macros: defines.Macros,
		Values: defines.Values, Sizes: defines.Sizes, Folders: f.program.IncludeDirs, Passes: f.passes,
		Compiler: f.exec.cc.value}
	if task.Path == "-" {
		task.Path = filepath.Join(dir, "stdin.c")
		if err := os.WriteFile(task.Path, text, 0o600); err != nil {
			return err
		}
	}
	options := compiled.Options{Function: f.program.Function}
	if task.Function == "" {
		r := compiled.Region{File: filepath.Base(task.Path)}
		task.Function, r.From, r.To = given.FindRegion(text)
		options.Region = r
	}
	compiler := compiled.Compilers[filepath.Ext(task.Path)]
	if !f.exec.cc.set {
		task.Compiler = []string{compiler}
	}
	if task.Function == "" || compiler == "" {
		return fmt.Errorf("--program: %w; to compile and run it instead, want --function, or one "+
			"#pragma scop in a function whose definition begins a line", refused)
	}
	path := filepath.Join(dir, "program")
	driver, err := task.Build(c.ctx, path)
	switch {
	case c.ctx.Err() != nil:
		return stopped(c.ctx, "nothing was counted")
	case err != nil:
		why := strings.ReplaceAll(err.Error(), task.Path, f.program.file)
		return fmt.Errorf("--program: %w; it cannot be compiled and run instead: %s", refused, why)
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
	count := &counter{h: h, curve: curve}
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
	f.noteOutcome(c, name, o, outcome)
	noteLocals(c, name, program, o.Function, count)
	run := explain.RunOf(h, m.Config, nil, nil, f.passes)
	run.Tensors, run.Code = count.lines()
	run.Curve = curve.Table()
	for _, object := range run.Tensors {
		if f.exec.path == "" && object.Function == compiled.Elsewhere {
			c.note("%s: %d accesses are outside of all arrays: is one of -D 'NAME[EXTENT]' "+
				"too small?", name, object.Counts.Refs())
		}
	}
	if f.results != "" && end != nil {
		c.note("--out %s is not written: the counts are not those of a whole run", f.results)
		f.results = ""
	}
	run.Partial = fault
	return errors.Join(f.show(c, run, m.Name), end, count.full)
}

func (f *simFlags) noteOutcome(c call, name string, o compiled.Options, outcome compiled.Outcome) {
	if o.First > outcome.Calls {
		c.note("%s: %s is called %d times, so that no call is counted", name, o.Function,
			outcome.Calls)
	}
	if f.exec.path == "" && outcome.Calls > uint64(f.passes) {
		c.note("%s: main calls %s %d times, which are counted together; affine loops are "+
			"counted once", name, o.Function, outcome.Calls)
	}
	if outcome.Moved {
		c.note("%s: the kernel does not fix its addresses, so that counts may differ from "+
			"run to run", name)
	}
	if outcome.Forked {
		c.note("%s: it starts other processes, whose accesses are not counted", name)
	}
}

// noteLocals names local arrays of counted functions whose accesses may be uncounted.
func noteLocals(c call, name string, program *compiled.Program, function string, count *counter) {
	counted := map[string]bool{function: true}
	for _, s := range count.sources {
		counted[s.Place.Function] = true
	}
	var missing []string
	for _, l := range program.Locals {
		if counted[l.Function] {
			missing = append(missing, fmt.Sprintf("%s (%s:%d)", l.Name, filepath.Base(l.File),
				l.Line))
		}
	}
	if missing != nil {
		c.note("%s: arrays on the stack may be missing in the counts: %s; the compiler reports "+
			"them where their address leaves the function: declare them static, or build with "+
			"gcc -O0", name, some(slices.Compact(missing), 3))
	}
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

// A counter counts accesses by place and by object.
type counter struct {
	h       *simcache.Hierarchy
	curve   *reuse.Meter
	full    error // of the curve
	sources []compiled.Source
}

// New implements compiled.Sink.
func (c *counter) New(s compiled.Source) int {
	c.sources = append(c.sources, s)
	return c.h.NewSource(s.Kind)
}

// Accesses implements compiled.Sink.
func (c *counter) Accesses(refs []simcache.Reference) {
	c.h.AccessAll(refs)
	if c.curve == nil {
		return
	}
	for _, r := range refs {
		if c.full == nil {
			c.full = c.curve.Access(r.Addr, int(r.Size))
		}
	}
}

func (c *counter) lines() (objects, code []simcache.Line) {
	for i, counts := range c.h.SourceCounts() {
		s := c.sources[i]
		objects = append(objects, simcache.Line{Function: s.Object, Counts: counts})
		code = append(code, simcache.Line{Function: s.Place.Function, File: s.Place.File,
			Number: s.Place.Line, Counts: counts})
	}
	return simcache.SumLines(objects), simcache.SumLines(code)
}
