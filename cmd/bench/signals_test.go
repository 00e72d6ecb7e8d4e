//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A started command writes to files beside its folder.
type started struct {
	*exec.Cmd
	out, err string        // their names
	ended    chan struct{} // is closed when it has ended
}

func start(t *testing.T, dir, name string, args ...string) started {
	t.Helper()
	beside := t.TempDir()
	s := started{exec.Command(name, args...), filepath.Join(beside, "out"),
		filepath.Join(beside, "err"), make(chan struct{})}
	s.Dir, s.Stdout, s.Stderr = dir, create(t, s.out), create(t, s.err)
	s.begin(t)
	return s
}

func create(t *testing.T, name string) *os.File {
	t.Helper()
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// begin starts the command, which a test that fails does not leave running.
func (s started) begin(t *testing.T) {
	t.Helper()
	s.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0")
	for _, sig := range []os.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT} {
		// under nohup, or in the background of a script, which children inherit
		if signal.Ignored(sig) {
			signal.Notify(make(chan os.Signal, 1), sig)
		}
	}
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = s.Wait() // its exit code is looked at where one is expected
		close(s.ended)
	}()
	t.Cleanup(func() {
		_ = s.Process.Kill()
		<-s.ended
	})
}

// send sends a signal, unless the command has ended.
func (s started) send(t *testing.T, sig os.Signal) {
	t.Helper()
	if err := s.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Fatal(err)
	}
}

