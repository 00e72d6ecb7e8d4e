package bill

import (
	"fmt"
	"slices"

	"github.com/stridebench/stridebench/access/operators"
)

// A use is how a profile uses the tensors of an operator whose layout costs time.
type use struct {
	reads    int  // how often operators that pay for its layout read a tensor, at most
	leavable bool // a copy whose readers are products and could read its source
	nowhere  bool // the profile does not say where tensors are
	images   bool // the forward pass has convolutions of row-major images
	rowMajor bool // the forward pass has some operator on such images
	origin
}

// An origin is where strided operands come from, in every call.
type origin struct {
	maker   bool // a function with the flag maker chose the order
	given   bool // such a function reads them, and got them with the first two dims swapped
	product bool // a matrix product wrote them
}

func (o origin) and(p origin) origin {
	return origin{o.maker && p.maker, o.given && p.given, o.product && p.product}
}

// A reading has the operators that read the same elements in a layout that costs time, one for each
// call.
type reading map[string][]int // operators

// usesOf returns the uses of each operator by those that pay for a layout. With places, it counts
// reads of the same elements between two writes of the storage. Without, it takes all tensors of
// the same layout as one.
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

// alike finds the operators that read tensors of the same layout. An operator of both passes counts
// once.
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

func layoutKey(o operators.Tensor) string { return fmt.Sprint(o.DType, o.Shape, o.Strides) }

// convolves reports whether an operator is a convolution: a product that takes channels_last.
func convolves(r operators.Row) bool {
	return r.Class == operators.Product && r.Has(operators.ChannelsLast)
}

// A content is what a storage holds between two writes.
type content struct {
	maker   string           // the function with the flag maker that chose its order
	product bool             // a matrix product wrote it
	copied  operators.Tensor // the source, if a copy wrote it
	read    bool
	others  bool // operators other than products that could read the source read it
}

type trail struct {
	uses    []use
	noted   []bool // operators with an origin
	now     map[uint64]*content
	readers reading
	wrote   map[int][]*content // by operator
}

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

// follow notes the reads of a call, and then its writes.
func (t *trail) follow(p *operators.Profile, call operators.Call, pays bool) {
	n, op := call.Operator, p.Operators[call.Operator]
	operands, places := operandsOf(p, call)
	maker := calledBy(op, operators.Maker)
	passed := maker // results keep the order of turned operands
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
		if pays && o.Role == operators.Input { // an operand in place cannot use a copy
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
