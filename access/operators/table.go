package operators

import (
	_ "embed" // table.txt
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/stridebench/stridebench/layouts/nest"
)

// A Class is what an operator does to memory, which table.txt explains.
type Class string

// The classes. View, None and Wrapper touch no memory themselves.
const (
	View        Class = "view"
	None        Class = "none"
	Wrapper     Class = "wrapper" // counts as the operators that it called
	Copy        Class = "copy"
	Elementwise Class = "elementwise"
	Reduction   Class = "reduction"
	Rows        Class = "rows"
	Product     Class = "product"
	Gather      Class = "gather"
	Unknown     Class = "unknown" // neither it nor its callees are in the table
)

// Touches reports whether operators of the class access their operands' memory.
func (c Class) Touches() bool { return c != View && c != None && c != Wrapper }

// A Walk is how an operator goes through memory, which table.txt explains.
type Walk string

// The walks.
const (
	WalkNone        Walk = "none"
	WalkWindow      Walk = "window"
	WalkProduct     Walk = "product"
	WalkCopy        Walk = "copy"
	WalkJoined      Walk = "joined"
	WalkStacked     Walk = "stacked"
	WalkPadded      Walk = "padded"
	WalkElementwise Walk = "elementwise"
	WalkScan        Walk = "scan"
	WalkReduction   Walk = "reduction"
	WalkRows        Walk = "rows"
	WalkNorm        Walk = "norm"
	WalkGather      Walk = "gather"
	WalkPut         Walk = "put"
	WalkElements    Walk = "elements"
	WalkScatter     Walk = "scatter"
)

// A Flag is a further property in a row, which table.txt explains.
type Flag string

// The flags.
const (
	flagCalls        Flag = "calls"
	flagItself       Flag = "itself"
	flagComputes     Flag = "computes"
	flagComputesDims Flag = "computes=d"
	flagComputesFlag Flag = "computes=b"
	ChannelsLast     Flag = "channels_last"
	Dense            Flag = "dense"
	First            Flag = "first"
	Converts         Flag = "converts"
	Blocks           Flag = "blocks"
	flagPairs        Flag = "pairs"
	Asked            Flag = "asked"
	Maker            Flag = "maker"
	Masks            Flag = "masks"
	Folds            Flag = "folds"
)

// An Arg is the letter of an argument in a row, which table.txt explains.
type Arg byte

// The letters.
const (
	Written     Arg = 'w'
	Index       Arg = 'x'
	Flat        Arg = 'y'
	Like        Arg = 'h'
	Dim         Arg = 'd'
	argSizes    Arg = 's'
	argKernel   Arg = 'k'
	argStride   Arg = 't'
	Padding     Arg = 'p'
	argDilation Arg = 'e'
	argExtra    Arg = 'g'
	argCeil     Arg = 'u'
	argSize     Arg = 'o'
	argScale    Arg = 'f'
	argNumber   Arg = 'n'
	Whether     Arg = 'b'
	argAsks     Arg = 'm'
	tensors         = "rwchxy" // the letters of tensors
)

// A Row is a line of the table.
type Row struct {
	Class   Class
	Walk    Walk
	Results string // see Operator.Results
	args    string
	flags   []string
}

// Has reports whether the row has a flag.
func (r Row) Has(flag Flag) bool { return slices.Contains(r.flags, string(flag)) }

// Is returns the letter of argument n, or 0 if there is none.
func (r Row) Is(n int) Arg {
	if n >= len(r.args) {
		return 0
	}
	return Arg(r.args[n])
}

// Takes reports whether an argument has the letter.
func (r Row) Takes(letter Arg) bool { return strings.IndexByte(r.args, byte(letter)) >= 0 }

// numbers reports whether arguments other than tensors decide which memory is touched.
func (r Row) numbers() bool { return strings.Trim(r.args, tensors+".") != "" }

// calls reports whether the operator counts only if the calls inside touch no memory.
func (r Row) calls() bool { return r.Has(flagCalls) || !r.Class.Touches() }

