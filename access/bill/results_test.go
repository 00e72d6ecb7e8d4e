package bill

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/stridebench/stridebench/access/operators"
)

// described are the dtypes and shapes of operands.
func described(all []operators.Tensor) (text []string) {
	for _, o := range all {
		text = append(text, fmt.Sprint(o.DType, o.Shape))
	}
	return text
}

// TestResultsRecorded: what an operator's results must be, by its operands and arguments alone,
// is what they were when PyTorch 1.13 ran it, and the bill is the same with them and without.
func TestResultsRecorded(t *testing.T) {
	files, _ := filepath.Glob("../operators/testdata/*.json.gz")
	more, _ := filepath.Glob("testdata/*.json.gz")
	found := map[string]bool{}
	sameWalks := cmpopts.IgnoreFields(outcome{}, "Walks") // in whatever order
	for _, file := range append(files, more...) {
		p, err := operators.ReadFiles(context.Background(), nil, nil, file)
		if err != nil {
			t.Fatal(err)
		}
		for _, op := range p.Operators {
			unsaid := op
			unsaid.Outputs = nil
			got, want := described(unsaid.Results()), described(op.Outputs)
			if len(want) == 0 || got == nil {
				continue
			}
			found[op.Op] = true
			inputs := described(op.Inputs)
			if len(got) > len(want) || !slices.Equal(got, want[:len(got)]) {
				t.Errorf("%s: %s of %v %q: %v, want %v", file, op.Op, inputs, op.Args, got, want)
			}
			said, errSaid := lower(op, calls{})
			made, err := lower(unsaid, calls{})
			a, b := outcomeOf(Item{lowered: said}), outcomeOf(Item{lowered: made})
			if errSaid != nil || err != nil {
				t.Errorf("%s: %v, %v", op.Op, errSaid, err)
			} else if diff := gocmp.Diff(a, b, sameWalks); len(got) == len(want) && diff != "" {
				t.Errorf("%s of %v, with its results and without:\n%s", op.Op, inputs, diff)
			}
		}
	}
	for _, op := range strings.Fields("mm addmm bmm convolution convolution_backward") {
		if !found["aten::"+op] {
			t.Errorf("no %s was recorded", op)
		}
	}
}

// TestResults: the results that a Kineto trace does not have, by the arguments as it spells them;
// none where one of the inputs is where the result goes, where nothing has such a result, and
// where lowering makes it.
func TestResults(t *testing.T) {
	var cases []struct {
		call
		Results []placed
	}
	load(t, "results.json", &cases)
	for _, c := range cases {
		var want []operators.Tensor
		for _, o := range c.Results {
			want = append(want, o.Tensor)
		}
		op := c.operator()
		op.Class = operators.Rows
		if diff := gocmp.Diff(described(want), described(op.Results())); diff != "" {
			t.Errorf("%s of %v %q:\n%s", c.Op, described(op.Inputs), c.Args, diff)
		}
	}
}
