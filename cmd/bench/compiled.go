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
	"github.com/stridebench/stridebench/access/session/progress"
	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/explain"
	"github.com/stridebench/stridebench/simcache/machines"
	"github.com/stridebench/stridebench/simcache/reuse"
)

func newCC() *cobra.Command {
	return &cobra.Command{
		Use:   "cc -- COMPILER ARGUMENT...",
		Short: "Build a program whose accesses bench sim --exec counts",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("want a compiler and its arguments: g++ -O2 a.cpp -o a.out")
			}
			c := callOf(cmd)
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
		},
	}
}

// execFlags choose the program. The pattern's --from and --to choose the counted calls.
type execFlags struct {
	path     string
	args     string
	cc       string
	from, to callFlag
}

func (e *execFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&e.path, "exec", "", "run a program that 'bench cc' built, or build and run "+
		"a source `file`, and simulate its accesses; with --function those made inside of it")
	flags.StringVar(&e.args, "args", "", "with --exec, the program's `arguments`, in quotes "+
		"where they have spaces")
	flags.StringVar(&e.cc, "cc", "", "with --exec FILE.cpp, the `compiler` and its options, such "+
		"as 'g++ -O2 -DN=64'")
	for name, call := range map[string]*callFlag{"from": &e.from, "to": &e.to} {
		flag := flags.Lookup(name)
		call.Value, flag.Value = flag.Value, call
		which := map[string]string{"from": "first", "to": "last"}[name]
		flag.Usage += "; with --exec, the " + which +
			" call of --function that is counted, from 1 on"
	}
}

// A callFlag is a flag that also accepts the number of a call.
type callFlag struct {
	pflag.Value
	call uint64
}

// Set implements pflag.Value.
func (f *callFlag) Set(text string) error {
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return f.Value.Set(text)
	}
	if f.call = n; n == 0 {
		return errors.New("want a call, from 1 on")
	}
	return nil
}

// calls returns the first and last counted call; 0, 0 means all.
func (f *simFlags) calls(c call) (first, last uint64, err error) {
	first, last = f.exec.from.call, f.exec.to.call
	for name, n := range map[string]uint64{"from": first, "to": last} {
		switch {
		case n > 0 && f.exec.path == "":
			return 0, 0, fmt.Errorf("--%s %d: calls are of --exec; otherwise want a format, such "+
				"as abcd", name, n)
		case n > 0 && f.program.Function == "":
			return 0, 0, fmt.Errorf("--%s %d: want --function, whose calls are counted", name, n)
		case n == 0 && f.exec.path != "" && c.given(name):
			return 0, 0, fmt.Errorf("--%s: with --exec want the number of a call, such as 1", name)
		}
	}
	switch {
	case first > 0 && last == 0:
		last = math.MaxUint64
	case last > 0 && first == 0:
		first = 1
	}
	if first > last {
		return 0, 0, fmt.Errorf("--from %d --to %d: want the first call before the last",
			first, last)
	}
	return first, last, nil
}

// program returns the executable, built if --exec names a source file, and a function that removes
// it.
func (e *execFlags) program(c call) (path string, remove func(), err error) {
	remove = func() {}
	compiler, isSource := compiled.Compilers[filepath.Ext(e.path)]
	if !isSource {
		if e.cc != "" {
			return "", remove, fmt.Errorf("--cc %s: it builds a source file, and --exec %s is none",
				e.cc, e.path)
		}
		return e.path, remove, nil
	}
	if _, err := os.Stat(e.path); err != nil {
		return "", remove, fmt.Errorf("--exec: %w", err)
	}
	dir, remove, err := temporaryFolder(c.ctx)
	if err != nil {
		return "", remove, err
	}
	path = filepath.Join(dir, "program")
	args, err := words("cc", cmp.Or(e.cc, compiler+" -O2"))
	if err != nil {
		return "", remove, err
	}
	args = append(args, e.path, "-o", path)
	build, err := compiled.Command(c.ctx, dir, args)
	if err != nil {
		return "", remove, fmt.Errorf("--exec %s: %w", e.path, err)
	}
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprint(c.err, strings.ReplaceAll(string(out), path, "program"))
		return "", remove, fmt.Errorf("--exec %s: %s: %w", e.path,
			strings.Join(args[:len(args)-2], " "), err)
	}
	return path, remove, nil
}

