package stridebench

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestREADME runs every `$ go tool benchstat` and `$ bench` block of the README
// and compares what it prints.
func TestREADME(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := 0
	for i, block := range strings.Split(string(text), "```\n") {
		command, want, ok := strings.Cut(block, "\n")
		command, prompt := strings.CutPrefix(command, "$ ")
		if i%2 == 0 || !ok || !prompt {
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
			t.Errorf("%s prints\n%s\nREADME.md has\n%s", command, got, want)
		}
	}
	if blocks != 4 {
		t.Errorf("found %d blocks that can be run", blocks)
	}
}
