package bill

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/stridebench/stridebench/access/operators"
	"github.com/stridebench/stridebench/layouts/nest"
)

// verdicts are all of them, by their names.
var verdicts = map[string]string{
	"noMemory": noMemory, "noPrice": noPrice, "nothing": nothing, "channelsLast": channelsLast,
	"forward": forward, "byBackward": byBackward, "byMaker": byMaker, "batchFirst": batchFirst,
	"folding": folding, "leaveOut": leaveOut, "ofProduct": ofProduct, "reuse": reuse,
	"overlapping": overlapping, "masking": masking, "alongLast": alongLast, "produce": produce,
}

// checkVerdict wants the verdict of a name, or one with these words in it; "" wants none.
func checkVerdict(t *testing.T, of, got, want string) {
	t.Helper()
	sentence, fixed := verdicts[want]
	before, after, _ := strings.Cut(sentence, "%")
	_, after, _ = strings.Cut(after, " ")
	if fixed && !(strings.HasPrefix(got, before) && strings.HasSuffix(got, after)) ||
		!fixed && !strings.Contains(got, want) {
		t.Errorf("%s: %s, want %s", of, got, want)
	}
}

// near are counts of misses that are as good as equal: a part of what is large is simulated.
var near = cmpopts.EquateApprox(.05, 1)

// An outcome is what a call does to memory, and what its layout costs.
type outcome struct {
	Walks         string // kinds of access, one after the other
	Read, Written int    // B
	Misses        []float64
	Costs         string // what of its time is for its layout: "none", "part" or "all"
	Unwritten     bool
}

// outcomeOf adds up what patterns read and write, as often as they do.
func outcomeOf(i Item) outcome {
	var walks []string
	result := outcome{Costs: "part", Unwritten: i.Unwritten}
	for _, s := range i.lowered.specs {
		walks = append(walks, s.Op.String())
		for _, o := range s.Operands {
			bytes := o.Layout.Numel() * o.DType.Size()
			if !slices.ContainsFunc(o.Layout.Strides(), func(n int) bool { return n != 0 }) {
				bytes = o.DType.Size() // one element that is accessed everywhere
			}
			if o.Kind != nest.Write {
				result.Read += bytes
			}
			if o.Kind != nest.Read {
				result.Written += bytes
			}
		}
	}
	result.Walks = strings.Join(walks, " ")
	if i.Predicted != nil {
		for _, level := range i.Predicted.Misses[:2] {
			result.Misses = append(result.Misses, level.Count)
		}
	}
	switch i.Layout {
	case 0:
		result.Costs = "none"
	case i.Ns:
		result.Costs = "all"
	}
	return result
}

// TestCalls: what of its operands each call reads, writes and copies as PyTorch 1.13 does, and
// whether their layouts cost.
func TestCalls(t *testing.T) {
	var groups []struct {
		About string
		Cases []struct {
			call
			Inside  map[string]operators.Class // what the profile has of what it calls
			Verdict string
			outcome
		}
	}
	load(t, "calls.json", &groups)
	for _, group := range groups {
		for _, c := range group.Cases {
			p := &operators.Profile{Operators: []operators.Operator{c.operator()}}
			for op, class := range c.Inside {
				callers := []operators.Caller{{Chain: c.Op, Calls: 1}}
				inner := operators.Operator{Op: op, Class: class, Calls: 1, Callers: callers}
				p.Operators = append(p.Operators, inner)
			}
			i := find(t, priceOf(t, p), func(i Item) bool { return i.Op == c.Op })
			checkLowered(t, i.Operator)
			checkWithin(t, i)
			name := fmt.Sprintf("%s\n%s %q by %q of %s", group.About, c.Op, c.Args, c.Callers, i.Tensors())
			if diff := gocmp.Diff(c.outcome, outcomeOf(i), near); diff != "" {
				t.Errorf("%s\n%s", name, diff)
			}
			checkVerdict(t, name, i.Verdict, c.Verdict)
		}
	}
}

