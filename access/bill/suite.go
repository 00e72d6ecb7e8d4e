package bill

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/advise"
	"github.com/stridebench/stridebench/access/operators"
	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/explain"
)

// Limits say what a suite may take.
type Limits struct {
	Budget time.Duration // of 15 samples of each benchmark, as predicted, and of setting it up
	Memory int           // bytes of the tensors of a benchmark; 0 for no limit
}

// What package workload reads, with room to spare.
const (
	maxSuite      = 60 << 10
	maxBenchmarks = 900
)

// errNoSuite tells that nothing of a bill can be timed.
var errNoSuite = errors.New("native loops can time no operator of the bill within the budget")

// suiteHead is how a suite begins.
const suiteHead = "# What the layouts of these cost, as 'bench import' found it; the worst first.\n"

// IsSuite tells whether a text is a suite of a bill, and not something else of its owner's.
func IsSuite(text []byte) bool { return bytes.HasPrefix(text, []byte(suiteHead)) }

// Suite is a workload file (package workload) of the operators with strided
// operands, the worst first, and then of the others that do more to memory than to
// compute, as many as the limits leave room for: each as PyTorch walks it, and with contiguous operands. Names do not
// depend on the place in the bill.
func (b *Bill) Suite(limits Limits) ([]byte, error) {
	s := suite{limits: limits, names: map[string]bool{}}
	s.text.WriteString(suiteHead)
	for _, source := range b.Sources {
		fmt.Fprintf(&s.text, "#   %s\n", printable(source))
	}
	s.text.WriteString("# bench run --suite THIS-FILE\n\nbenchmarks:\n")
	for _, i := range b.Operators {
		if i.Predicted != nil && (i.Class != operators.Product && i.Class != operators.Gather || i.Layout > 0) {
			s.add(i)
		}
	}
	if len(s.names) == 0 {
		return nil, errNoSuite
	}
	if s.left > 0 {
		fmt.Fprintf(&s.text, "\n# Not here: %s (unknown to native loops, or beyond the memory or the budget of %v).\n", explain.Counted(s.left, "operator"), limits.Budget)
	}
	return []byte(s.text.String()), nil
}

// A suite in the making.
type suite struct {
	limits Limits
	text   strings.Builder
	names  map[string]bool
	spent  time.Duration
	left   int // operators that are not in it
}

// add writes the patterns of an item, those that can be timed.
func (s *suite) add(i Item) {
	most := 0
	for _, spec := range i.lowered.specs {
		most = max(most, elements(spec))
	}
	wrote := false
	for _, spec := range i.lowered.specs {
		small := elements(spec) < most/8 // a bias beside what it is added to
		if spec, ok := timeable(spec); ok && !small {
			wrote = s.entry(i, spec) || wrote
		}
	}
	if !wrote {
		s.left++
	}
}

// elements is how many the largest operand of a pattern has.
func elements(s access.Spec) (most int) {
	for _, o := range s.Operands {
		most = max(most, o.Layout.Numel())
	}
	return most
}

// timeable is a pattern that native loops walk, for one of the bill: without the
// result of a sum.
func timeable(spec access.Spec) (access.Spec, bool) {
	spec.Operands = slices.Clone(spec.Operands)
	if spec.Op == access.Sum {
		spec.Operands = spec.Operands[:1]
	}
	for _, o := range spec.Operands {
		if o.Layout.Rank() == 0 {
			return spec, false
		}
	}
	p, err := spec.Pattern()
	return spec, err == nil && access.Measurable(p, 0) == nil
}

// What it takes to set a benchmark up: to simulate it, to write its tensors, warm up, and check what
// the loops computed.
const (
	setUp     = 10 * time.Millisecond
	setUpByte = 2 * time.Nanosecond
)

// roleNames are the words of a suite's file.
var roleNames = [...]string{nest.Read: "input", nest.Write: "output", nest.Modify: "in-place"}

// entry writes an entry, with its twin, if there is room.
func (s *suite) entry(i Item, spec access.Spec) bool {
	twin, err := spec.Contiguous()
	p, errPattern := spec.Pattern()
	label := labelOf(i.Op)
	name := label + spec.Name()
	if err != nil || errPattern != nil || s.names[name] || s.limits.Memory > 0 && p.Memory > s.limits.Memory {
		return false
	}
	twinName := label + twin.Name()
	both := name != twinName && !s.names[twinName]
	once := setUp + setUpByte*time.Duration(p.Memory)
	takes := once + access.Samples*max(access.SampleTime, time.Duration(i.Predicted.Ns))
	if both {
		takes += once + access.Samples*max(access.SampleTime, time.Duration(i.Contiguous.Ns))
	}
	if s.spent+takes > s.limits.Budget || s.text.Len() > maxSuite || len(s.names)+2 > maxBenchmarks {
		return false
	}
	s.spent += takes
	s.names[name] = true
	fmt.Fprintf(&s.text, "  # %s in %s, %s due to the layout: %s\n", advise.Duration(i.Ns), explain.Counted(i.Calls, "call"), advise.Duration(i.Layout), i.Verdict)
	fmt.Fprintf(&s.text, "  - name: %s\n    op: %v\n", label, spec.Op)
	if spec.Dims != nil {
		fmt.Fprintf(&s.text, "    dims: %s\n", list(spec.Dims))
	}
	s.text.WriteString("    operands:\n")
	for _, o := range spec.Operands {
		fmt.Fprintf(&s.text, "      - {role: %s, shape: %s, strides: %s, dtype: %s}\n", roleNames[o.Kind], layouts.FormatShape(o.Layout.Shape()), list(o.Layout.Strides()), o.DType)
	}
	if both {
		s.names[twinName] = true
		s.text.WriteString("    twin: contiguous\n")
	}
	return true
}

// list writes whole numbers as YAML.
func list(n []int) string { return strings.ReplaceAll(fmt.Sprint(n), " ", ", ") }

// noLabel is what names of benchmarks do not have.
var noLabel = regexp.MustCompile(`[^A-Za-z0-9_.]+`)

// labelOf is an operator's name as one of benchmarks: aten.copy_.
func labelOf(op string) string {
	label := strings.Trim(noLabel.ReplaceAllString(op, "."), ".")
	if label == "" || label[0] < 'A' || label[0] > 'z' {
		label = "op" + label
	}
	return label[:min(len(label), 60)]
}

// printable is a text in one line.
func printable(text string) string { return strings.Join(strings.Fields(text), " ") }
