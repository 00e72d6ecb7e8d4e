package stridebench

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// TestBenchstatReadsStudies: lines without ns/op are rows like others, and exact.
func TestBenchstatReadsStudies(t *testing.T) {
	file := filepath.Join(t.TempDir(), "run.txt")
	for _, args := range [][]string{
		{"run", "./cmd/bench", "run", "--filter", ".name:(Sets OR MissRatio)", "--D1", "32768,8,64", "-o", file},
		{"tool", "benchstat", "-col", "/order", "-filter", ".name:MissRatio .unit:misses/op", file},
	} {
		out, err := exec.Command("go", args...).Output()
		if err != nil {
			t.Fatalf("go %q: %v", args, err)
		}
		row := regexp.MustCompile(`MissRatio/op=sum/shape=1024x1024/dtype=int32/capacity=32KiB/kernel=scalar +65\.54k ± 0% +1048\.58k ± 0% +\+1500\.00% \(n=1\)`)
		if args[0] == "tool" && !row.Match(out) {
			t.Errorf("no row %v in\n%s", row, out)
		}
	}
}

// TestCIExamples: the workflows of docs/ci.md are YAML.
func TestCIExamples(t *testing.T) {
	text, err := os.ReadFile("docs/ci.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(text), "```yaml\n")[1:]
	for _, block := range blocks {
		block, _, _ = strings.Cut(block, "```\n")
		var value map[string]any
		if err := yaml.Unmarshal([]byte(block), &value); err != nil {
			t.Errorf("%v in\n%s", err, block)
		}
	}
	if len(blocks) != 3 {
		t.Errorf("found %d workflows", len(blocks))
	}
}
