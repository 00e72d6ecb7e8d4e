package operators

import (
	_ "embed" // table.txt
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/stridebench/stridebench/layouts/nest"
)

// A Class is what an operator does to memory.
type Class string

// The classes. Of these, View, None and Wrapper touch no memory themselves.
const (
	View        Class = "view"        // another layout of the same memory: free
	None        Class = "none"        // allocates, asks, or had nothing to do
	Wrapper     Class = "wrapper"     // counted as the operators that it called
	Copy        Class = "copy"        // the same elements elsewhere, or in another order or dtype
	Elementwise Class = "elementwise" // each element of the result from those at its place
	Reduction   Class = "reduction"   // dims are gone, or have size 1
	Rows        Class = "rows"        // goes along dims and keeps them: softmax, layer_norm, sort
	Product     Class = "product"     // matrix products, convolutions, attention
	Gather      Class = "gather"      // elements at places that data or a window name
	Unknown     Class = "unknown"     // not in the table, and it called nothing that is
)

// Touches reports whether an operator of class c accesses the memory of its operands.
func (c Class) Touches() bool { return c != View && c != None && c != Wrapper }

// A Walk is how an operator goes through memory.
type Walk string

// The walks. Those that are of a class alone have its name.
const (
	WalkNone        Walk = "none"        // each operand once, as it lies
	WalkWindow      Walk = "window"      // so too: windows overlap, and elements are read once
	WalkProduct     Walk = "product"     // so too, and strides cost nothing
	WalkCopy        Walk = "copy"        // the first operand, in the order of what is written
	WalkJoined      Walk = "joined"      // a list, along a dim
	WalkStacked     Walk = "stacked"     // a list, along a new dim
	WalkPadded      Walk = "padded"      // fills the result, and copies into a part of it
	WalkElementwise Walk = "elementwise" // all operands together, in TensorIterator's order
	WalkScan        Walk = "scan"        // so too, along a dim
	WalkReduction   Walk = "reduction"   // the first operand over dims, in the order of its strides
	WalkRows        Walk = "rows"        // contiguous operands, others are copied first
	WalkNorm        Walk = "norm"        // as it lies, three times in training
	WalkGather      Walk = "gather"      // rows of the first operand, by numbers, into the result
	WalkPut         Walk = "put"         // and back
	WalkElements    Walk = "elements"    // single elements along a dim, by numbers, into the result
	WalkScatter     Walk = "scatter"     // and back
)

// A Flag is what else a row says; table.txt explains them.
type Flag string

// The flags.
const (
	Calls        Flag = "calls"
	Itself       Flag = "itself"
	Computes     Flag = "computes"
	ComputesDims Flag = "computes=d"
	ComputesFlag Flag = "computes=b"
	ChannelsLast Flag = "channels_last"
	Dense        Flag = "dense"
	First        Flag = "first"
	Converts     Flag = "converts"
	Blocks       Flag = "blocks"
	Pairs        Flag = "pairs"
	Asked        Flag = "asked"
	Maker        Flag = "maker"
	Masks        Flag = "masks"
	Folds        Flag = "folds"
)

// An Arg is the letter of an argument in a row.
type Arg byte

// The letters that are asked for; table.txt explains all.
const (
	Written  Arg = 'w'
	Index    Arg = 'x'
	Flat     Arg = 'y'
	Like     Arg = 'h'
	Dim      Arg = 'd'
	Sizes    Arg = 's'
	Kernel   Arg = 'k'
	Stride   Arg = 't'
	Padding  Arg = 'p'
	Dilation Arg = 'e'
	Extra    Arg = 'g'
	Ceil     Arg = 'u'
	Size     Arg = 'o'
	Scale    Arg = 'f'
	Number   Arg = 'n'
	Whether  Arg = 'b'
	Asks     Arg = 'm'
	tensors      = "rwchxy" // the letters of tensors
)

// Tensor reports whether an argument with the letter is a tensor.
func (a Arg) Tensor() bool { return strings.IndexByte(tensors, byte(a)) >= 0 }

// A Row is what the table says of an operator.
type Row struct {
	Class   Class
	Walk    Walk
	Results string // the rule for them
	args    string
	flags   []string
}

// Has reports whether the row has a flag.
func (r Row) Has(flag Flag) bool { return slices.Contains(r.flags, string(flag)) }

// Is is the letter of argument number n, 0 of one that the row does not have.
func (r Row) Is(n int) Arg {
	if n >= len(r.args) {
		return 0
	}
	return Arg(r.args[n])
}

// Takes reports whether an argument has a letter.
func (r Row) Takes(letter Arg) bool { return strings.IndexByte(r.args, byte(letter)) >= 0 }

// numbers reports whether an argument that is no tensor says which memory is touched.
func (r Row) numbers() bool { return strings.Trim(r.args, tensors+".") != "" }

// calls reports whether the operator is counted only where what it calls touches no memory.
func (r Row) calls() bool { return r.Has(Calls) || !r.Class.Touches() }

//go:embed table.txt
var table string

// byName is the table by the operators' names. It is made when it is used first: most commands
// never are about operators.
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
		for i, word := range words[:5] {
			words[i] = strings.TrimPrefix(word, "-")
			if i == 4 && word != "-" {
				words[i] = word
			}
		}
		rows[name] = Row{Class(words[1]), Walk(words[2]), words[4], words[3], words[5:]}
	}
	return rows
})

// unknown is the row of what is in no table.
var unknown = Row{Class: Unknown, flags: []string{string(Calls)}}

// lookUp returns what is known of the operator that a profile names op.
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
	if base == "detach" { // inside aten::detach, as autograd names its own
		return byName()["aten::detach"]
	}
	if isScope(op) {
		return Row{Class: None}
	}
	return unknown
}

