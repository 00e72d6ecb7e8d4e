package operators

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"
)

// Limits for what a file makes us keep. A model's step has thousands of calls and hundreds of
// distinct operators.
const (
	maxDistinct = 1 << 17
	maxKeyBytes = 32 << 20 // of the text of the distinct operators
	maxThreads  = 1 << 14
)

// maxCalls and maxNodes are the most calls read of a Kineto trace and of an execution trace, which
// also has the places of operands. Tests change them.
var (
	maxCalls = 1 << 23
	maxNodes = 1 << 21
)

// A signature is what the calls of one [Operator] have in common.
type signature struct {
	op string
	Row
	stretch         bool // of the program: it only names callers
	inputs, outputs []Tensor
	args            []string
	problem         string // why its calls are skipped; "" if they are not
	bytes           int64  // read plus written by a call
}

type call struct {
	start, took int64 // ns
	signature   uint32
	link        int32 // the thread; after nest the index of the caller, or -1
}

// A callList grows in chunks, without copies: a file of 2 GB has millions of calls.
type callList [][]call

const chunkBits = 14

func (l callList) Len() int {
	if len(l) == 0 {
		return 0
	}
	return (len(l)-1)<<chunkBits + len(l[len(l)-1])
}

func (l callList) at(i int) *call { return &l[i>>chunkBits][i&(1<<chunkBits-1)] }

func (l *callList) add(c call) {
	if n := len(*l); n == 0 || len((*l)[n-1]) == 1<<chunkBits {
		*l = append(*l, make([]call, 0, 1<<chunkBits))
	}
	last := &(*l)[len(*l)-1]
	*last = append(*last, c)
}

// Less orders calls by their starts. Of two that start together, the longer one called the other.
func (l callList) Less(i, j int) bool {
	a, b := l.at(i), l.at(j)
	return a.start < b.start || a.start == b.start && a.took > b.took
}

func (l callList) Swap(i, j int) {
	a, b := l.at(i), l.at(j)
	*a, *b = *b, *a
}

// nest finds the caller of each call from the intervals on its thread.
func (l callList) nest() {
	inOrder := func() bool {
		last := map[int32]int{}
		for i := range l.Len() {
			thread := l.at(i).link
			if before, ok := last[thread]; ok && l.Less(i, before) {
				return false
			}
			last[thread] = i
		}
		return true
	}
	if !inOrder() {
		sort.Stable(l)
	}
	open := map[int32][]int32{} // by thread: the calls that may contain the next one
	for i := range l.Len() {
		c := l.at(i)
		stack := open[c.link]
		for len(stack) > 0 {
			outer := l.at(int(stack[len(stack)-1]))
			if c.start-outer.start < outer.took { // c starts within outer
				break
			}
			stack = stack[:len(stack)-1]
		}
		thread := c.link
		c.link = -1
		if len(stack) > 0 {
			c.link = stack[len(stack)-1]
		}
		open[thread] = append(stack, int32(i))
	}
}

type trace struct {
	name, kind string
	schema     string // of an execution trace
	calls      callList
	places     [][]Place // by call; nil if the file has none
	hasShapes  bool      // any call has
	hasStrides bool      // any tensor has
	hasTensors bool
	onDevice   bool // there are kernels of a device
	skipped    map[[2]string]*Skipped
	warnings   []string
	adopt      func() // completes calls; nil unless an execution trace
}

func (t *trace) warn(format string, values ...any) {
	t.warnings = append(t.warnings, t.name+": "+fmt.Sprintf(format, values...))
}

func (t *trace) skip(op, reason string) { skipIn(&t.skipped, op, reason, 1, 0) }

func skipIn(skipped *map[[2]string]*Skipped, op, reason string, calls int, bytes int64) {
	if *skipped == nil {
		*skipped = map[[2]string]*Skipped{}
	}
	key := [2]string{op, reason}
	s := (*skipped)[key]
	if s == nil && len(*skipped) >= maxSkipped {
		op, reason = "(others)", "for other reasons"
		key = [2]string{op, reason}
		s = (*skipped)[key]
	}
	if s == nil {
		s = &Skipped{Op: op, Reason: reason}
		(*skipped)[key] = s
	}
	s.Calls += calls
	s.Bytes = Plus(s.Bytes, bytes)
}

