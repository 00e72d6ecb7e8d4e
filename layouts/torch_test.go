package layouts_test

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stridebench/stridebench/layouts"
)

// A torchCase is one line of views.jsonl.gz, recorded from PyTorch 1.13.
type torchCase struct {
	ID    string
	DType string
	Start struct {
		Shape, Strides []int
		Offset         int
	}
	Ops []struct {
		Op   string
		Args json.RawMessage
	}
	Result *torchResult
	Error  string
}

type torchResult struct {
	Shape, Strides []int
	Offset, Numel  int
	IsContiguous   bool `json:"is_contiguous"`
	Values         []int
}

func readTorch(t *testing.T, path string) []torchCase {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var cases []torchCase
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var c torchCase
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		cases = append(cases, c)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return cases
}

// chain spells a case's operations as --view does, or returns false where one
// of them is no view of ours: flip copies in PyTorch, and flatten copies where
// strides do not allow a view.
func chain(c torchCase) (string, bool) {
	var calls []string
	for _, op := range c.Ops {
		if op.Op == "flip" || op.Op == "flatten" ||
			!slices.ContainsFunc(layouts.ViewOps(), func(u string) bool { return strings.HasPrefix(u, op.Op+"(") }) {
			return "", false
		}
		args := strings.Trim(string(op.Args), "[]")
		if op.Op == "slice" && strings.Contains(args, "null") {
			return "", false
		}
		calls = append(calls, op.Op+"("+args+")")
	}
	return strings.Join(calls, "."), true
}

// TestTorchViews replays the recorded view operations that Layout has.
func TestTorchViews(t *testing.T) {
	paths := []string{"testdata/torch/views.jsonl.gz"}
	if dir := os.Getenv("TORCH_VECTORS"); dir != "" {
		paths = append(paths, filepath.Join(dir, "views.jsonl.gz"))
	}
	for _, path := range paths {
		replayed, failing := 0, 0
		for _, c := range readTorch(t, path) {
			view, ok := chain(c)
			if !ok {
				continue
			}
			replayed++
			start, err := layouts.New(c.Start.Shape, c.Start.Strides, c.Start.Offset)
			if err != nil {
				t.Fatalf("%s: %v", c.ID, err)
			}
			got, err := start.Apply(view)
			if c.Error != "" {
				failing++
				if err == nil {
					t.Errorf("%s: %v.%s gives %v, PyTorch refuses: %s", c.ID, start, view, got, c.Error)
				}
				continue
			}
			if err != nil {
				t.Errorf("%s: %v.%s: %v", c.ID, start, view, err)
				continue
			}
			have := torchResult{Shape: got.Shape(), Strides: got.Strides(), Offset: got.Offset(),
				Numel: got.Numel(), IsContiguous: got.IsContiguous()}
			for at := range got.Offsets() { // the storage holds 0, 1, 2, ...
				if have.Values = append(have.Values, at); len(have.Values) == 64 {
					break
				}
			}
			want := *c.Result
			if c.DType != "int64" { // the others wrap, round, or are complex
				have.Values, want.Values = nil, nil
			}
			if diff := cmp.Diff(normal(want), normal(have)); diff != "" {
				t.Errorf("%s: %v.%s (-PyTorch +ours):\n%s", c.ID, start, view, diff)
			}
		}
		t.Logf("%s: %d cases replayed, %d of them errors", path, replayed, failing)
		if replayed < 500 || failing < 50 {
			t.Errorf("%s: only %d cases replayed, %d of them errors", path, replayed, failing)
		}
	}
}

// normal makes results comparable by their text: nil and empty lists are one.
func normal(r torchResult) string { return fmt.Sprintf("%+v", r) }