// byRule says what an operator does that has the name of a row's with _backward after it, or of a
// view's with _copy, or begins as a row's name does that ends in _*.
func byRule(name string) (Row, bool) {
	if base, ok := strings.CutSuffix(name, "_copy"); ok && byName()[base].Class == View {
		return Row{Class: Copy, Walk: WalkCopy}, true
	}
	if base, ok := strings.CutSuffix(name, "_backward"); ok {
		if r := byName()[base]; r.Class != "" && r.Class.Touches() {
			r.flags = slices.DeleteFunc(slices.Clone(r.flags), func(f string) bool {
				return f == string(Calls)
			})
			if r.args, r.Results = "", ""; r.Class == Gather {
				r.Results = "?,*,...->*" // a gradient of what it was of
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

// Row is what the table says of an operator with its operands.
func (op Operator) Row() Row {
	r := lookUp(op.Op)
	if r.Has(Pairs) && len(op.Inputs) > 1 && op.Inputs[1].Role == Input {
		return Row{Class: Elementwise, Walk: WalkElementwise, flags: []string{string(Calls)}}
	}
	return r
}

// RowOf is what the table says of a function that a chain of callers names, in whatever module.
func RowOf(name string) Row {
	return byName()["aten::"+name[strings.LastIndexAny(name, ".:")+1:]]
}

// Computes reports whether an operator takes longer to compute, a function such as exp or erf, a
// variance or the place of the greatest, than to read its operands and write its result.
func (op Operator) Computes() bool {
	r := op.Row()
	dims, known := op.Numbers(Dim)
	return r.Has(Computes) || r.Has(ComputesDims) && known && len(dims) > 0 ||
		r.Has(ComputesFlag) && op.True(Whether) || op.halves(r)
}

// halves reports whether an operator computes with float16, of which a CPU converts each element to
// float32 and back, one by one (c10/util/Half.h).
func (op Operator) halves(r Row) bool {
	computes := r.Class == Elementwise || r.Class == Reduction
	return computes && slices.ContainsFunc(op.Inputs, func(o Tensor) bool {
		is := r.Is(o.Argument)
		return o.DType == "float16" && o.Role != Output && is != Written && is != Like
	})
}

// isScope reports whether an operator's name is that of a stretch of the
// program. Autograd names its nodes after what they undo: AddmmBackward0.
func isScope(op string) bool {
	return isNode(op) || slices.ContainsFunc(scopes, func(scope string) bool {
		return strings.HasPrefix(op, scope)
	})
}

// scopes are the first parts of the names of what is no operator but a stretch
// of the program: of autograd, compilers, loaders, and the user's own.
var scopes = []string{
	"[pytorch|profiler|", "autograd::engine::", "torch::autograd::", "nn.Module:", "Optimizer.",
	"ProfilerStep", "Torch-Compiled Region", "TorchDynamo ", "AOTDispatcher ", "CompiledFunction",
	"CompiledFxGraph", "## Call CompiledFxGraph", "Call CompiledFxGraph", "Pregraph bytecode",
	"enumerate(DataLoader)", "DistributedDataParallel.", "FullyShardedDataParallel.",
	"torch/", "torch.", "record_param_comms",
}

// isNode reports whether a name is that of a node of autograd.
func isNode(op string) bool {
	name := strings.TrimRight(op, "0123456789")
	return strings.HasSuffix(name, "Backward") && !strings.Contains(op, "::")
}

// isBackward reports whether what is called in a stretch, or a function, of this name computes
// gradients.
func isBackward(op string) bool {
	return isNode(op) || strings.HasPrefix(op, "autograd::engine::") ||
		strings.HasPrefix(op, "torch.") && strings.HasSuffix(op, ".backward")
}

// inPlace reports whether an operator's name says that it writes into its first
// argument, as aten::add_ does.
func inPlace(op string) bool {
	op, _, _ = strings.Cut(op, ".")
	return strings.HasSuffix(op, "_") && !strings.HasSuffix(op, "__")
}

// Dims returns the dims of its first input along which a Reduction or a Rows
// operator goes, in ascending order. It reports false if the profile, or the
// table of operators, does not say.
func (op Operator) Dims() ([]int, bool) {
	row := op.Row()
	if op.Class != Reduction && op.Class != Rows || len(op.Inputs) == 0 || op.Inputs[0].InList ||
		len(op.Args) == 0 {
		return nil, false
	}
	rank := len(op.Inputs[0].Shape)
	if row.Takes(Sizes) {
		sizes, listed := op.Numbers(Sizes)
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
	if len(numbers) == 0 { // none are named: all
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

// axis is the dim that a number names, which counts from the end if it is negative.
func axis(d, rank int) (int, bool) {
	if d < 0 {
		d += rank
	}
	return d, d >= 0 && d < rank
}

// argument is the text of the argument with a letter, as far as there is one; has reports whether
// the row has such an argument.
func (op Operator) argument(letter Arg) (text string, has bool) {
	at := strings.IndexByte(op.Row().args, byte(letter))
	if at < 0 || at >= len(op.Args) {
		return "", at >= 0
	}
	return op.Args[at], true
}

// True reports whether the argument with a letter is true.
func (op Operator) True(letter Arg) bool {
	text, _ := op.argument(letter)
	return strings.EqualFold(text, "true") || text == "1"
}

// Numbers are the whole numbers of the argument with a letter: of a number, a list, or none
// (which may be a dtype, a flag, or not there). It reports false of what else an argument is.
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

// listed are the elements of a list as text.
func listed(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("[], ", r) })
}