func words(flag, text string) ([]string, error) {
	list, err := shellquote.Split(text)
	if err != nil {
		return nil, fmt.Errorf("--%s %s: %w; want quotes in pairs, and \\ before a quote that "+
			"is meant", flag, text, err)
	}
	return list, nil
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

func (f *simFlags) simulateExec(c call) error {
	options := compiled.Options{Function: f.program.Function}
	var err error
	if options.Args, err = words("args", f.exec.args); err != nil {
		return err
	}
	if options.First, options.Last, err = f.calls(c); err != nil {
		return err
	}
	m, err := f.hierarchy.machine(c, &f.geometry)
	if err != nil {
		return err
	}
	path, remove, err := f.exec.program(c)
	defer remove()
	switch {
	case c.ctx.Err() != nil:
		return stopped(c.ctx, "nothing was counted")
	case err != nil:
		return err
	}
	return f.runCompiled(c, m, "--exec "+f.exec.path, path, options)
}

// compileProgram compiles and runs a C function whose loops are not affine.
func (f *simFlags) compileProgram(c call, m machines.Machine, text []byte,
	refused *csource.Error) error {
	name := "--program " + f.program.file
	given, err := csource.Parts(text, f.program.Defines)
	if err != nil {
		return fmt.Errorf("--define: %w", err)
	}
	maps.Copy(given.Values, given.Fields)
	dir, remove, err := temporaryFolder(c.ctx)
	defer remove()
	if err != nil {
		return err
	}
	path := filepath.Join(dir, "program")
	task := compiled.Task{Path: f.program.file, Function: f.program.Function, Macros: given.Macros,
		Values: given.Values, Sizes: given.Sizes, Folders: f.program.IncludeDirs, Passes: f.passes}
	if task.Path == "-" {
		task.Path = filepath.Join(dir, "stdin.c")
		if err := os.WriteFile(task.Path, text, 0o600); err != nil {
			return err
		}
	}
	options := compiled.Options{Function: f.program.Function}
	if task.Function == "" {
		r := compiled.Region{File: filepath.Base(task.Path)}
		task.Function, r.From, r.To = csource.FindRegion(text)
		options.Region = r
	}
	task.Compiler, err = words("cc", cmp.Or(f.exec.cc, compiled.Compilers[filepath.Ext(task.Path)]))
	if err != nil {
		return err
	}
	if task.Function == "" || len(task.Compiler) == 0 {
		return fmt.Errorf("--program: %w; to compile and run it instead, want --function, or one "+
			"#pragma scop in a function whose definition begins a line", refused)
	}
	driver, err := task.Build(c.ctx, path)
	switch {
	case c.ctx.Err() != nil:
		return stopped(c.ctx, "nothing was counted")
	case err != nil:
		why := strings.ReplaceAll(err.Error(), task.Path, f.program.file)
		return fmt.Errorf("--program: %w; it cannot be compiled and run instead: %s", refused, why)
	}
	how := "its main calls " + task.Function
	if !driver.Main {
		how = "arrays are zeros, also where an if depends on them"
	}
	c.note("%v. It is compiled and run instead: %s. About 20 million accesses are counted a "+
		"second. "+
		"--exact affine refuses it.", refused, how)
	options.Arrange = compiled.Arrangement{Origin: m.Config.Aligned(access.Origin, f.program.Align),
		Align: uint64(f.program.Align), Parameters: driver.Parameters}
	return f.runCompiled(c, m, name, path, options)
}

func (f *simFlags) runCompiled(c call, m machines.Machine, name, path string,
	o compiled.Options) error {
	stop := watch(c.ctx, "what was counted so far is written")
	defer stop()
	program, err := compiled.Open(path)
	if err != nil {
		flag, _, _ := strings.Cut(name, " ")
		return fmt.Errorf("%s: %w", flag, err)
	}
	h, curve, err := f.start(c, m.Config)
	if err != nil {
		return err
	}
	f.meter = progress.New(c.err)
	f.meter.Phase("running "+name, 0)
	count := &counter{h: h, curve: curve}
	o.Stdin, o.Environment = os.Stdin, environment()
	outcome, err := program.Run(c.ctx, o, count)
	if err != nil && c.ctx.Err() == nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	wrong := wrongEnd(outcome)
	if o.Function != "" && outcome.Calls == 0 && h.Counts().Refs() == 0 {
		return fmt.Errorf("%s: it never calls %s, or the compiler reports no access in it%s",
			name, o.Function, wrong)
	}
	if o.Region.To > 0 && h.Counts().Refs() == 0 {
		return fmt.Errorf("%s: no access is made between #pragma scop and #pragma endscop%s",
			name, wrong)
	}
	f.noteOutcome(c, name, o, outcome)
	f.noteLocals(c, name, program, count)
	run := explain.RunOf(h, m.Config, nil, nil, f.passes)
	run.Tensors, run.Code = count.lines()
	run.Curve = curve.Table()
	for _, object := range run.Tensors {
		if f.exec.path == "" && object.Function == compiled.Elsewhere {
			c.note("%s: %d accesses are outside of all arrays: is one of -D 'NAME[EXTENT]' "+
				"too small?",
				name, object.Counts.Refs())
		}
	}
	if f.results != "" && (wrong != "" || c.ctx.Err() != nil) {
		c.note("--out %s is not written: the counts are not those of a whole run", f.results)
		f.results = ""
	}
	run.Partial = strings.TrimPrefix(wrong, ": ")
	if c.ctx.Err() != nil {
		run.Partial = "it was stopped"
	}
	err = f.show(c, run, simcache.Counts.DataSummary, m.Name)
	if c.ctx.Err() != nil {
		return errors.Join(err, stopped(c.ctx, "these are the counts so far"))
	}
	if wrong != "" {
		err = errors.Join(err, fmt.Errorf("%s%s; these are the counts until then", name, wrong))
	}
	return errors.Join(err, count.full)
}

func (f *simFlags) noteOutcome(c call, name string, o compiled.Options, outcome compiled.Outcome) {
	if o.First > outcome.Calls {
		c.note("%s: %s is called %d times, so that no call is counted", name, o.Function,
			outcome.Calls)
	}
	if f.exec.path == "" && outcome.Calls > uint64(f.passes) {
		c.note("%s: main calls %s %d times, which are counted together; affine loops are "+
			"counted once",
			name, o.Function, outcome.Calls)
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
func (f *simFlags) noteLocals(c call, name string, program *compiled.Program, count *counter) {
	counted := map[string]bool{f.program.Function: true}
	for _, s := range count.sources {
		counted[s.Place.Function] = true
	}
	var missing []string
	for _, l := range program.Locals {
		what := fmt.Sprintf("%s (%s:%d)", l.Name, filepath.Base(l.File), l.Line)
		if counted[l.Function] && !slices.Contains(missing, what) {
			missing = append(missing, what)
		}
	}
	if n := len(missing); n > 3 {
		missing = append(missing[:3], fmt.Sprintf("%d others", n-3))
	}
	if missing != nil {
		c.note("%s: arrays on the stack may be missing in the counts: %s; the compiler "+
			"reports them "+
			"where their address leaves the function: declare them static, or build with gcc -O0",
			name, strings.Join(missing, ", "))
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

// wrongEnd describes how a program failed, or returns "".
func wrongEnd(o compiled.Outcome) string {
	said := ""
	if o.Said != "" {
		said = fmt.Sprintf(" (%s)", o.Said)
	}
	switch {
	case o.Stopped != "":
		return ": " + o.Stopped
	case o.Signal != "":
		return fmt.Sprintf(": a signal ended it: %s%s", o.Signal, said)
	case o.Code != 0:
		return fmt.Sprintf(": it exited with %d%s", o.Code, said)
	}
	return ""
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
