//go:build linux && !race

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestAddressSpace: what a limit of the address space does not leave is refused
// before it is asked for. The race detector reserves more than any limit.
func TestAddressSpace(t *testing.T) {
	cmd := exec.Command("sh", "-c", "ulimit -v 4000000 && exec bench run --shape 100000x100000 "+
		"--count 1")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	_ = cmd.Run() // the code is what is asked for
	if text := stderr.String(); cmd.ProcessState.ExitCode() != exitUsage ||
		strings.Count(text, "\n") != 1 || !strings.Contains(text, "ulimit -v") || stdout.Len() > 0 {
		t.Errorf("exit code %d, %s%s", cmd.ProcessState.ExitCode(), &stdout, text)
	}
}

// TestFullDisk: what cannot be written whole leaves the file as it was.
func TestFullDisk(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.txt")
	if text, err := exec.Command("bench", "run", "--shape", "4x4", "--count", "1", "--sample-time",
		"10us", "--no-calibrate", "-o", file).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	// Of 512 B each, which is more than the head of the results has and less than these.
	cmd := exec.Command("sh", "-c", `ulimit -f 8 && exec bench run --quick --count 1 --sample-time 10us --no-calibrate --times-only --filter '.name:Traverse /kernel:scalar' -o "$0"`, file)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	err = cmd.Run()
	if text := stderr.String(); cmd.ProcessState.ExitCode() != exitUsage ||
		!strings.Contains(text, "too large") {
		t.Errorf("%v: %s", err, text)
	}
	if text, err := os.ReadFile(file); err != nil || !bytes.Equal(text, whole) {
		t.Errorf("the file is %q, %v", text, err)
	}
}
