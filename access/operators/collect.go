package operators

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"
)

// What a file may make us keep: a model's step has thousands of calls, a
// profile of hours some millions, of which some thousands are distinct.
const (
	maxDistinct = 1 << 17
	maxKeyBytes = 32 << 20 // of the distinct operators' dtypes, shapes and strides, as text
	maxThreads  = 1 << 14
)

// maxCalls and maxNodes are how many calls of a file are looked at: of an
// execution trace fewer, since of each it is kept where its operands lie. They
// are variables for tests.
var (
	maxCalls = 1 << 23
	maxNodes = 1 << 21
)

// A signature is what calls have in common that are one [Operator].
type signature struct {
	op string
	Row
	stretch         bool // of the program, and no operator: names callers and counts for nothing
	inputs, outputs []Tensor
	args            []string
	problem         string // why calls of it are skipped, if they are
	bytes           int64  // that a call reads plus those that it writes
}

// text is equal for equal signatures alone.
func (s *signature) text() string {
	return fmt.Sprintf("%q %t %q %q %q %q", s.op, s.stretch, fmt.Sprint(s.inputs), fmt.Sprint(s.outputs), s.args, s.problem)
}

// A call is one call of an operator, as a file has it.
type call struct {
	start, took int64  // ns
	record      uint64 // the record function's id, by which two files are joined; 0 if there is none
	signature   uint32
	link        int32 // the thread; once nested, the index of the call that called, -1 of none
}

// callList is calls in chunks, so that it grows without being copied: a file of
// 2 GB has millions.
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

// Less orders calls by their starts; of those that start together, the one that
// takes longer called the others.
func (l callList) Less(i, j int) bool {
	a, b := l.at(i), l.at(j)
	return a.start < b.start || a.start == b.start && a.took > b.took
}

func (l callList) Swap(i, j int) {
	a, b := l.at(i), l.at(j)
	*a, *b = *b, *a
}

