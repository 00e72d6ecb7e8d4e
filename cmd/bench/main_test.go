package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/pflag"

	"github.com/stridebench/stridebench/access/kernel"
	"github.com/stridebench/stridebench/access/session/node"
	"github.com/stridebench/stridebench/access/session/progress"
	"github.com/stridebench/stridebench/access/tune"
	"github.com/stridebench/stridebench/results/outfile"
	"github.com/stridebench/stridebench/simcache/cpu"
)

// TestMain is bench itself where it is started by that name: sh, a terminal and signals
// in the tests want a process.
func TestMain(m *testing.M) {
	progress.LineAfter = time.Hour // what a command says does not depend on the machine
	if os.Args[0] = filepath.Base(os.Args[0]); os.Args[0] == "bench" {
		main()
	}
	os.Exit(runTests(m))
}

// runTests runs the tests with this program as bench in $PATH.
func runTests(m *testing.M) int {
	dir, err := os.MkdirTemp("", "bench")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	self, err := os.Executable()
	if err == nil {
		err = os.Symlink(self, filepath.Join(dir, "bench"))
	}
	if err == nil {
		err = os.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	}
	if err != nil {
		log.Fatal(err)
	}
	return m.Run()
}

// TestScripts runs testdata/script/*.txtar, which are the program's tests as
// its users type them.
func TestScripts(t *testing.T) {
	dir, err := filepath.Abs(filepath.Join("testdata", "script")) // commands change the folder
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: dir,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"bench":     command("bench"),
			"hybrid":    command("hybrid"),
			"exits":     exits,
			"oneline":   oneLine,
			"jsonfield": jsonField,
			"islink":    isLink,
		},
		Setup: func(env *testscript.Env) error {
			// A run under the race detector ends with a second of sleep otherwise.
			env.Setenv("GORACE", "atexit_sleep_ms=0")
			cache := filepath.Join(env.WorkDir, ".cache")
			env.Setenv("XDG_CACHE_HOME", cache)
			return untuned(cache)
		},
		Condition: condition,
	})
}

// The command line, the folder and the environment are the process's. One command has them
// at a time.
var process sync.Mutex

// inProcess runs bench in the test's process, and returns its exit code.
func inProcess(ts *testscript.TestScript, name string, args []string) int {
	process.Lock()
	defer process.Unlock()
	here, err := os.Getwd()
	ts.Check(err)
	ts.Check(os.Chdir(ts.MkAbs(".")))
	defer func() { ts.Check(os.Chdir(here)) }()
	for _, name := range []string{
		"HOME", "XDG_CACHE_HOME", "SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT",
		"SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_MAX",
	} {
		before := os.Getenv(name)
		ts.Check(os.Setenv(name, ts.Getenv(name)))
		defer func() { ts.Check(os.Setenv(name, before)) }()
	}
	if name == "hybrid" {
		before := apart
		apart = func(...int) (int, []int) { return 3, []int{0, 1} }
		defer func() { apart = before }()
	}
	os.Args = append([]string{"bench"}, args...)
	clear(piped) // what an earlier command read
	return run(context.Background(), args, ts.Stdout(), ts.Stderr())
}

// command is bench in the test's process, as a command of scripts. `exec bench` starts one.
// Of the name hybrid, it runs on a machine whose CPUs 0 and 1 have caches of their own.
func command(name string) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		if code := inProcess(ts, name, args); (code != 0) != neg {
			ts.Fatalf("exit code %d", code)
		}
	}
}

// untuned keeps a calibration that says nothing but the default, so that what runs vector
// kernels neither takes the time of one nor hangs on what it finds.
func untuned(cache string) error {
	c := tune.Calibration{
		CPU:  tune.Identity(node.ThisMachine().CPU, cpu.Caches()),
		Date: time.Unix(1790000000, 0),
		Sets: map[string]kernel.Tuning{},
	}
	for _, s := range kernel.Sets() {
		if s.Streams() {
			c.Sets[s.Name()] = kernel.Default()
		}
	}
	text, err := c.Format()
	if err != nil {
		return err
	}
	return outfile.WriteFile(filepath.Join(cache, "stridebench", "kernels.yaml"), text)
}

