//go:build unix

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A started command writes to files beside its folder.
type started struct {
	*exec.Cmd
	out *os.File
}

func start(t *testing.T, dir, name string, args ...string) started {
	t.Helper()
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { out.Close() })
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, out, new(bytes.Buffer)
	cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0")
	if signal.Ignored(syscall.SIGHUP) { // under nohup, which children inherit
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return started{cmd, out}
}

// written waits until the command has written so many benchmark lines.
func (s started) written(t *testing.T, lines int) {
	t.Helper()
	for range 3000 {
		text, _ := os.ReadFile(s.out.Name())
		if bytes.Contains(text, []byte("\n\n")) && bytes.Count(text, []byte("\nBenchmark")) >= lines {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("it writes nothing")
}

// TestSignalsWhileSimulating: what takes hours says so, and ends at once.
func TestSignalsWhileSimulating(t *testing.T) {
	c := start(t, t.TempDir(), "bench", "sim", "--shape", "30000x30000", "--preset", "amd-zen3", "--passes", "1000")
	time.Sleep(2 * time.Second)
	if err := c.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait()
	if status := c.ProcessState.Sys().(syscall.WaitStatus); status.Signal() != syscall.SIGINT {
		t.Errorf("it ended by %v, and not by the signal, which a shell counts as 130", c.ProcessState)
	}
	if text := fmt.Sprint(c.Stderr); text == "" {
		t.Log("a slow machine: it ended before it said anything")
	} else if want := "note: 900 billion references are looked up one by one, which takes about "; !strings.HasPrefix(text, want) {
		t.Errorf("%q, want %q", text, want)
	}
}

// TestSignalsWhileSummarizing: a program that takes long ends at once.
func TestSignalsWhileSummarizing(t *testing.T) {
	dir := t.TempDir()
	text := "float a[10000000], b[10000000];\nvoid f(void) {\nfor (long i = 0; i < 10000000; i++) for (long k = 0; k <= i; k++) a[i] += a[k] + b[i-k];\n}\n"
	if err := os.WriteFile(filepath.Join(dir, "long.c"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	c := start(t, dir, "bench", "sim", "--program", "long.c", "--function", "f")
	time.Sleep(time.Second)
	if err := c.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait()
	if status := c.ProcessState.Sys().(syscall.WaitStatus); status.Signal() != syscall.SIGINT {
		t.Errorf("it ended by %v, and not by the signal, which a shell counts as 130", c.ProcessState)
	}
}

// TestSignalsWithoutResults: verbs of which nothing is kept say so.
func TestSignalsWithoutResults(t *testing.T) {
	for _, test := range []struct{ verb, want string }{
		{"advise --shape 8x16x32x64x32 --view permute(4,2,3,1,0) --op copy --passes 1000000 --time", "interrupted, nothing is advised"},
		{"machine --measure -o m.yaml", "interrupted, nothing is saved"},
		{"run --ab bench --shape 64x64 --count 1000 -o new.txt --ab-out old.txt", "interrupted, of two interleaved programs nothing is kept"},
		{"check --ab bench --quick", "interrupted, of two interleaved programs nothing is kept"},
	} {
		dir := t.TempDir()
		c := start(t, dir, "bench", strings.Fields(test.verb)...)
		time.Sleep(700 * time.Millisecond)
		if err := c.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		_ = c.Wait()
		if c.ProcessState.Sys().(syscall.WaitStatus).Signaled() {
			t.Logf("bench %s: a slow machine: it ended before it watched for signals", test.verb)
		} else if got := fmt.Sprint(c.Stderr); c.ProcessState.ExitCode() != 129 || got != "bench: "+test.want+": signal: hangup\n" {
			t.Errorf("bench %s: %v, %q", test.verb, c.ProcessState, got)
		}
		if got := filesIn(t, dir); got != "[]" {
			t.Errorf("bench %s: %s is left", test.verb, got)
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
// exit code which it was, and leaves no temporary file.
func TestSignals(t *testing.T) {
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		dir := t.TempDir()
		c := start(t, dir, "bench", "run", "--shape", "64x64", "--count", "100000", "-o", "kept.txt")
		c.written(t, 3)
		if err := c.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
		_ = c.Wait() // the code is what is asked for
		if code := c.ProcessState.ExitCode(); code != 128+int(s) {
			t.Errorf("%v: exit code %d, %s", s, code, c.Stderr)
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

// TestSecondSignal: within a sample that lasts long, the first signal has to wait,
// and the second does not.
func TestSecondSignal(t *testing.T) {
	dir := t.TempDir()
	c := start(t, dir, "bench", "run", "--shape", "64x64", "--count", "1", "--sample-time", "1m", "--times-only", "-o", "lost.txt")
	c.written(t, 0)
	time.Sleep(500 * time.Millisecond) // until it is in the sample
	if got := filesIn(t, dir); !strings.Contains(got, ".lost.txt.") {
		t.Errorf("nothing is on its way: %s", got)
	}
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP} {
		if err := c.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
		time.Sleep(100 * time.Millisecond)
	}
	_ = c.Wait()
	if c.ProcessState.ExitCode() == 128+int(syscall.SIGTERM) {
		t.Log("a slow machine: the first signal came before the sample")
	} else if status := c.ProcessState.Sys().(syscall.WaitStatus); !status.Signaled() || status.Signal() != syscall.SIGHUP {
		t.Errorf("it ended by %v, %s", c.ProcessState, c.Stderr)
	}
	if got := filesIn(t, dir); got != "[]" {
		t.Errorf("%s is left", got)
	}
}

// TestNoHup: a hang-up that is ignored, as by nohup, stays so.
func TestNoHup(t *testing.T) {
	c := start(t, t.TempDir(), "sh", "-c", "trap '' HUP; exec bench run --shape 64x64 --count 100000 --times-only")
	c.written(t, 1)
	if err := c.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	c.written(t, 50)
	if err := c.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait()
	if code := c.ProcessState.ExitCode(); code != 130 {
		t.Errorf("exit code %d, %s", code, c.Stderr)
	}
}
