package stridebench

import (
	"bytes"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// An action is what deploy/github/action.yml says.
type action struct {
	Inputs map[string]struct {
		Description string
		Required    bool
		Default     string
	}
	Outputs map[string]struct{ Description, Value string }
	Runs    struct {
		Using string
		Steps []struct {
			ID, If, Uses, Shell, Run string
			With, Env                map[string]string
		}
	}
}

// A runner does what GitHub's runner does with a composite action, in a repository of its own
// that has C loops and no go.mod.
type runner struct {
	t       *testing.T
	action  action
	folder  string // the repository
	path    string // $PATH, to which steps add
	results string // the action's output of this name
}

// newRunner reads the action and makes the repository.
func newRunner(t *testing.T, files map[string]string) *runner {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("no bash here, which is what the action's steps are written for")
	}
	r := &runner{t: t, folder: t.TempDir(), path: os.Getenv("PATH")}
	text, err := os.ReadFile("deploy/github/action.yml")
	if err == nil {
		err = yaml.Unmarshal(text, &r.action)
	}
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		r.write(name, text)
	}
	return r
}

func (r *runner) write(name, text string) {
	name = filepath.Join(r.folder, name)
	err := os.MkdirAll(filepath.Dir(name), 0o777)
	if err == nil {
		err = os.WriteFile(name, []byte(text), 0o666)
	}
	if err != nil {
		r.t.Fatal(err)
	}
}

var expression = regexp.MustCompile(`\$\{\{ *(.*?) *\}\}`)

// value is a text with GitHub's expressions evaluated: alternatives (||) of inputs, of the
// action's ref, of steps' outputs and of texts in quotes.
func (r *runner) value(text string, inputs map[string]string) string {
	return expression.ReplaceAllStringFunc(text, func(found string) string {
		for term := range strings.SplitSeq(expression.FindStringSubmatch(found)[1], " || ") {
			value, known := strings.CutPrefix(term, "inputs.")
			if known {
				if _, known = r.action.Inputs[value]; known {
					value = inputs[value]
				}
			} else if term == "github.action_ref" {
				value, known = "v1.2.3", true
			} else if term == "steps.gate.outputs.results" {
				value, known = r.results, true
			} else if len(term) > 1 && term[0] == '\'' {
				value, known = strings.Trim(term, "'"), true
			}
			if !known {
				r.t.Fatalf("%q is not an expression that this test knows", found)
			}
			if value != "" {
				return value
			}
		}
		return ""
	})
}

