package stridebench

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stridebench/stridebench/results/outfile"
)

// TestREADME runs every `$ go tool benchstat` and `$ bench` block of the README and
// of pages of docs, and compares what it prints. With README=write in the
// environment it writes what they print into these pages instead (make example).
// Whoever reads the README for the first time reads it to its end, if it is short.
func TestREADME(t *testing.T) {
	bench(t)
	for page, blocks := range map[string]int{"README.md": 1, "docs/start.md": 3,
		"docs/results.md": 1, "docs/workload.md": 1, "docs/model.md": 3, "docs/exact.md": 4,
		"docs/advise.md": 1} {
		if n := runBlocks(t, page); n != blocks {
			t.Errorf("found %d blocks in %s that can be run, want %d", n, page, blocks)
		}
	}
	text, err := os.ReadFile("README.md")
	if n := strings.Count(string(text), "\n"); err != nil || n > 120 {
		t.Errorf("README.md has %d lines, want at most 120 (%v)", n, err)
	}
}

func runBlocks(t *testing.T, page string) (blocks int) {
	write := os.Getenv("README") == "write"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(string(text), "```")
	for i, block := range parts {
		command, want, _ := strings.Cut(strings.TrimPrefix(block, "\n"), "\n")
		command, prompt := strings.CutPrefix(command, "$ ")
		if i%2 == 0 || !prompt {
			continue
		}
		blocks++
		got, err := exec.Command("sh", "-c", command).Output()
		if err != nil {
			t.Errorf("%s: %v", command, err)
		}
		parts[i] = strings.TrimSuffix(block, want) + string(got)
		if string(got) != want && !write {
			t.Errorf("%s prints\n%s\n%s has\n%s", command, got, page, want)
		}
	}
	if write {
		if err := outfile.WriteFile(page, []byte(strings.Join(parts, "```"))); err != nil {
			t.Error(err)
		}
	}
	return blocks
}
