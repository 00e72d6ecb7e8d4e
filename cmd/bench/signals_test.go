//go:build unix

package main

import (
	"errors"
	"fmt"
	"io/fs"
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
	s := started{exec.Command(name, args...), filepath.Join(beside, "out"), filepath.Join(beside, "err"), make(chan struct{})}
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
		if signal.Ignored(sig) { // under nohup, or in the background of a script, which children inherit
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
				t.Fatalf("it ended, %v, and has written %q, %q", s.ProcessState, text, s.said(t, s.err))
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
	c := start(t, t.TempDir(), "bench", "sim", "--shape", "30000x30000", "--preset", "amd-zen3", "--passes", "1000")
	c.await(t, c.err, func(text string) bool {
		return strings.HasPrefix(text, "note: 900 billion references are looked up one by one, which takes about ")
	})
	c.send(t, syscall.SIGINT)
	<-c.ended
	if status := c.ProcessState.Sys().(syscall.WaitStatus); status.Signal() != syscall.SIGINT {
		t.Errorf("it ended by %v, and not by the signal, which a shell counts as 130", c.ProcessState)
	}
	text := c.said(t, c.err)
	if early, want := "bench: interrupted, nothing is kept\n", "bench: interrupted while simulating 30000x30000, nothing is kept\n"; !strings.HasSuffix(text, want) && !strings.HasSuffix(text, early) {
		t.Errorf("%q, want %q at its end", text, want)
	}
}

// TestSignalsWhileSummarizing: a program that takes long ends at once, after it has said
// that it goes on.
func TestSignalsWhileSummarizing(t *testing.T) {
	dir := t.TempDir()
	text := "float a[10000000], b[10000000];\nvoid f(void) {\nfor (long i = 0; i < 10000000; i++) for (long k = 0; k <= i; k++) a[i] += a[k] + b[i-k];\n}\n"
	if err := os.WriteFile(filepath.Join(dir, "long.c"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	c := start(t, dir, "bench", "sim", "--program", "long.c", "--function", "f")
	c.await(t, c.err, func(text string) bool { return strings.Contains(text, "note: after 5s, ") })
	c.send(t, syscall.SIGINT)
	<-c.ended
	if status := c.ProcessState.Sys().(syscall.WaitStatus); status.Signal() != syscall.SIGINT {
		t.Errorf("it ended by %v, and not by the signal, which a shell counts as 130", c.ProcessState)
	}
}

// TestSignalsWhileSweeping: what was simulated is kept, and what to do is said.
func TestSignalsWhileSweeping(t *testing.T) {
	dir := t.TempDir()
	var shapes []string
	for n := range 300 {
		shapes = append(shapes, fmt.Sprintf("%dx%d", 1000+n, 2000-n))
	}
	space := "shapes: [" + strings.Join(shapes, ", ") + "]\ndtypes: [float32, float64]\nops: [sum, fill, copy]\norders: [row, col]\npads: [0, 1, 2]\n" +
		"caches:\n- {name: tiny, d1: \"1024,2,64\", ll: \"8192,4,64\"}\n"
	if err := os.WriteFile(filepath.Join(dir, "space.yaml"), []byte(space), 0o644); err != nil {
		t.Fatal(err)
	}
	c := start(t, dir, "bench", "sweep", "space.yaml", "-o", "out.txt")
	for record := ""; strings.Count(record, "\n") < 3; {
		time.Sleep(10 * time.Millisecond)
		text, err := os.ReadFile(filepath.Join(dir, "out.txt.part"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		record = string(text)
	}
	c.send(t, syscall.SIGTERM)
	<-c.ended
	text := c.said(t, c.err)
	if said := regexp.MustCompile(`(?m)^bench: interrupted, out.txt.part keeps \d+ of 10800 combinations: the same command continues$`); c.ProcessState.ExitCode() != 143 || !said.MatchString(text) {
		t.Errorf("%v, %q", c.ProcessState, text)
	}
	if got := filesIn(t, dir); got != "[- out.txt.part - space.yaml]" && got != "[- out.txt.part space.yaml]" {
		t.Errorf("there are %s", got)
	}
}

// TestSecondSignalOfSweep: within a simulation that lasts long, the second signal ends the sweep, and says
// that the record stays.
func TestSecondSignalOfSweep(t *testing.T) {
	dir := t.TempDir()
	space := "shapes: [60000x60001, 60001x60002, 60003x60004]\nops: [copy]\nviews: [\"t()\"]\ntiles: [7x13]\ncaches:\n- {name: tiny, d1: \"1024,2,64\", ll: \"8192,4,64\"}\n"
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
	said := regexp.MustCompile(`, out.txt.part keeps (the finished ones|\d of 3 combinations): the same command continues\n$`) // or a slow machine was not in one yet
	if got := c.said(t, c.err); !said.MatchString(got) {
		t.Errorf("%v, %q", c.ProcessState, got)
	}
	if got := filesIn(t, dir); got != "[- out.txt.part - space.yaml]" {
		t.Errorf("there are %s", got)
	}
}

// TestSignalsWithoutResults: verbs of which nothing is kept say so. From when on they
// watch for signals nothing tells: one that came too soon is sent later to another.
func TestSignalsWithoutResults(t *testing.T) {
	for _, test := range []struct{ verb, want string }{
		{"advise --shape 8x16x32x64x32 --view permute(4,2,3,1,0) --op copy --passes 1000000 --time", "interrupted, nothing is advised"},
		{"machine --measure -o m.yaml", "interrupted, nothing is saved"},
		{"run --ab bench --shape 64x64 --count 1000 -o new.txt --ab-out old.txt", "interrupted, of two interleaved programs nothing is kept"},
		{"check --ab bench --quick", "interrupted, of two interleaved programs nothing is kept"},
	} {
		for wait, again := 100*time.Millisecond, true; again; wait *= 2 {
			dir := t.TempDir()
			c := start(t, dir, "bench", strings.Fields(test.verb)...)
			time.Sleep(wait)
			c.send(t, syscall.SIGHUP)
			<-c.ended
			again = c.ProcessState.Sys().(syscall.WaitStatus).Signaled()
			if got := c.said(t, c.err); !again && (c.ProcessState.ExitCode() != 129 || !strings.HasSuffix("\n"+got, "\nbench: "+test.want+"\n")) {
				t.Errorf("bench %s: %v, %q", test.verb, c.ProcessState, got)
			}
			if got := filesIn(t, dir); got != "[]" {
				t.Errorf("bench %s: %s is left", test.verb, got)
			}
		}
	}
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
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		dir := t.TempDir()
		c := start(t, dir, "bench", "run", "--shape", "64x64", "--count", "100000", "--raw", "-o", "kept.txt")
		c.written(t, 3)
		c.send(t, s)
		time.Sleep(time.Millisecond)
		c.send(t, s)
		<-c.ended
		if code := c.ProcessState.ExitCode(); code != 128+int(s) {
			t.Errorf("%v: exit code %d, %s", s, code, c.said(t, c.err))
		}
		text, err := os.ReadFile(filepath.Join(dir, "kept.txt"))
		if err != nil || !strings.Contains(string(text), "\n# interrupted: after ") {
			t.Errorf("%v: the results do not say that they are not all: %v", s, err)
		}
		if got := filesIn(t, dir); got != "[- kept.txt]" {
			t.Errorf("%v: there are %s", s, got)
		}
	}
}

// TestSignalAndNoFile: where the file cannot be put in its place, nothing says that it keeps anything, but
// why it does not.
func TestSignalAndNoFile(t *testing.T) {
	dir := t.TempDir()
	c := start(t, dir, "bench", "run", "--shape", "64x64", "--count", "100000", "--raw", "-o", "gone/lost.txt")
	c.written(t, 3)
	if err := os.RemoveAll(filepath.Join(dir, "gone")); err != nil {
		t.Fatal(err)
	}
	c.send(t, syscall.SIGINT)
	<-c.ended
	said := regexp.MustCompile(`(?m)^bench: interrupted after \d+ of 100000 samples; --out: write gone/lost.txt: no such file or directory$`)
	if text := c.said(t, c.err); c.ProcessState.ExitCode() != 130 || !said.MatchString(text) {
		t.Errorf("%v, %q", c.ProcessState, text)
	}
}

// TestCheckKeeps: of a check that a signal ends the results are kept that --out names, where there are some.
func TestCheckKeeps(t *testing.T) {
	dir := t.TempDir()
	base := start(t, dir, "bench", "run", "--quick", "--filter", ".name:Traverse /kernel:scalar /shape:64x64", "--count", "1", "--sample-time", "10us", "-o", "base.txt")
	<-base.ended
	kept := filepath.Join(dir, "kept.txt")
	for wait := 200 * time.Millisecond; ; wait *= 2 {
		c := start(t, dir, "bench", "check", "--baseline", "base.txt", "--quick", "--filter", ".name:Traverse /kernel:scalar /shape:64x64", "--count", "50000", "-o", "kept.txt")
		time.Sleep(wait)
		c.send(t, syscall.SIGINT)
		<-c.ended
		text, err := os.ReadFile(kept)
		said := c.said(t, c.err)
		switch {
		case err == nil && (c.ProcessState.ExitCode() != 130 || !strings.Contains(string(text), "\n# interrupted: after ") ||
			!strings.Contains(said, "bench: interrupted, nothing is compared, and kept.txt keeps the samples that were finished\n")):
			t.Errorf("%v: %s\n%s", c.ProcessState, said, text)
			return
		case err == nil:
			return
		case wait > time.Minute: // which no machine takes to calibrate and simulate so little
			t.Fatalf("nothing is kept: %s", said)
		}
	}
}

// TestCheckAndNoFile: where that file cannot be put in its place, the check says so.
func TestCheckAndNoFile(t *testing.T) {
	dir := t.TempDir()
	base := start(t, dir, "bench", "run", "--quick", "--filter", ".name:Traverse /kernel:scalar /shape:64x64", "--count", "1", "--sample-time", "10us", "-o", "base.txt")
	<-base.ended
	for wait := 200 * time.Millisecond; ; wait *= 2 {
		c := start(t, dir, "bench", "check", "--baseline", "base.txt", "--quick", "--filter", ".name:Traverse /kernel:scalar /shape:64x64", "--count", "50000", "-o", "gone/lost.txt")
		time.Sleep(wait)
		if err := os.RemoveAll(filepath.Join(dir, "gone")); err != nil {
			t.Fatal(err)
		}
		c.send(t, syscall.SIGINT)
		<-c.ended
		said := c.said(t, c.err)
		switch missing := "bench: interrupted, nothing is compared or kept; --out: write gone/lost.txt: no such file or directory\n"; {
		case c.ProcessState.ExitCode() == 130 && strings.HasSuffix(said, missing):
			return
		case wait > time.Minute:
			t.Fatalf("%v: %q", c.ProcessState, said)
		}
	}
}

// TestSecondSignal: a pass that takes long is not broken off by the first signal, which is answered
// all the same, and is by the second.
func TestSecondSignal(t *testing.T) {
	dir := t.TempDir()
	c := start(t, dir, "bench", "run", "--shape", "1x1", "--view", "expand(1000000,1000000)", "--count", "1", "--times-only", "--raw", "-o", "lost.txt")
	c.written(t, 0)
	if got := filesIn(t, dir); !strings.Contains(got, ".lost.txt.") {
		t.Errorf("nothing is on its way: %s", got)
	}
	time.Sleep(500 * time.Millisecond) // until it is in the pass
	c.send(t, syscall.SIGINT)
	c.await(t, c.err, func(text string) bool {
		return text == "bench: stopping after this pass; Ctrl-C again stops now\n"
	})
	time.Sleep(2 * together)
	c.send(t, syscall.SIGINT)
	<-c.ended
	if status := c.ProcessState.Sys().(syscall.WaitStatus); !status.Signaled() || status.Signal() != syscall.SIGINT {
		t.Errorf("it ended by %v, %s", c.ProcessState, c.said(t, c.err))
	}
	if got := filesIn(t, dir); got != "[]" {
		t.Errorf("%s is left", got)
	}
}

// TestLongSample: a sample of many passes ends after one of them.
func TestLongSample(t *testing.T) {
	c := start(t, t.TempDir(), "bench", "run", "--shape", "64x64", "--count", "1", "--sample-time", "1m", "--times-only")
	c.written(t, 0)
	time.Sleep(500 * time.Millisecond) // until it is in the sample
	c.send(t, syscall.SIGINT)
	<-c.ended
	if text := c.said(t, c.err); c.ProcessState.ExitCode() != 130 || !strings.HasSuffix(text, "bench: interrupted before the first sample\n") {
		t.Errorf("%v, %q", c.ProcessState, text)
	}
}

// TestIgnored: a signal that is ignored, as by nohup, or Ctrl-C in the background of a script, stays so.
func TestIgnored(t *testing.T) {
	for _, s := range []syscall.Signal{syscall.SIGHUP, syscall.SIGINT} {
		c := start(t, t.TempDir(), "sh", "-c", fmt.Sprintf("trap '' %d; exec bench run --shape 64x64 --count 100000 --times-only", s))
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
