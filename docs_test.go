package stridebench

import (
	"os"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

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
