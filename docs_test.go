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
		{bench(t), "run", "--filter", ".name:(Sets OR MissRatio)", "--D1", "32768,8,64",
			"-o", file},
		{"go", "tool", "benchstat", "-col", "/order", "-filter",
			".name:MissRatio .unit:misses/op", file},
	} {
		out, err := exec.Command(args[0], args[1:]...).Output()
		if err != nil {
			t.Fatalf("%q: %v", args, err)
		}
		row := regexp.MustCompile(`MissRatio/op=sum/shape=1024x1024/dtype=int32/capacity=32KiB/kernel=scalar +65\.54k ± 0% +1048\.58k ± 0% +\+1500\.00% \(n=1\)`)
		if args[0] == "go" && !row.Match(out) {
			t.Errorf("no row %v in\n%s", row, out)
		}
	}
}

// TestCIExamples: the workflows of docs/ci.md and deploy/github are YAML.
func TestCIExamples(t *testing.T) {
	text, err := os.ReadFile("docs/ci.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(text), "```yaml\n")[1:]
	if len(blocks) != 2 {
		t.Errorf("found %d workflows in docs/ci.md", len(blocks))
	}
	for i := range blocks {
		blocks[i], _, _ = strings.Cut(blocks[i], "```\n")
	}
	for _, name := range []string{"suite.yml", "fleet.yml"} {
		text, err := os.ReadFile(filepath.Join("deploy", "github", name))
		if err != nil {
			t.Fatal(err)
		}
		blocks = append(blocks, string(text))
	}
	for _, block := range blocks {
		var value map[string]any
		if err := yaml.Unmarshal([]byte(block), &value); err != nil {
			t.Errorf("%v in\n%s", err, block)
		}
	}
}

// TestExamplesHaveFiles: what README.md and docs/start.md have a newcomer type reads files that a
// checkout has.
func TestExamplesHaveFiles(t *testing.T) {
	read := 0
	for _, page := range []string{"README.md", filepath.Join("docs", "start.md")} {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range regexp.MustCompile(
			`(?m)^(?:\$ )?bench (?:sim --program|import) (\S+)`).FindAllStringSubmatch(string(text),
			-1) {
			read++
			if _, err := os.Stat(match[1]); err != nil {
				t.Errorf("%s: %q: %v", page, match[0], err)
			}
		}
	}
	if read < 4 {
		t.Errorf("%d files are read", read)
	}
}

// TestCICommits: the workflow names the commit of what it adds to a history, because a program
// built without git's stamp does not know its commit.
func TestCICommits(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("deploy", "github", "suite.yml"))
	if err != nil {
		t.Fatal(err)
	}
	added := 0
	for line := range strings.Lines(string(text)) {
		if strings.Contains(line, "bench history") && strings.Contains(line, " add ") {
			if added++; !strings.Contains(line, "--commit") || !strings.Contains(line, "--date") {
				t.Errorf("%q", line)
			}
		}
	}
	if added == 0 {
		t.Error("nothing is added")
	}
}

// TestWorkflows: what CI runs are targets of the Makefile, with the tests and the
// check of generated code among them.
func TestWorkflows(t *testing.T) {
	makefile, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(".github/workflows/*.yml")
	if err != nil {
		t.Fatal(err)
	}
	called := map[string]bool{}
	for _, file := range files {
		for _, target := range madeBy(t, file) {
			called[target] = true
			if !regexp.MustCompile("(?m)^" + regexp.QuoteMeta(target) + ":").Match(makefile) {
				t.Errorf("%s: the Makefile has no target %q", file, target)
			}
		}
	}
	if !called["test"] || !called["generated"] {
		t.Errorf("of make test and make generated, %v run %v", files, called)
	}
	script, err := os.ReadFile(".ci/run")
	if err != nil {
		t.Fatal(err)
	}
	for target := range called {
		if !regexp.MustCompile(`(?m)^\s*make ` + regexp.QuoteMeta(target) + "\\b").Match(script) {
			t.Errorf(".ci/run lacks make %s", target)
		}
	}
}

// madeBy lists the targets that the steps of a workflow make. Steps run nothing
// else: what they do can be done anywhere.
func madeBy(t *testing.T, file string) (targets []string) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var workflow struct {
		Jobs map[string]struct {
			Steps []struct{ Run string }
		}
	}
	if err := yaml.Unmarshal(text, &workflow); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	for name, job := range workflow.Jobs {
		for _, step := range job.Steps {
			words := strings.Fields(step.Run)
			switch {
			case len(words) == 0:
			case len(words) > 1 && words[0] == "make":
				targets = append(targets, words[1])
			default:
				t.Errorf("%s: job %s runs %q, want a target of make", file, name, step.Run)
			}
		}
	}
	return targets
}

// TestLinks: what pages link to in the tree is there.
func TestLinks(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#: ]+)(#[^) ]*)?\)`)
	links := 0
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md", "scripts/*/*.md"} {
		pages, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, page := range pages {
			text, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			for _, found := range link.FindAllStringSubmatch(string(text), -1) {
				links++
				if _, err := os.Stat(filepath.Join(filepath.Dir(page), found[1])); err != nil {
					t.Errorf("%s links to %s: %v", page, found[1], err)
				}
			}
		}
	}
	if links < 20 {
		t.Errorf("found %d links", links)
	}
}
