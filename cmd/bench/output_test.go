//go:build unix

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stridebench/stridebench/access"
)

// printing are the verbs, each in all forms of its output; in a folder with the
// results run.txt.
var printing = []string{
	"--help", "help run", "completion bash",
	"run --shape 8x8 --count 1 --sample-time 10us",
	"run --shape 8x8 --count 1 --sample-time 10us -o new.txt",
	"list --quick",
	"sim --shape 4x4", "sim --shape 4x4 --json", "sim --shape 4x4 --explain", "sim --preset list", "sim --trace a.trace",
	"advise --shape 4x4", "advise --shape 4x4 --json", "advise --shape 4x4 --preset list",
	"layout --shape 4x4",
	"report run.txt",
	"check --baseline run.txt run.txt", "check --baseline run.txt run.txt --format markdown",
	"check --baseline run.txt run.txt --format json", "check --baseline run.txt run.txt --format junit",
	"check --baseline run.txt worse.txt",
	"history add run.txt --commit abc --date 2026-11-21T07:14:35Z", "history", "history list", "history list --format json",
	"history show Traverse/op=sum/order=row/shape=64x64/dtype=int32/kernel=scalar",
	"history trend", "history trend --format json", "history export", "history export --format csv",
	"export run.txt", "export run.txt --format jsonl", "export run.txt --format bencher", "export run.txt --format github-action-benchmark",
	"machine", "machine --json", "machine --presets", "machine --preset amd-zen3",
	"machine --measure --max-size 8KiB --measure-time 10ms -o m.yaml",
}

const traversed = `sim-d1: 32768,8,64
sim-ll: 8388608,16,64
Unit D1-misses/op assume=exact better=lower
BenchmarkTraverse/op=sum/order=row/shape=64x64/dtype=int32/kernel=scalar 1 1 ns/elem 4096 D-refs/op 256 D1-misses/op
BenchmarkTraverse/op=sum/order=col/shape=64x64/dtype=int32/kernel=scalar 1 2 ns/elem 4096 D-refs/op 256 D1-misses/op
`

// printAll runs all verbs with a stdout, and returns for each the exit code and
// what it says on stderr.
func printAll(t *testing.T, stdout *os.File, check func(verb string, code int, stderr string)) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"run.txt": traversed, "worse.txt": strings.ReplaceAll(traversed, " 256 ", " 257 "), "a.trace": " L 1000,4\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, verb := range printing {
		cmd := exec.Command("bench", strings.Fields(verb)...)
		var stderr bytes.Buffer
		cmd.Dir, cmd.Stdout, cmd.Stderr = dir, stdout, &stderr
		cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0", "HOME="+dir, "XDG_CACHE_HOME="+dir)
		if err := cmd.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) {
			t.Fatal(err)
		}
		check(verb, cmd.ProcessState.ExitCode(), stderr.String())
	}
}

// TestFullStdout: every verb notices that what it prints is lost.
func TestFullStdout(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	printAll(t, full, func(verb string, code int, stderr string) {
		if code != exitUsage || !strings.Contains(stderr, "bench: write /dev/stdout: no space left on device\n") {
			t.Errorf("bench %s: exit code %d, %q", verb, code, stderr)
		}
	})
}

// TestUnreadStdout: where nobody reads what is printed, nothing is said of it; of a phase
// that takes long, perhaps.
func TestUnreadStdout(t *testing.T) {
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Close()
	if err := reader.Close(); err != nil {
		t.Fatal(err)
	}
	printAll(t, writer, func(verb string, code int, stderr string) {
		if code != exitPipe || strings.Contains(stderr, "write") || strings.Contains(stderr, "pipe") {
			t.Errorf("bench %s: exit code %d, %q", verb, code, stderr)
		}
	})
}

// TestAtPages: of pages that cannot be had, the flag is told.
func TestAtPages(t *testing.T) {
	err := fmt.Errorf("a benchmark: %w", &access.FieldError{Field: access.FieldPages, Value: "hugetlb", Err: errors.New("none")})
	if got := atPages(err).Error(); got != "--pages hugetlb: none" {
		t.Errorf("%s", got)
	}
	if err := errors.New("another"); atPages(err) != err {
		t.Error("another error is no other")
	}
}