const maxSkipped = 1000

// signatures has the signatures in all files.
type signatures struct {
	all      []signature
	byKey    map[string]uint32 // by the text in the file
	byText   map[string]uint32 // by the signature's text
	keyBytes int
	threads  map[string]int32
}

func newSignatures() *signatures {
	return &signatures{
		all: []signature{{op: "(others)", Row: unknown,
			problem: fmt.Sprintf("more than %d distinct operators", maxDistinct)}},
		byKey:   map[string]uint32{},
		byText:  map[string]uint32{},
		threads: map[string]int32{},
	}
}

// of returns the number of a call's signature. key is the file's text of the call, from which read
// makes the signature the first time.
func (s *signatures) of(key []byte, read func() signature) uint32 {
	if n, ok := s.byKey[string(key)]; ok {
		return n
	}
	if len(s.all) >= maxDistinct || len(s.byKey) >= 2*maxDistinct ||
		s.keyBytes+len(key) > maxKeyBytes {
		return 0
	}
	s.keyBytes += len(key)
	sig := read()
	text := fmt.Sprintf("%+v", sig)
	n, ok := s.byText[text]
	if !ok {
		n = uint32(len(s.all))
		s.all = append(s.all, sig)
		s.byText[text] = n
	}
	s.byKey[string(key)] = n
	return n
}

// thread returns a number for a thread's name, or false if there are too many.
func (s *signatures) thread(name []byte) (number int32, ok bool) {
	n, ok := s.threads[string(name)]
	if ok {
		return n, true
	}
	if len(s.threads) >= maxThreads || len(name) > maxThreadName {
		return 0, false
	}
	n = int32(len(s.threads))
	s.threads[string(name)] = n
	return n, true
}

const maxThreadName = 200

type bill struct {
	*signatures
	profile Profile
	// indexes of profile.Operators, by signature, wrapper or not, and pass
	index   map[uint64]int
	callers []map[string]int
	skipped map[[2]string]*Skipped
}

// isWrapper is a bit of underneath beyond the bits of the classes.
const isWrapper = 1 << 15

// underneath returns, for each call of a file, the classes of the calls inside that touch memory,
// as bits. A call with the flag calls is a wrapper if there are any. Others are wrappers of calls
// of their own class: relu calls clamp_min, but a product that calls copy_ multiplies as well.
func (b *bill) underneath(t *trace) []uint16 {
	under := make([]uint16, t.calls.Len())
	for i := range slices.Backward(under) { // callees come after their caller
		c := t.calls.at(i)
		sig := &b.all[c.signature]
		classes, own := under[i], sig.Class.bit()
		if !sig.Has(flagItself) && (sig.calls() && classes != 0 || classes&own != 0) {
			under[i] |= isWrapper
		} else if sig.Class.Touches() && (sig.Class != Unknown || sig.bytes > 0) {
			classes |= own
		}
		if c.link >= 0 {
			under[c.link] |= classes
		}
	}
	return under
}

// bit returns a bit for a class that touches memory, and 0 for others.
func (c Class) bit() uint16 {
	at := slices.Index([]Class{Copy, Elementwise, Reduction, Rows, Product, Gather, Unknown}, c)
	return 1 << (at + 1) &^ 1
}

func (b *bill) add(t *trace, step bool) {
	under := b.underneath(t)
	backward := make([]bool, t.calls.Len()) // callers come first
	for i := range t.calls.Len() {
		c := t.calls.at(i)
		sig := &b.all[c.signature]
		if c.link >= 0 {
			backward[i] = backward[c.link] ||
				isBackward(b.all[t.calls.at(int(c.link)).signature].op)
		}
		if sig.stretch {
			continue
		}
		b.profile.Calls++
		if sig.problem != "" {
			skipIn(&b.skipped, sig.op, sig.problem, 1, sig.bytes)
			continue
		}
		class := sig.Class
		if under[i]&isWrapper != 0 {
			class = Wrapper
		}
		at := b.operator(c.signature, class, backward[i])
		op := &b.profile.Operators[at]
		op.Calls++
		if !op.Class.Touches() {
			continue
		}
		op.Bytes = Plus(op.Bytes, sig.bytes)
		if chain := b.chain(t, i); chain != "" {
			if callers := b.callers[at]; len(callers) >= maxCallers && callers[chain] == 0 {
				chain = "(others)"
			}
			b.callers[at][chain]++
		}
		if step && t.places != nil {
			b.profile.Step = append(b.profile.Step, Call{at, t.places[i]})
		}
		if op.Class == Unknown {
			skipIn(&b.skipped, sig.op, unknownReason(sig.op), 1, sig.bytes)
		}
	}
	for _, s := range t.skipped {
		b.profile.Calls += s.Calls
		skipIn(&b.skipped, s.Op, s.Reason, s.Calls, s.Bytes)
	}
}

