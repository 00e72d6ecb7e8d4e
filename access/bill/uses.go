package bill

import (
	"fmt"
	"slices"

	"github.com/stridebench/stridebench/access/operators"
)

// A use is what a profile tells of the tensors of an operator whose layout costs.
type use struct {
	reads    int  // of a tensor in its layout, by operators for which it costs
	leavable bool // of a copy: products alone read what it wrote, and could read what it copies
	nowhere  bool // the profile does not say where tensors lie
	images   bool // convolutions of row-major images are called in the forward pass,
	rowMajor bool // or others that read such images
	origin
}

// An origin is where what is read in a layout comes from, in every call.
type origin struct {
	maker   bool // a function of torch that chose its order, such as the one that reads it
	given   bool // such a function, which reads it, got it with its first two dims swapped
	product bool // a matrix product wrote it
}

// and is what both are.
func (o origin) and(p origin) origin {
	return origin{o.maker && p.maker, o.given && p.given, o.product && p.product}
}

// A reading is the calls that read the same elements in a layout that costs time.
type reading map[string][]int // operators

// usesOf are the uses of each operator, by those whose layout costs time (pays). Where a profile
// says where operands lie, it is how often the same elements are read until the storage is written
// again. Where it does not, each operator is taken to read all tensors that lie alike.
func usesOf(p *operators.Profile, pays func(operator int) bool) []use {
	all := make([]use, len(p.Operators))
	readers := reading{}
	if p.Step != nil {
		readers = usesInStep(p, all, pays)
	} else {
		readers.alike(p, pays)
	}
	for _, calls := range readers {
		for _, op := range calls {
			all[op].reads = max(all[op].reads, len(calls))
		}
	}
	images, rows := false, false
	for _, op := range p.Operators {
		if !op.Backward && slices.ContainsFunc(op.Inputs, rowMajor) {
			images, rows = images || convolves(op.Row()), true
		}
	}
	for n := range all {
		all[n].nowhere, all[n].images, all[n].rowMajor = p.Step == nil, images, rows
	}
	return all
}

// alike finds who reads what lies alike, an operator of both passes once.
func (r reading) alike(p *operators.Profile, pays func(operator int) bool) {
	seen := map[string]bool{}
	for n, op := range p.Operators {
		for _, o := range op.Inputs {
			if !pays(n) || o.Role != operators.Input || contiguous(o) {
				continue
			}
			key := layoutKey(o)
			if name := key + op.Op + (Item{Operator: op}).Tensors(); !seen[name] {
				seen[name] = true
				r[key] = append(r[key], n)
			}
		}
	}
}

// layoutKey is equal for operands that lie alike.
func layoutKey(o operators.Tensor) string { return fmt.Sprint(o.DType, o.Shape, o.Strides) }

// convolves reports whether an operator is a convolution: the products that take channels_last.
func convolves(r operators.Row) bool {
	return r.Class == operators.Product && r.Has(operators.ChannelsLast)
}

// A content is what a storage holds between two writes.
type content struct {
	maker   string           // the function of torch that chose its order
	product bool             // a matrix product wrote it
	copied  operators.Tensor // what a copy to it read
	read    bool
	others  bool // than products, which could read what was copied, read it
}

// A trail is what the calls of a step read and write.
type trail struct {
	uses    []use
	noted   []bool // operators that have an origin
	now     map[uint64]*content
	readers reading
	wrote   map[int][]*content // by operator
}

// usesInStep follows the storages through a step.
func usesInStep(p *operators.Profile, all []use, pays func(operator int) bool) reading {
	t := trail{uses: all, noted: make([]bool, len(all)), now: map[uint64]*content{},
		readers: reading{}, wrote: map[int][]*content{}}
	for _, call := range p.Step {
		t.follow(p, call, pays(call.Operator))
	}
	for op, contents := range t.wrote {
		needed := func(c *content) bool { return !c.read || c.others }
		all[op].leavable = !slices.ContainsFunc(contents, needed)
	}
	return t.readers
}

// follow notes what a call reads, and then what it writes.
func (t *trail) follow(p *operators.Profile, call operators.Call, pays bool) {
	n, op := call.Operator, p.Operators[call.Operator]
	operands, places := operandsOf(p, call)
	maker := calledBy(op, operators.Maker)
	passed := maker // what is made of what lies turned lies alike
	keys := map[string]bool{}
	from, strided := origin{true, true, true}, false
	for i, o := range operands {
		if o.Role == operators.Output {
			continue
		}
		c := t.now[places[i].Storage]
		if c == nil {
			c = &content{}
			t.now[places[i].Storage] = c
		}
		c.read = true
		c.others = c.others || op.Class != operators.Product || !takes(o, c.copied)
		if contiguous(o) {
			continue
		}
		if maker == "" && turned(o) {
			passed = c.maker
		}
		from = from.and(origin{
			maker:   c.maker != "" && (op.Backward || maker == "" && turned(o) || c.maker == maker),
			given:   maker != "" && turned(o) && c.maker != maker,
			product: c.product,
		})
		strided = true
		if pays && o.Role == operators.Input { // what is written in place is no use of a copy
			keys[fmt.Sprintf("%p %d %s", c, places[i].Offset, layoutKey(o))] = true
		}
	}
	if !strided {
		from = origin{}
	}
	if u := &t.uses[n]; t.noted[n] {
		from = from.and(u.origin)
	}
	t.uses[n].origin, t.noted[n] = from, true
	for key := range keys {
		t.readers[key] = append(t.readers[key], n)
	}
	product := op.Class == operators.Product && !convolves(op.Row())
	for i, o := range operands {
		if o.Role != operators.Input {
			c := &content{maker: passed, product: product, copied: source(op)}
			t.now[places[i].Storage], t.wrote[n] = c, append(t.wrote[n], c)
		}
	}
}
