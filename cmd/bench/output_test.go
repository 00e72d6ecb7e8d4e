//go:build unix

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
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
	"sim --shape 4x4", "sim --shape 4x4 --json", "sim --shape 4x4 --explain", "sim --preset list",
	"sim --trace a.trace",
	"advise --shape 4x4", "advise --shape 4x4 --json", "advise --shape 4x4 --preset list",
	"layout --shape 4x4",
	"report run.txt",
	"check --baseline run.txt run.txt", "check --baseline run.txt run.txt --format markdown",
	"check --baseline run.txt run.txt --format json",
	"check --baseline run.txt run.txt --format junit",
	"check --baseline run.txt worse.txt",
	"history add run.txt --commit abc --date 2026-11-21T07:14:35Z", "history", "history list",
	"history list --format json",
	"history show Traverse/op=sum/order=row/shape=64x64/dtype=int32/kernel=scalar",
	"history trend", "history trend --format json", "history export", "history export --format csv",
	"export run.txt", "export run.txt --format jsonl", "export run.txt --format bencher",
	"export run.txt --format github-action-benchmark",
	"machine", "machine --json", "machine --preset list", "machine --preset amd-zen3",
	"machine --measure --max-size 8KiB --measure-time 10ms -o m.yaml",
}

const traversed = `sim-d1: 32768,8,64
sim-ll: 8388608,16,64
Unit D1-misses/op assume=exact better=lower
BenchmarkTraverse/op=sum/order=row/shape=64x64/dtype=int32/kernel=scalar 1 1 ns/elem 4096 D-refs/op 256 D1-misses/op
BenchmarkTraverse/op=sum/order=col/shape=64x64/dtype=int32/kernel=scalar 1 2 ns/elem 4096 D-refs/op 256 D1-misses/op
`

// printAll runs all verbs, each with a stdout of its own, and checks the exit code and what
// is on stderr.
func printAll(t *testing.T, open func() (*os.File, error), code int, says string) {
	t.Helper()
	inFolder(t, map[string]string{
		"run.txt":   traversed,
		"worse.txt": strings.ReplaceAll(traversed, " 256 ", " 257 "),
		"a.trace":   " L 1000,4\n",
	})
	for _, verb := range printing {
		if testing.Short() && strings.Contains(verb, "--measure") {
			continue // it takes seconds
		}
		stdout, err := open()
		if err != nil {
			t.Skip(err)
		}
		var stderr bytes.Buffer
		got := run(t.Context(), typed(verb), stdout, &stderr)
		said := strings.Contains(stderr.String(), "bench: write ")
		if got != code || said != (says != "") || !strings.Contains(stderr.String(), says) {
			t.Errorf("bench %s: exit code %d, %q", verb, got, stderr.String())
		}
	}
}

// TestFullStdout: every verb notices that what it prints is lost.
func TestFullStdout(t *testing.T) {
	printAll(t, func() (*os.File, error) { return os.OpenFile("/dev/full", os.O_WRONLY, 0) },
		exitUsage, "no space left on device\n")
}

// TestUnreadStdout: where nobody reads what is printed, nothing is said of it.
func TestUnreadStdout(t *testing.T) {
	printAll(t, func() (*os.File, error) {
		reader, writer, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		return writer, reader.Close()
	}, exitPipe, "")
}

// TestAtFlag: of pages that cannot be had, the flag is told.
func TestAtFlag(t *testing.T) {
	err := fmt.Errorf("a benchmark: %w", &access.FieldError{Field: "pages", Value: "hugetlb",
		Err: errors.New("none")})
	if got := atFlag(err).Error(); got != "--pages hugetlb: none" {
		t.Errorf("%s", got)
	}
	if err := errors.New("another"); atFlag(err) != err {
		t.Error("another error is no other")
	}
}
