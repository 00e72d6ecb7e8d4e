//go:build linux && !race

package main

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"
)

// TestAddressSpace: what a limit of the address space does not leave is refused
// before it is asked for. The race detector reserves more than any limit.
func TestAddressSpace(t *testing.T) {
	cmd := exec.Command("sh", "-c", "ulimit -v 4000000 && exec bench run --shape 100000x100000 --count 1")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	_ = cmd.Run() // the code is what is asked for
	if text := stderr.String(); cmd.ProcessState.ExitCode() != exitUsage || strings.Count(text, "\n") != 1 || !strings.Contains(text, "ulimit -v") || stdout.Len() > 0 {
		t.Errorf("exit code %d, %s%s", cmd.ProcessState.ExitCode(), &stdout, text)
	}
}