// inFolder makes a folder of files the current one, and has another for what bench keeps.
func inFolder(t *testing.T, files map[string]string) (folder string) {
	t.Helper()
	folder = t.TempDir()
	t.Chdir(folder)
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	if err := untuned(os.Getenv("XDG_CACHE_HOME")); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// typed is a command line as words, but for bench itself. It is the process's.
func typed(verb string) []string {
	os.Args = append([]string{"bench"}, strings.Fields(verb)...)
	return os.Args[1:]
}

// condition is [exists:FILE], that there is such a file, [runs:avx2], that this
// CPU runs that set of kernels, or [twocpus], that two threads can be pinned.
func condition(text string) (bool, error) {
	if text == "twocpus" {
		return len(cpu.Workers()) > 1, nil
	}
	if path, ok := strings.CutPrefix(text, "exists:"); ok {
		_, err := os.Stat(path)
		return err == nil, nil
	}
	name, ok := strings.CutPrefix(text, "runs:")
	if !ok {
		return false, fmt.Errorf("no such condition %q (there are exists:FILE and runs:SET)", text)
	}
	set, err := kernel.ByName(name)
	return err == nil && set.Runs(), err
}

// TestSaid: what several errors have in common is told once.
func TestSaid(t *testing.T) {
	full, other := errors.New("write x: no space left"), errors.New("close x:  no space left")
	if got := said(new(pflag.FlagSet), errors.Join(full, errors.Join(full, other),
		full)); got != "write x: no space left; close x: no space left" {
		t.Errorf("%q", got)
	}
	if got := said(new(pflag.FlagSet), errors.New("open a\x1b[2J.mtx: é")); got != "open a\uFFFD[2J.mtx: é" {
		t.Errorf("%q", got)
	}
}

// exits CODE COMMAND ... runs a command and checks its exit code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND ...")
	}
	code := 0
	if args[1] == "bench" {
		code = inProcess(ts, args[1], args[2:])
	} else if exit := new(exec.ExitError); errors.As(ts.Exec(args[1], args[2:]...), &exit) {
		code = exit.ExitCode()
	}
	if strconv.Itoa(code) != args[0] {
		ts.Fatalf("exit code %d, want %s", code, args[0])
	}
}

// oneline checks that stderr is one line that begins with the program's name,
// and that nothing is on stdout.
func oneLine(ts *testscript.TestScript, neg bool, args []string) {
	text := ts.ReadFile("stderr")
	if !strings.HasPrefix(text, "bench: ") || strings.Count(text, "\n") != 1 {
		ts.Fatalf("stderr is not one line: %q", text)
	}
	if out := ts.ReadFile("stdout"); out != "" {
		ts.Fatalf("stdout is %q", out)
	}
}

// jsonfield PATH VALUE checks one field of the JSON on stdout, such as
// counts.D1mr 10.
func jsonField(ts *testscript.TestScript, neg bool, args []string) {
	var value any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &value))
	for key := range strings.SplitSeq(args[0], ".") {
		switch v := value.(type) {
		case map[string]any:
			value = v[key]
		case []any:
			i, err := strconv.Atoi(key)
			ts.Check(err)
			value = v[i]
		}
	}
	text, err := json.Marshal(value)
	ts.Check(err)
	if string(text) != args[1] {
		ts.Fatalf("%s is %s, want %s", args[0], text, args[1])
	}
}

// islink FILE TARGET checks that a file is a symbolic link to another.
func isLink(ts *testscript.TestScript, neg bool, args []string) {
	if to, err := os.Readlink(ts.MkAbs(args[0])); err != nil || to != args[1] {
		ts.Fatalf("%s is no link to %s: %q, %v", args[0], args[1], to, err)
	}
}