//go:embed table.txt
var table string

// byName is the table by name, made on first use: most commands need none of it.
var byName = sync.OnceValue(func() map[string]Row {
	rows := map[string]Row{}
	for line := range strings.Lines(table) {
		words := strings.Fields(line)
		if len(words) == 0 || words[0] == "#" {
			continue
		}
		name := words[0]
		if !strings.Contains(name, "::") {
			name = "aten::" + name
		}
		for i, word := range words {
			if word == "-" {
				words[i] = ""
			}
		}
		rows[name] = Row{Class(words[1]), Walk(words[2]), words[4], words[3], words[5:]}
	}
	return rows
})

var unknown = Row{Class: Unknown, flags: []string{string(flagCalls)}}

// lookUp returns the row of the operator op of a profile.
func lookUp(op string) Row {
	name, _, _ := strings.Cut(op, ".") // the overload
	base := strings.TrimSuffix(name, "_")
	for _, name := range []string{name, base, strings.TrimSuffix(name, "_out")} {
		if r, ok := byName()[name]; ok {
			return r
		}
	}
	if r, ok := byRule(base); ok {
		return r
	}
	if base == "detach" { // autograd's own inside aten::detach
		return byName()["aten::detach"]
	}
	if isScope(op) {
		return Row{Class: None}
	}
	return unknown
}

// byRule returns the row of names that follow from others: a row's with _backward, a view's with
// _copy, and those that begin as a row's name does before *.
func byRule(name string) (Row, bool) {
	if base, ok := strings.CutSuffix(name, "_copy"); ok && byName()[base].Class == View {
		return Row{Class: Copy, Walk: WalkCopy}, true
	}
	if base, ok := strings.CutSuffix(name, "_backward"); ok {
		if r := byName()[base]; r.Class != "" && r.Class.Touches() {
			r.flags = slices.DeleteFunc(slices.Clone(r.flags), func(f string) bool {
				return f == string(flagCalls)
			})
			if r.args, r.Results = "", ""; r.Class == Gather {
				r.Results = "?,*,...->*" // a gradient has its operand's shape
				r.Walk = WalkWindow
			}
			return r, true
		}
	}
	for i, c := range name {
		if c == '_' {
			if r, ok := byName()[name[:i+1]+"*"]; ok {
				return r, true
			}
		}
	}
	return Row{}, false
}

// Row returns the table's row for the operator with its operands.
func (op Operator) Row() Row {
	r := lookUp(op.Op)
	if r.Has(flagPairs) && len(op.Inputs) > 1 && op.Inputs[1].Role == Input {
		return Row{Class: Elementwise, Walk: WalkElementwise, flags: []string{string(flagCalls)}}
	}
	return r
}

// RowOf returns the row of a function that a chain of callers names, whatever its module.
func RowOf(name string) Row {
	return byName()["aten::"+name[strings.LastIndexAny(name, ".:")+1:]]
}

// Computes reports whether the operator is compute-bound: exp, a variance and the like take longer
// than their memory accesses.
func (op Operator) Computes() bool {
	r := op.Row()
	dims, known := op.Numbers(Dim)
	return r.Has(flagComputes) || r.Has(flagComputesDims) && known && len(dims) > 0 ||
		r.Has(flagComputesFlag) && op.True(Whether) || op.halves(r)
}

// halves reports whether it computes in float16. A CPU converts each element to float32 and back
// (c10/util/Half.h).
func (op Operator) halves(r Row) bool {
	computes := r.Class == Elementwise || r.Class == Reduction
	return computes && slices.ContainsFunc(op.Inputs, func(o Tensor) bool {
		is := r.Is(o.Argument)
		return o.DType == "float16" && o.Role != Output && is != Written && is != Like
	})
}

// isScope reports whether a name is a stretch of the program, such as a node of autograd
// (AddmmBackward0).
func isScope(op string) bool {
	return isNode(op) || slices.ContainsFunc(scopes, func(scope string) bool {
		return strings.HasPrefix(op, scope)
	})
}