// do runs the action and returns its exit code, its Markdown and its log.
func (r *runner) do(with map[string]string) (code int, summary, log string) {
	r.t.Helper()
	inputs := map[string]string{}
	for name, input := range r.action.Inputs {
		inputs[name] = input.Default
	}
	maps.Copy(inputs, with)
	temp := r.t.TempDir()
	for _, step := range r.action.Runs.Steps {
		if step.If != "" && step.If != "inputs.bench == ''" {
			r.t.Fatalf("%q is not a condition that this test knows", step.If)
		}
		if step.If != "" && inputs["bench"] != "" || step.Uses != "" {
			continue
		}
		if step.Shell != "bash" || strings.Contains(step.Run, "${{") {
			r.t.Fatalf("a step of shell %q runs %q: want bash, and inputs in its environment alone",
				step.Shell, step.Run)
		}
		cmd := exec.Command("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step.Run)
		cmd.Dir = r.folder
		here, err := filepath.Abs("deploy/github")
		if err != nil {
			r.t.Fatal(err)
		}
		file := func(name string) string { return name + "=" + filepath.Join(temp, name) }
		cmd.Env = []string{"PATH=" + r.path, "HOME=" + temp, "RUNNER_TEMP=" + temp,
			"GITHUB_ACTION_PATH=" + here,
			"GITHUB_WORKSPACE=" + r.folder, file("GITHUB_STEP_SUMMARY"), file("GITHUB_OUTPUT"),
			file("GITHUB_PATH")}
		for name, value := range step.Env {
			cmd.Env = append(cmd.Env, name+"="+r.value(value, inputs))
		}
		out, err := cmd.CombinedOutput()
		log += string(out)
		if code = cmd.ProcessState.ExitCode(); code < 0 {
			r.t.Fatalf("%v\n%s", err, out)
		}
		if added := readMaybe(r.t, filepath.Join(temp, "GITHUB_PATH")); added != "" {
			r.path = strings.TrimSpace(added) + string(os.PathListSeparator) + r.path
		}
		if code != 0 {
			break
		}
	}
	_, r.results, _ = strings.Cut(strings.TrimSpace(readMaybe(r.t,
		filepath.Join(temp, "GITHUB_OUTPUT"))), "results=")
	return code, readMaybe(r.t, filepath.Join(temp, "GITHUB_STEP_SUMMARY")), log
}

// readMaybe is the text of a file, "" if there is none.
func readMaybe(t *testing.T, name string) string {
	text, err := os.ReadFile(name)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(text)
}

// newResults are the results that a summary shows.
var newResults = regexp.MustCompile("(?s)<details>.*?\n```\n(.*?)```\n\n</details>\n$")

const (
	gemm = `void gemm(double A[N][N], double B[N][N], double C[N][N]) {
#pragma scop
  for (int i = 0; i < N; i++)
    for (int k = 0; k < N; k++)
      for (int j = 0; j < N; j++)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
`
	solver = `double u[500][500];
void sweep(void) {
  for (int i = 1; i < 499; i++)
    for (int j = 1; j < 499; j++)
      u[i][j] = (u[i-1][j] + u[i+1][j]) / 2;
}
`
)

// documented is what the first workflow of docs/ci.md gives the action.
func documented(t *testing.T) map[string]string {
	text, err := os.ReadFile("docs/ci.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(text), "```yaml\n")
	block, _, _ = strings.Cut(block, "```\n")
	var workflow struct {
		Jobs map[string]struct {
			Steps []struct {
				Uses string
				With map[string]string
			}
		}
	}
	if err := yaml.Unmarshal([]byte(block), &workflow); err != nil {
		t.Fatal(err)
	}
	for _, job := range workflow.Jobs {
		for _, step := range job.Steps {
			if strings.HasPrefix(step.Uses, "stridebench/stridebench/deploy/github@") {
				return step.With
			}
		}
	}
	t.Fatalf("no step uses the action in\n%s", block)
	return nil
}

// TestAction does with deploy/github what GitHub does.
func TestAction(t *testing.T) {
	if testing.Short() {
		t.Skip("the action's steps take as long as all else here: make test-deep")
	}
	path := bench(t)
	for name, test := range map[string]func(*testing.T, string){"loops": actionOnLoops,
		"suite": actionOnSuite, "inputs": actionInputs, "install": actionInstalls} {
		t.Run(name, func(t *testing.T) { test(t, path) })
	}
}

// actionOnLoops: the workflow of docs/ci.md works in a repository without go.mod. Without a
// baseline it fails and shows one. With that one it passes. Loops that miss more fail it, and so
// does what vanished.
func actionOnLoops(t *testing.T, bench string) {
	r := newRunner(t, map[string]string{"src/gemm.c": gemm, "src/solver.c": solver})
	with := documented(t)
	with["bench"] = bench
	expect := func(with map[string]string, code int, shown ...string) string {
		t.Helper()
		got, summary, log := r.do(with)
		if got != code {
			t.Errorf("exit code %d, want %d", got, code)
		}
		for _, text := range shown {
			if !strings.Contains(summary, text) {
				t.Errorf("the summary lacks %q:\n%s", text, summary)
			}
		}
		if annotated := strings.Contains(log, "::error title=bench::"); annotated != (code != 0) {
			t.Errorf("exit code %d and the log\n%s", got, log)
		}
		return summary
	}
	accept := func(summary string) {
		t.Helper()
		found := newResults.FindStringSubmatch(summary)
		if found == nil {
			t.Fatalf("no results in\n%s", summary)
		}
		r.write(with["baseline"], found[1])
		if text := readMaybe(t, r.results); text != found[1] {
			t.Errorf("the output results is a file of\n%s\nand the summary has\n%s", text, found[1])
		}
	}
	accept(expect(with, 2, "no baseline yet", "`ci/loops.txt` does not exist"))
	if summary := expect(with, 0, "No regression",
		"of <code>the new results</code> against <code>ci/loops.txt</code>"); newResults.MatchString(summary) {
		t.Errorf("results that are those of the baseline are shown:\n%s", summary)
	}

	swapped := strings.NewReplacer("int k = 0; k < N; k++", "int j = 0; j < N; j++",
		"int j = 0; j < N; j++", "int k = 0; k < N; k++").Replace(gemm)
	r.write("src/gemm.c", swapped)
	worse := expect(with, 1, "3 regressions",
		"<code>Program/file=gemm.c/N=1000</code> | <code>D1-misses/op</code>")
	if strings.Contains(worse[:strings.Index(worse, "To accept the new results")], "solver") {
		t.Errorf("solver.c is named, which did not change:\n%s", worse)
	}
	accept(worse)
	expect(with, 0, "No regression")

	fewer := maps.Clone(with)
	fewer["loops"] = "src/gemm.c -D N=1000"
	expect(fewer, 1, "vanished", "file=solver.c/function=sweep")
	fewer["flags"] = "--allow-vanished --exact-tolerance 1%"
	expect(fewer, 0, "No regression")
	r.write(with["baseline"], "nonsense\n")
	expect(with, 2, "nothing was compared", with["baseline"])
}

// actionOnSuite: a workload has a gate too, of its counts alone.
func actionOnSuite(t *testing.T, bench string) {
	r := newRunner(t, map[string]string{
		"ci/suite.yaml": "tensors:\n  x: {shape: 64x64}\nbenchmarks:\n  - {tensor: x, order: " +
			"[row, col], kernel: scalar}\n",
		"ci/caches.yaml": "levels:\n  - {name: L1, size: 1024, ways: 2, line: 64}\n  - {name: " +
			"L2, size: 65536, ways: 4, line: 64}\n",
	})
	with := map[string]string{"bench": bench, "suite": "ci/suite.yaml", "baseline": "ci/suite.txt"}
	_, summary, log := r.do(with)
	found := newResults.FindStringSubmatch(summary)
	if found == nil {
		t.Fatalf("%s%s", summary, log)
	}
	r.write("ci/suite.txt", found[1])
	if code, summary, _ := r.do(with); code != 0 || !strings.Contains(summary, "No regression") {
		t.Errorf("code %d: %s", code, summary)
	}
	r.write("ci/suite.yaml", "tensors:\n  x: {shape: 64x64}\nbenchmarks:\n  - {tensor: x, order: "+
		"row, kernel: scalar}\n")
	if code, summary, _ := r.do(with); code != 1 || !strings.Contains(summary, "/order=col") {
		t.Errorf("code %d: %s", code, summary)
	}
	with["caches"] = "ci/caches.yaml"
	if code, summary, _ := r.do(with); code != 2 || strings.Contains(summary, "No regression") {
		t.Errorf("in other caches: code %d: %s", code, summary)
	}
}

// actionInputs: what is wrong with inputs is said in one line, with the input's name.
func actionInputs(t *testing.T, bench string) {
	r := newRunner(t, map[string]string{"src/gemm.c": gemm, "sub/gemm.c": gemm,
		"ci/loops.txt": "x\n"})
	for _, c := range []struct {
		with map[string]string
		says []string
	}{
		{map[string]string{}, []string{"loops and suite are both empty"}},
		{map[string]string{"loops": "\n  \n"}, []string{"loops has only empty lines"}},
		{map[string]string{"loops": "src/gemm.c", "suite": "s.yaml"},
			[]string{"loops and suite are both given"}},
		{map[string]string{"loops": "src/gemm.c", "baseline": ""},
			[]string{"baseline is empty", "ci/loops.txt"}},
		{map[string]string{"loops": "src/absent.c"},
			[]string{"loops: src/absent.c: ", "no such file"}},
		{map[string]string{"loops": "src/gemm.c -D N=9\nsrc/gemm.c -D N=9 --function gem"},
			[]string{"loops: src/gemm.c -D N=9 --function gem: ", "no function gem is defined"}},
		{map[string]string{"loops": "src/gemm.c --functoin gemm"},
			[]string{"loops: src/gemm.c --functoin gemm: ", "--functoin"}},
		{map[string]string{"loops": "src/gemm.c"}, []string{"loops: src/gemm.c: ", "N"}},
		{map[string]string{"loops": "src/gemm.c -D N=9\nsub/gemm.c -D N=9"},
			[]string{"two lines have results of one name", "file=gemm.c", "ln -s"}},
		{map[string]string{"loops": "src/gemm.c -D N=9", "caches": "ci/absent.yaml"},
			[]string{"ci/absent.yaml"}},
		{map[string]string{"loops": "src/gemm.c -D N=9", "flags": "--toleranec 1%"},
			[]string{"--toleranec"}},
		{map[string]string{"suite": "ci/absent.yaml"}, []string{"suite: ci/absent.yaml: "}},
		{map[string]string{"loops": "src/gemm.c -D N=9", "bench": "bin/absent"},
			[]string{"bench: bin/absent is not a program"}},
	} {
		with := map[string]string{"bench": bench, "baseline": "ci/loops.txt"}
		maps.Copy(with, c.with)
		code, summary, log := r.do(with)
		said := ""
		for line := range strings.Lines(log) {
			if text, found := strings.CutPrefix(line, "::error title=bench::"); found {
				said += text
			}
		}
		if code != 2 || strings.Count(said, "\n") != 1 ||
			!strings.Contains(summary, strings.ReplaceAll(said, "%25", "%")) {
			t.Errorf("%v: code %d, summary\n%slog\n%s", c.with, code, summary, log)
		}
		for _, text := range c.says {
			if !strings.Contains(said, text) {
				t.Errorf("%v: %q is not in %s", c.with, text, said)
			}
		}
	}
}

// actionInstalls: without a bench of the user's, Go is set up and the action's own version
// of this module's program is installed, or the one that is asked for.
func actionInstalls(t *testing.T, bench string) {
	r := newRunner(t, map[string]string{"src/gemm.c": gemm})
	if first := r.action.Runs.Steps[0]; !strings.HasPrefix(first.Uses, "actions/setup-go@") ||
		first.If == "" {
		t.Errorf("the first step is %+v", first)
	}
	stub := t.TempDir()
	// This go notes what it is to install, and installs this tree's program.
	script := "#!/bin/sh\necho \"$@\" >" + stub + "/asked\nmkdir -p \"$GOBIN\"\ncp " + bench +
		" \"$GOBIN/bench\"\n"
	if err := os.WriteFile(filepath.Join(stub, "go"), []byte(script), 0o777); err != nil {
		t.Fatal(err)
	}
	module, err := exec.Command("go", "list", "./cmd/bench").Output()
	if err != nil {
		t.Fatal(err)
	}
	path := stub + string(os.PathListSeparator) + r.path
	for version, want := range map[string]string{"": "v1.2.3", "v0.9.0": "v0.9.0"} {
		r.path = path
		code, summary, log := r.do(map[string]string{"loops": "src/gemm.c -D N=9",
			"baseline": "ci/loops.txt", "version": version})
		if code != 2 || !strings.Contains(summary, "no baseline yet") {
			t.Errorf("code %d: %s%s", code, summary, log)
		}
		if got := readMaybe(t, filepath.Join(stub,
			"asked")); got != "install "+string(bytes.TrimSpace(module))+"@"+want+"\n" {
			t.Errorf("version %q: go %s", version, got)
		}
	}
}

// TestActionIsDescribed: each input has a description, and each is used.
func TestActionIsDescribed(t *testing.T) {
	r := newRunner(t, nil)
	text := readMaybe(t, "deploy/github/action.yml")
	for _, name := range slices.Sorted(maps.Keys(r.action.Inputs)) {
		if r.action.Inputs[name].Description == "" ||
			!strings.Contains(text, "${{ inputs."+name+" ") {
			t.Errorf("input %s: %+v", name, r.action.Inputs[name])
		}
	}
	if r.action.Runs.Using != "composite" || r.action.Outputs["results"].Value != "${{ steps.gate.outputs.results }}" {
		t.Errorf("%+v", r.action)
	}
}

// TestFleetBuildsThisRepository: the workflow that is copied into others checks out this one.
func TestFleetBuildsThisRepository(t *testing.T) {
	text := readMaybe(t, "deploy/github/fleet.yml")
	checkouts := strings.Count(text, "uses: actions/checkout@")
	if here := strings.Count(text, "repository: stridebench/stridebench\n"); checkouts == 0 ||
		here != checkouts {
		t.Errorf("%d of %d checkouts are of this repository", here, checkouts)
	}
}