// await waits until a file has what is looked for, however long that takes.
func (s started) await(t *testing.T, file string, found func(text string) bool) {
	t.Helper()
	for !found(s.said(t, file)) {
		select {
		case <-s.ended:
			if text := s.said(t, file); !found(text) {
				t.Fatalf("it ended, %v, and has written %q, %q", s.ProcessState, text,
					s.said(t, s.err))
			}
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func (s started) said(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// written waits until the command has written so many benchmark lines.
func (s started) written(t *testing.T, lines int) {
	t.Helper()
	s.await(t, s.out, func(text string) bool {
		return strings.Contains(text, "\n\n") && strings.Count(text, "\nBenchmark") >= lines
	})
}

// TestSignalsWhileSimulating: what takes hours says so, and ends at once.
func TestSignalsWhileSimulating(t *testing.T) {
	c := start(t, t.TempDir(), "bench", "sim", "--shape", "30000x30000", "--preset", "amd-zen3",
		"--passes", "1000")
	c.await(t, c.err, func(text string) bool {
		return strings.HasPrefix(text, "note: 901 billion references are looked up one by one, "+
			"which takes about ")
	})
	c.send(t, syscall.SIGINT)
	<-c.ended
	if status := c.ProcessState.Sys().(syscall.WaitStatus); status.Signal() != syscall.SIGINT {
		t.Errorf("it ended by %v, and not by the signal, which a shell counts as 130",
			c.ProcessState)
	}
	text := c.said(t, c.err)
	if early, want := "bench: interrupted, and what was not finished is lost\n",
		"bench: interrupted while simulating 30000x30000, and what was not finished is lost\n"; !strings.HasSuffix(
		text, want) && !strings.HasSuffix(text, early) {
		t.Errorf("%q, want %q at its end", text, want)
	}
}

// TestSecondSignalOfSweep: within a simulation that lasts long, the second signal ends the sweep,
// and the record stays.
func TestSecondSignalOfSweep(t *testing.T) {
	dir := t.TempDir()
	space := "shapes: [60000x60001, 60001x60002, 60003x60004]\nops: [copy]\nviews: " +
		"[\"t()\"]\ntiles: [7x13]\ncaches:\n- {name: tiny, d1: \"1024,2,64\", ll: \"8192,4,64\"}\n"
	if err := os.WriteFile(filepath.Join(dir, "space.yaml"), []byte(space), 0o644); err != nil {
		t.Fatal(err)
	}
	c := start(t, dir, "bench", "sweep", "space.yaml", "-o", "out.txt")
	for got := ""; got != "[- out.txt.part - space.yaml]"; got = filesIn(t, dir) {
		time.Sleep(10 * time.Millisecond)
	}
	time.Sleep(500 * time.Millisecond) // until it is in a simulation
	c.send(t, syscall.SIGINT)
	time.Sleep(2 * together)
	c.send(t, syscall.SIGINT)
	<-c.ended
	// or a slow machine was not in one yet
	said := regexp.MustCompile(`what was not finished is lost\n$|, out.txt.part keeps \d of 3 combinations: the same command continues\n$`)
	if got := c.said(t, c.err); !said.MatchString(got) {
		t.Errorf("%v, %q", c.ProcessState, got)
	}
	if got := filesIn(t, dir); got != "[- out.txt.part - space.yaml]" {
		t.Errorf("there are %s", got)
	}
}

// TestInterrupted: a verb that is interrupted keeps what was finished, where there is something
// to keep, and says so. Nothing shows from when on it has something. One that was interrupted
// too soon is interrupted later.
func TestInterrupted(t *testing.T) {
	const ab = ", of two interleaved programs nothing is kept"
	const compare = "check --baseline base.txt --quick --filter /shape:64x64 --count 1000"
	const lost = "--out: write gone/lost.txt: no such file or directory"
	for _, test := range []struct{ verb, says, kept string }{
		{"advise --shape 64x64x64x64 --view permute(3,2,1,0) --op copy --passes 1000000 --time",
			", nothing is advised", ""},
		{"machine --measure -o m.yaml", ", nothing is saved", ""},
		{"run --ab bench --shape 64x64 --count 1000 -o new.txt --ab-out old.txt", ab, ""},
		{"check --ab bench --quick", ab, ""},
		{"run --shape 64x64 --sample-time 1m --times-only", " before the first sample", ""},
		{"run --shape 64x64 --count 100000 -o gone/lost.txt",
			` after \d+ of 100000 samples; ` + lost, ""},
		{"run --shape 64x64 --count 100000", ` after \d+ of 100000 samples, which are printed`, ""},
		{"run --shape 64x64 --count 100000 -o kept.txt",
			` after \d+ of 100000 samples, which kept.txt keeps`, "kept.txt"},
		{compare + " -o kept.txt", ", nothing is compared, and kept.txt keeps the samples",
			"kept.txt"},
		{compare + " -o gone/lost.txt", ", nothing is compared or kept; " + lost, ""},
		{"sweep space.yaml -o out.txt", `, out.txt.part keeps \d+ of 3600 combinations`,
			"out.txt.part"},
	} {
		folder := inFolder(t, map[string]string{"space.yaml": manyShapes()})
		interruptAfter(t, "run --shape 64x64 --dtype int32 --count 1 -o base.txt", time.Hour)
		said, code := "", 0
		says := regexp.MustCompile("(?m)^bench: interrupted" + test.says + ".*\n\\z")
		for wait := 50 * time.Millisecond; !says.MatchString(said) &&
			wait < time.Minute; wait *= 2 {
			said, code = interruptAfter(t, test.verb, wait)
		}
		if code != 128+int(syscall.SIGHUP) || !says.MatchString(said) {
			t.Errorf("bench %s: exit code %d, %q", test.verb, code, said)
		}
		want := strings.Fields("base.txt " + test.kept + " space.yaml")
		if got := filesIn(t, folder); got != "[- "+strings.Join(want, " - ")+"]" {
			t.Errorf("bench %s: there are %s, want %s", test.verb, got, want)
		}
	}
}

// interruptAfter runs a command line in a context that ends a while later, as at a signal.
func interruptAfter(t *testing.T, verb string, later time.Duration) (said string, code int) {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	gone, err := filepath.Abs("gone")
	if err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(later, func() {
		_ = os.RemoveAll(gone) // it is missed where it is not gone
		cancel(stopSignal{syscall.SIGHUP})
	})
	defer timer.Stop()
	var stderr strings.Builder
	code = run(ctx, typed(verb), io.Discard, &stderr)
	return stderr.String(), code
}

// manyShapes is a space of many combinations for bench sweep.
func manyShapes() string {
	var shapes []string
	for n := range 300 {
		shapes = append(shapes, fmt.Sprintf("%dx%d", 1000+n, 2000-n))
	}
	return "shapes: [" + strings.Join(shapes, ", ") + "]\n" +
		"dtypes: [float32, float64]\nops: [sum, fill, copy]\norders: [row, col]\n" +
		"caches:\n- {name: tiny, d1: \"1024,2,64\", ll: \"8192,4,64\"}\n"
}

func filesIn(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(entries)
}

// TestSignals: each signal that asks to end keeps what was finished, tells by its
// exit code which it was, and leaves no temporary file; sent twice at once, too, as timeout does.
func TestSignals(t *testing.T) {
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP,
		syscall.SIGQUIT} {
		dir := t.TempDir()
		c := start(t, dir, "bench", "run", "--shape", "64x64", "--count", "100000", "--raw",
			"-o", "kept.txt")
		c.written(t, 3)
		c.send(t, s)
		time.Sleep(time.Millisecond)
		c.send(t, s)
		<-c.ended
		if code := c.ProcessState.ExitCode(); code != 128+int(s) {
			t.Errorf("%v: exit code %d, %s", s, code, c.said(t, c.err))
		}
		text, err := os.ReadFile(filepath.Join(dir, "kept.txt"))
		if err != nil || !strings.Contains(string(text), "\n# interrupted: after ") ||
			string(text) != c.said(t, c.out) {
			t.Errorf("%v: the results are not those printed, or do not say that they are not "+
				"all: %v", s, err)
		}
		if got := filesIn(t, dir); got != "[- kept.txt]" {
			t.Errorf("%v: there are %s", s, got)
		}
	}
}

// TestSecondSignal: a pass that takes long is not broken off by the first signal, which is
// answered all the same. The second breaks it off.
func TestSecondSignal(t *testing.T) {
	for wait := 200 * time.Millisecond; ; wait *= 2 { // until it is in the pass
		dir := t.TempDir()
		c := start(t, dir, "bench", "run", "--shape", "1x1", "--view", "expand(1000000,1000000)",
			"--count", "1", "--times-only", "--raw", "-o", "lost.txt")
		c.written(t, 0)
		if got := filesIn(t, dir); !strings.Contains(got, ".lost.txt.") {
			t.Errorf("nothing is on its way: %s", got)
		}
		time.Sleep(wait)
		c.send(t, syscall.SIGINT)
		c.await(t, c.err, func(text string) bool { return text != "" })
		said := c.said(t, c.err)
		if strings.Contains(said, "interrupted before the first sample") && wait < time.Minute {
			continue
		}
		time.Sleep(2 * together)
		c.send(t, syscall.SIGINT)
		<-c.ended
		status := c.ProcessState.Sys().(syscall.WaitStatus)
		if !strings.Contains(said, "stopping after this pass; Ctrl-C again") ||
			!status.Signaled() || status.Signal() != syscall.SIGINT {
			t.Errorf("it ended by %v, %s", c.ProcessState, said)
		}
		if got := filesIn(t, dir); got != "[]" {
			t.Errorf("%s is left", got)
		}
		return
	}
}

// TestIgnored: a signal that is ignored, as by nohup, or Ctrl-C in the background of a script,
// stays so.
func TestIgnored(t *testing.T) {
	for _, s := range []syscall.Signal{syscall.SIGHUP, syscall.SIGINT} {
		c := start(t, t.TempDir(), "sh", "-c",
			fmt.Sprintf("trap '' %d; exec bench run --shape 64x64 --count 100000 --times-only", s))
		c.written(t, 1)
		c.send(t, s)
		c.written(t, 50)
		c.send(t, syscall.SIGTERM)
		<-c.ended
		if code := c.ProcessState.ExitCode(); code != 143 {
			t.Errorf("%v: exit code %d, %s", s, code, c.said(t, c.err))
		}
	}
}