// checkWithin: what is accessed lies within the tensors.
func checkWithin(t *testing.T, i Item) {
	t.Helper()
	all := slices.Concat(i.Inputs, i.Outputs)
	for k, s := range i.lowered.specs {
		for j, o := range s.Operands {
			n, l := i.lowered.from[k][j], o.Layout
			if n < 0 || n >= len(all) || l.Numel() == 0 {
				continue
			}
			if l.Offset()+reach(l.Shape(), l.Strides()) > reach(all[n].Shape, all[n].Strides) {
				t.Errorf("%s accesses %v of %v, strides %v", i.Op, l, all[n].Shape, all[n].Strides)
			}
		}
	}
}

// TestProfiles: which verdicts several calls get together.
func TestProfiles(t *testing.T) {
	var groups []struct {
		About string
		Cases []struct {
			Name   string
			Kineto bool
			Calls  []struct {
				call
				Verdict, Costs string
				Misses         []float64 // where they are what is at stake
			}
		}
	}
	load(t, "profiles.json", &groups)
	for _, group := range groups {
		for _, c := range group.Cases {
			var calls []call
			for _, one := range c.Calls {
				calls = append(calls, one.call)
			}
			b := priceOf(t, profileOf(t, traceOf(t, c.Kineto, calls...)))
			for _, one := range c.Calls {
				if one.Verdict == "" {
					continue
				}
				i := find(t, b, func(i Item) bool { return one.is(i, calls) })
				name := fmt.Sprintf("%s\n%s: %s of %s", group.About, c.Name, one.Op, i.Tensors())
				checkVerdict(t, name, i.Verdict, one.Verdict)
				got := outcomeOf(i)
				if got.Costs != one.Costs {
					t.Errorf("%s: of its time %s is for the layout, want %s", name, got.Costs, one.Costs)
				}
				if diff := gocmp.Diff(one.Misses, got.Misses, near); one.Misses != nil && diff != "" {
					t.Errorf("%s\n%s", name, diff)
				}
			}
		}
	}
}

// is reports whether an item of a bill is a call of these.
func (c call) is(i Item, calls []call) bool {
	var chain []string
	backward := false
	for within := c.Within; within > 0; within = calls[within-1].Within {
		name := calls[within-1].Op
		backward = backward || strings.HasSuffix(name, "backward") || strings.HasSuffix(name, "Backward0")
		if !strings.HasSuffix(name, "Backward0") { // which is no caller, but says which pass it is
			chain = append([]string{name}, chain...)
		}
	}
	var callers []operators.Caller
	if len(chain) > 0 {
		callers = []operators.Caller{{Chain: strings.Join(chain, " > "), Calls: i.Calls}}
	}
	return i.Op == c.Op && i.Backward == backward && slices.Equal(i.Callers, callers) &&
		slices.EqualFunc(c.Inputs, i.Inputs, func(x placed, y operators.Tensor) bool {
			return slices.Equal(x.Shape, y.Shape) && slices.Equal(x.Strides, y.Strides)
		})
}

// TestVerdictsDocumented: docs/model.md lists the verdicts, all of them and no others, and they are
// few.
func TestVerdictsDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/model.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "| verdict | when |\n|:--|:--|\n")
	table, _, _ = strings.Cut(table, "\n\n")
	var listed, all []string
	for row := range strings.Lines(table) {
		listed = append(listed, strings.Split(row, " | ")[0][len("| "):])
	}
	for _, verdict := range verdicts {
		all = append(all, strings.NewReplacer("%s", "...", "%d", "...").Replace(verdict))
		if _, reason, found := strings.Cut(verdict, ": "); !found || reason == "" {
			t.Errorf("%s has no second clause", verdict)
		}
	}
	slices.Sort(listed)
	slices.Sort(all)
	if diff := gocmp.Diff(all, listed); diff != "" || len(all) > 16 {
		t.Errorf("%d verdicts:\n%s", len(all), diff)
	}
	file, err := parser.ParseFile(token.NewFileSet(), "verdict.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	constants := 0
	for _, decl := range file.Decls {
		if d, ok := decl.(*ast.GenDecl); ok && d.Tok == token.CONST {
			for _, spec := range d.Specs {
				if constants++; verdicts[spec.(*ast.ValueSpec).Names[0].Name] == "" {
					t.Errorf("%v is no verdict that is tested", spec)
				}
			}
		}
	}
	if constants < len(verdicts) {
		t.Errorf("verdict.go has %d constants, want %d", constants, len(verdicts))
	}
}