// scopes are the prefixes of stretches: of autograd, compilers, data loaders and the user's own.
var scopes = []string{
	"[pytorch|profiler|", "autograd::engine::", "torch::autograd::", "nn.Module:", "Optimizer.",
	"ProfilerStep", "Torch-Compiled Region", "TorchDynamo ", "AOTDispatcher ", "CompiledFunction",
	"CompiledFxGraph", "## Call CompiledFxGraph", "Call CompiledFxGraph", "Pregraph bytecode",
	"enumerate(DataLoader)", "DistributedDataParallel.", "FullyShardedDataParallel.",
	"torch/", "torch.", "record_param_comms",
}

func isNode(op string) bool {
	name := strings.TrimRight(op, "0123456789")
	return strings.HasSuffix(name, "Backward") && !strings.Contains(op, "::")
}

// isBackward reports whether calls inside compute gradients.
func isBackward(op string) bool {
	return isNode(op) || strings.HasPrefix(op, "autograd::engine::") ||
		strings.HasPrefix(op, "torch.") && strings.HasSuffix(op, ".backward")
}

// inPlace reports whether the name ends in _, as aten::add_ does.
func inPlace(op string) bool {
	op, _, _ = strings.Cut(op, ".")
	return strings.HasSuffix(op, "_") && !strings.HasSuffix(op, "__")
}

// Dims returns the dims of the first input along which a Reduction or a Rows operator goes,
// ascending. It returns false if the profile or the table does not say.
func (op Operator) Dims() ([]int, bool) {
	row := op.Row()
	if op.Class != Reduction && op.Class != Rows || len(op.Inputs) == 0 || op.Inputs[0].InList ||
		len(op.Args) == 0 {
		return nil, false
	}
	rank := len(op.Inputs[0].Shape)
	if row.Takes(argSizes) {
		sizes, listed := op.Numbers(argSizes)
		if !listed || len(sizes) > rank {
			return nil, false
		}
		return nest.UpTo(rank)[rank-len(sizes):], true
	}
	numbers, known := op.Numbers(Dim)
	if op.Class == Reduction && len(op.Args) == 2 && len(row.args) > 3 {
		numbers, known = nil, true // of sum(x, dtype)
	}
	if !known {
		return nil, false
	}
	if len(numbers) == 0 { // no dims means all
		return nest.UpTo(rank), op.Class == Reduction
	}
	dims := make([]int, len(numbers))
	for i, d := range numbers {
		var ok bool
		if dims[i], ok = axis(d, max(rank, 1)); !ok {
			return nil, false
		}
	}
	slices.Sort(dims)
	return dims, true
}

// axis returns the dim of a number, where negative ones count from the end.
func axis(d, rank int) (int, bool) {
	if d < 0 {
		d += rank
	}
	return d, d >= 0 && d < rank
}

// argument returns the text of the argument with a letter, or "" if the profile lacks it. has
// reports whether the row has the letter.
func (op Operator) argument(letter Arg) (text string, has bool) {
	at := strings.IndexByte(op.Row().args, byte(letter))
	if at < 0 || at >= len(op.Args) {
		return "", at >= 0
	}
	return op.Args[at], true
}

// True reports whether the argument with the letter is true.
func (op Operator) True(letter Arg) bool {
	text, _ := op.argument(letter)
	return strings.EqualFold(text, "true") || text == "1"
}

// Numbers returns the whole numbers of the argument with the letter: one, a list, or none for None
// and flags. It returns false for other values.
func (op Operator) Numbers(letter Arg) ([]int, bool) {
	text, has := op.argument(letter)
	switch text {
	case "", "None", "<None>", "True", "False", "true", "false":
		return nil, has
	}
	var numbers []int
	for _, word := range listed(text) {
		n, err := strconv.Atoi(word)
		if err != nil {
			return nil, false
		}
		numbers = append(numbers, n)
	}
	return numbers, true
}

func listed(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("[], ", r) })
}
