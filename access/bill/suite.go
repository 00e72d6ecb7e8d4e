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
	"github.com/stridebench/stridebench/simcache/explain"
)

// Limits bound a suite.
type Limits struct {
	Budget time.Duration // predicted, for 15 samples of each benchmark and its set-up
	Memory int           // bytes per benchmark; 0 for no limit
}

const (
	maxSuite      = 60 << 10
	maxBenchmarks = 900
)

// errNoSuite is the error of a bill without an operator to time.
var errNoSuite = errors.New("native loops can time no operator of the bill within the budget")

const suiteHead = "# What the layouts of these cost, as 'bench import' found it; the worst first.\n"

// IsSuite reports whether Suite wrote a text.
func IsSuite(text []byte) bool { return bytes.HasPrefix(text, []byte(suiteHead)) }

// Suite returns a workload file (package workload) within limits. It has the operators with strided
// operands, the most expensive first, then the other memory-bound ones; each as PyTorch walks it,
// and with contiguous operands. Names do not depend on the place in the bill.
func (b *Bill) Suite(limits Limits) ([]byte, error) {
	s := suite{limits: limits, names: map[string]bool{}}
	s.text.WriteString(suiteHead)
	for _, source := range b.Sources {
		fmt.Fprintf(&s.text, "#   %s\n", strings.Join(strings.Fields(source), " "))
	}
	s.text.WriteString("# bench run --suite THIS-FILE\n\nbenchmarks:\n")
	for _, i := range b.Operators {
		plain := i.Class != operators.Product && i.Class != operators.Gather
		if i.Predicted != nil && (plain || i.Layout > 0) {
			s.add(i)
		}
	}
	if len(s.names) == 0 {
		return nil, errNoSuite
	}
	if s.left > 0 {
		fmt.Fprintf(&s.text, "\n# Not here: %s (unknown to native loops, or beyond the memory or "+
			"the budget of %v).\n", explain.Counted(s.left, "operator"), limits.Budget)
	}
	return []byte(s.text.String()), nil
}

type suite struct {
	limits Limits
	text   strings.Builder
	names  map[string]bool
	spent  time.Duration
	left   int // operators without room
}

func (s *suite) add(i Item) {
	most := 0
	for _, spec := range i.lowered.specs {
		most = max(most, elements(spec))
	}
	wrote := false
	for _, spec := range i.lowered.specs {
		small := elements(spec) < most/8 // such as a bias
		if spec, ok := timeable(spec); ok && !small {
			wrote = s.entry(i, spec) || wrote
		}
	}
	if !wrote {
		s.left++
	}
}

func elements(s access.Spec) (most int) {
	for _, o := range s.Operands {
		most = max(most, o.Layout.Numel())
	}
	return most
}

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

// setUp and setUpByte are the time per benchmark and per byte to simulate it, write its tensors,
// warm up and check the results.
const (
	setUp     = 10 * time.Millisecond
	setUpByte = 2 * time.Nanosecond
)

// entry writes an entry with its twin, if the limits allow.
func (s *suite) entry(i Item, spec access.Spec) bool {
	twin, err := spec.Contiguous()
	p, errPattern := spec.Pattern()
	label := labelOf(i.Op)
	name := label + spec.Name()
	if err != nil || errPattern != nil || s.names[name] ||
		s.limits.Memory > 0 && p.Memory > s.limits.Memory {
		return false
	}
	twinName := label + twin.Name()
	both := name != twinName && !s.names[twinName]
	once := setUp + setUpByte*time.Duration(p.Memory)
	takes := once + access.Samples*max(access.SampleTime, time.Duration(i.Predicted.Ns))
	if both {
		takes += once + access.Samples*max(access.SampleTime, time.Duration(i.Contiguous.Ns))
	}
	if s.spent+takes > s.limits.Budget || s.text.Len() > maxSuite ||
		len(s.names)+2 > maxBenchmarks {
		return false
	}
	s.spent += takes
	s.names[name] = true
	fmt.Fprintf(&s.text, "  # %s in %s, %s due to the layout: %s\n", advise.Duration(i.Ns),
		explain.Counted(i.Calls, "call"), advise.Duration(i.Layout), i.Verdict)
	fmt.Fprintf(&s.text, "  - name: %s\n    op: %v\n", label, spec.Op)
	if spec.Dims != nil {
		fmt.Fprintf(&s.text, "    dims: %s\n", list(spec.Dims))
	}
	s.text.WriteString("    operands:\n")
	for _, o := range spec.Operands {
		fmt.Fprintf(&s.text, "      - {role: %s, shape: %s, strides: %s, dtype: %s}\n",
			uses[o.Kind],
			layouts.FormatShape(o.Layout.Shape()), list(o.Layout.Strides()), o.DType)
	}
	if both {
		s.names[twinName] = true
		s.text.WriteString("    twin: contiguous\n")
	}
	return true
}

func list(n []int) string { return strings.ReplaceAll(fmt.Sprint(n), " ", ", ") }

var noLabel = regexp.MustCompile(`[^A-Za-z0-9_.]+`)

func labelOf(op string) string {
	label := strings.Trim(noLabel.ReplaceAllString(op, "."), ".")
	if label == "" || label[0] < 'A' || label[0] > 'z' {
		label = "op" + label
	}
	return label[:min(len(label), 60)]
}