const (
	notReorder = "not a reorder"
	notInTable = "not in the table of operators"
	fused      = "a kernel that a compiler fused"
)

func unknownReason(op string) string {
	if strings.HasPrefix(op, "triton_") || strings.Contains(op, "cpp_fused_") {
		return fused
	}
	return notInTable
}

func (b *bill) operator(number uint32, class Class, backward bool) int {
	key := uint64(number) << 2
	if class == Wrapper {
		key |= 1
	}
	if backward = backward && class.Touches(); backward {
		key |= 2
	}
	at, ok := b.index[key]
	if !ok {
		at = len(b.profile.Operators)
		b.index[key] = at
		sig := &b.all[number]
		b.profile.Operators = append(b.profile.Operators, Operator{
			Op: sig.op, Class: class, Backward: backward,
			Inputs: append([]Tensor{}, sig.inputs...), Outputs: sig.outputs, Args: sig.args,
		})
		b.callers = append(b.callers, map[string]int{})
	}
	return at
}

// maxChain is the most callers that a chain names, the nearest ones, and maxLooked the most calls
// that are searched for them.
const (
	maxChain  = 6
	maxLooked = 64
)

const maxCallers = 64

// chain names the callers of call i, from the outermost. It leaves out stretches of the program.
func (b *bill) chain(t *trace, i int) string {
	var names [maxChain]string
	first := maxChain
	at := t.calls.at(i).link
	for looked := 0; at >= 0 && first > 0 && looked < maxLooked; looked++ {
		if sig := &b.all[t.calls.at(int(at)).signature]; calls(sig.op) {
			first--
			names[first] = sig.op
		}
		at = t.calls.at(int(at)).link
	}
	return strings.Join(names[first:], " > ")
}

// calls reports whether a chain names a caller: an operator, or a function of torch as capture.py
// names it.
func calls(op string) bool {
	return strings.Contains(op, "::") && !isScope(op) || strings.HasPrefix(op, "torch.")
}

func (b *bill) done() *Profile {
	p := &b.profile
	for i := range p.Operators {
		op := &p.Operators[i]
		for chain, calls := range b.callers[i] {
			op.Callers = append(op.Callers, Caller{chain, calls})
		}
		slices.SortFunc(op.Callers, func(a, b Caller) int {
			return cmp.Or(cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Chain, b.Chain))
		})
	}
	for _, op := range p.Operators {
		for _, o := range slices.Concat(op.Inputs, op.Outputs) {
			if op.Class.Touches() {
				p.Tally.add(o, op.Calls)
			}
		}
	}
	for _, s := range b.skipped {
		p.Skipped = append(p.Skipped, *s)
	}
	slices.SortFunc(p.Skipped, func(a, b Skipped) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(b.Calls, a.Calls),
			cmp.Compare(a.Op, b.Op), cmp.Compare(a.Reason, b.Reason))
	})
	if n, first := unreadCalls(p.Skipped); n > 0 {
		p.Warnings = append(p.Warnings, fmt.Sprintf(
			"%d of %d calls could not be read, such as %s: %s", n, p.Calls, first.Op, first.Reason))
	}
	return p
}

func unreadCalls(skipped []Skipped) (calls int, first Skipped) {
	for _, s := range skipped {
		if s.Reason == notReorder || s.Reason == notInTable || s.Reason == fused {
			continue
		}
		if calls == 0 {
			first = s
		}
		calls += s.Calls
	}
	return calls, first
}
