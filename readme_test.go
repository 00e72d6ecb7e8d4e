package stridebench

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestREADME runs every `$ go tool benchstat` and `$ bench` block of the README
// and of docs/workload.md and compares what it prints.
func TestREADME(t *testing.T) {
	for page, blocks := range map[string]int{"README.md": 4, "docs/workload.md": 1} {
		if n := runBlocks(t, page); n != blocks {
			t.Errorf("found %d blocks in %s that can be run, want %d", n, page, blocks)
		}
	}
}

func runBlocks(t *testing.T, page string) (blocks int) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for i, block := range strings.Split(string(text), "```") {
		command, want, _ := strings.Cut(strings.TrimPrefix(block, "\n"), "\n")
		command, prompt := strings.CutPrefix(command, "$ ")
		if i%2 == 0 || !prompt {
			continue
		}
		blocks++
		if args, ours := strings.CutPrefix(command, "bench "); ours {
			command = "go run ./cmd/bench " + args
		}
		got, err := exec.Command("sh", "-c", command).Output()
		if err != nil {
			t.Errorf("%s: %v", command, err)
		}
		if string(got) != want {
			t.Errorf("%s prints\n%s\n%s has\n%s", command, got, page, want)
		}
	}
	return blocks
}