// nest finds out who called whom from the intervals of the calls on each thread.
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
	open := map[int32][]int32{} // by thread, the calls that may call the next one
	for i := range l.Len() {
		c := l.at(i)
		stack := open[c.link]
		for len(stack) > 0 && !l.at(int(stack[len(stack)-1])).spans(c) {
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

// spans reports whether d, which starts no earlier, starts within c.
func (c *call) spans(d *call) bool { return d.start-c.start < c.took }

// A trace is what one file says.
type trace struct {
	name, kind string
	schema     string // of an execution trace
	calls      callList
	places     [][]Place // of each call, if the file has them
	hasShapes  bool      // any call has
	hasStrides bool      // any tensor has
	hasTensors bool
	onDevice   bool // there are kernels of a device
	skipped    map[[2]string]*Skipped
	warnings   []string
	adopt      func() // puts what was read into calls, of an execution trace
}

// skip counts a call that cannot be used.
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
	s.Bytes = plus(s.Bytes, bytes)
}

// maxSkipped is how many kinds of skipped calls are told apart.
const maxSkipped = 1000

// signatures has what all files' calls have in common.
type signatures struct {
	all      []signature
	byKey    map[string]uint32 // by the file's own text
	byText   map[string]uint32
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

// of returns the number of the signature of a call that a file describes by
// key; read makes it of that description, the first time.
func (s *signatures) of(key []byte, read func() signature) uint32 {
	if n, ok := s.byKey[string(key)]; ok {
		return n
	}
	if len(s.all) >= maxDistinct || len(s.byKey) >= 2*maxDistinct || s.keyBytes+len(key) > maxKeyBytes {
		return 0
	}
	s.keyBytes += len(key)
	sig := read()
	text := sig.text()
	n, ok := s.byText[text]
	if !ok {
		n = uint32(len(s.all))
		s.all = append(s.all, sig)
		s.byText[text] = n
	}
	s.byKey[string(key)] = n
	return n
}

// thread numbers the threads of the files. It reports false of one too many.
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

// maxThreadName is the longest name of a process and a thread, in bytes.
const maxThreadName = 200

// A bill of calls in the making.
type bill struct {
	*signatures
	profile Profile
	index   map[uint64]int // in profile.Operators, by signature, whether it is a wrapper, and whether of the backward pass
	callers []map[string]int
	skipped map[[2]string]*Skipped
}

// under is what the calls under each call of a file do: the classes of those that
// touch memory, as a set of bits, and their time in ns. A call is a wrapper of
// these if there are any and it has the flag calls, or else if one is of its own class
// (relu calls clamp_min, but a product that calls copy_ for an operand multiplies
// as well), unless it touches memory itself besides.
type under struct {
	classes []uint16
	ns      []int64
}

// isWrapper is a bit of under.classes beyond those of the classes.
const isWrapper = 1 << 15

// underneath looks at the calls of a file, which are nested.
func (b *bill) underneath(t *trace) under {
	n := t.calls.Len()
	u := under{make([]uint16, n), make([]int64, n)}
	for i := n - 1; i >= 0; i-- { // who is called comes after who calls
		c := t.calls.at(i)
		sig := &b.all[c.signature]
		classes, ns, own := u.classes[i], u.ns[i], sig.Class.bit()
		if !sig.Has(Itself) && (sig.calls() && classes != 0 || classes&own != 0) {
			u.classes[i] |= isWrapper
		} else if sig.Class.Touches() && (sig.Class != Unknown || sig.bytes > 0) {
			classes |= own
			ns = c.took
		}
		if c.link >= 0 {
			u.classes[c.link] |= classes
			u.ns[c.link] = plus(u.ns[c.link], ns)
		}
	}
	return u
}

// class is that of call i.
func (u under) class(i int, sig *signature) Class {
	if u.classes[i]&isWrapper != 0 {
		return Wrapper
	}
	return sig.Class
}

// bit tells the classes that touch memory apart; it is 0 of the others.
func (c Class) bit() uint16 {
	at := slices.Index([]Class{Copy, Elementwise, Reduction, Rows, Product, Gather, Unknown}, c)
	return 1 << (at + 1) &^ 1
}

// add counts a file's calls, which are nested.
func (b *bill) add(t *trace, step bool) {
	u := b.underneath(t)
	backward := make([]bool, t.calls.Len()) // who calls comes before who is called
	for i := range t.calls.Len() {
		c := t.calls.at(i)
		sig := &b.all[c.signature]
		if c.link >= 0 {
			backward[i] = backward[c.link] || isBackward(b.all[t.calls.at(int(c.link)).signature].op)
		}
		if sig.stretch {
			continue
		}
		b.profile.Calls++
		if sig.problem != "" {
			skipIn(&b.skipped, sig.op, sig.problem, 1, sig.bytes)
			continue
		}
		at := b.operator(c.signature, u.class(i, sig), backward[i])
		op := &b.profile.Operators[at]
		op.Calls++
		if !op.Class.Touches() {
			continue
		}
		op.Bytes = plus(op.Bytes, sig.bytes)
		op.Time = time.Duration(plus(int64(op.Time), max(c.took-u.ns[i], 0)))
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

// The reasons for which calls are skipped that could be read.
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

// operator returns the index of the operator of a signature, as class, in the forward pass or the backward one.
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
			Op: sig.op, Class: class, Backward: backward, Inputs: append([]Tensor{}, sig.inputs...), Outputs: sig.outputs, Args: sig.args,
		})
		b.callers = append(b.callers, map[string]int{})
	}
	return at
}

// maxChain is how many callers of a call are named, the nearest, and maxLooked
// how many calls are looked at for them.
const (
	maxChain  = 6
	maxLooked = 64
)

// maxCallers is how many chains of callers of an operator are told apart.
const maxCallers = 64

// chain names the callers of call i, from the outermost. What a program or
// autograd names a stretch of it is no operator and not in it.
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

// calls reports whether an operator's name is worth saying as that of a caller:
// an operator, or a function of torch as capture.py names them.
func calls(op string) bool {
	return strings.Contains(op, "::") && !isScope(op) || strings.HasPrefix(op, "torch.")
}

// done returns the profile.
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
	distinct := map[string]bool{}
	for _, op := range p.Operators {
		for _, o := range slices.Concat(op.Inputs, op.Outputs) {
			if op.Class.Touches() {
				p.Tally.add(o, op.Calls)
			}
		}
		for _, o := range op.Inputs {
			if !o.InList && o.Format == "" && !o.contiguous() {
				p.Strided += op.Calls
				distinct[fmt.Sprint(op.Op, o.DType, o.Shape, o.Strides)] = true
			}
		}
	}
	p.StridedDistinct = len(distinct)
	for _, s := range b.skipped {
		p.Skipped = append(p.Skipped, *s)
	}
	slices.SortFunc(p.Skipped, func(a, b Skipped) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Op, b.Op), cmp.Compare(a.Reason, b.Reason))
	})
	if n, first := unreadCalls(p.Skipped); n > 0 {
		p.Warnings = append(p.Warnings, fmt.Sprintf("%d of %d calls could not be read, such as %s: %s", n, p.Calls, first.Op, first.Reason))
	}
	return p
}

// unreadCalls counts the calls that could not be read, and returns the first of
// what they are.
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
