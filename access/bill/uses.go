package bill

import (
	"fmt"
	"slices"

	"github.com/stridebench/stridebench/access/operators"
)

// A use is what a profile tells of the tensors of an operator whose layout costs.
type use struct {
	reads    int     // of a tensor in its layout, by operators for which it costs
	others   int     // of these, by such as are no copies for the layout
	once     float64 // ns of making the operands contiguous beforehand
	leavable bool    // of a copy: products alone read what it wrote, and could read what it copies
	nowhere  bool    // the profile does not say where tensors lie
	pixels   bool    // what is read are the pixels of row-major images that a convolution returned
	origin
}

// An origin is where what is read in a layout comes from, in every call.
type origin struct {
	maker   bool // a function of torch that chose its order, such as the one that reads it
	given   bool // such a function, which reads it, got it with its first two dims swapped
	product bool // a matrix product wrote it
	itself  bool // the backward pass, of nothing else that is row-major
}

// and is what both are.
func (o origin) and(p origin) origin {
	return origin{o.maker && p.maker, o.given && p.given, o.product && p.product, o.itself && p.itself}
}

// layoutKey is equal for operands that lie alike.
func layoutKey(o operators.Operand) string { return fmt.Sprint(o.DType, o.Shape, o.Strides) }

// usesOf are the uses of each operator, by those whose layout costs time (pays), of which some are
// copies for the layout. Where a profile says where operands lie, it is how often the same elements
// are read until the storage is written again. Where it does not, an operator that is called most
// often with a layout is taken to read each tensor once: all reads of the layout by that operator's
// calls.
func usesOf(p *operators.Profile, pays, copies func(operator int) bool) []use {
	all := make([]use, len(p.Operators))
	if p.Step != nil {
		usesInStep(p, all, pays, copies)
	} else {
		usesByLayout(p, all, pays, copies)
	}
	images := imagesOf(p)
	for n := range all {
		all[n].pixels = pays(n) && ofPixels(&Item{Operator: p.Operators[n]}, images)
	}
	return all
}

// usesByLayout counts uses in a profile that does not say where operands lie.
func usesByLayout(p *operators.Profile, all []use, pays, copies func(operator int) bool) {
	reads, others, most, both := map[string]int{}, map[string]int{}, map[string]int{}, map[string]int{}
	itself := true
	for n, op := range p.Operators {
		itself = itself && (op.Backward || !slices.ContainsFunc(op.Inputs, rowMajor))
		if !pays(n) {
			continue
		}
		alike := op.Op + " " + Item{Operator: op}.Tensors() // of both passes
		both[alike] += op.Calls
		for _, o := range op.Inputs {
			if o.Role == operators.Input && !contiguous(o) {
				k := layoutKey(o)
				if reads[k] += op.Calls; !copies(n) {
					others[k] += op.Calls
				}
				most[k] = max(most[k], both[alike])
			}
		}
	}
	for n, op := range p.Operators {
		all[n].nowhere, all[n].itself = true, itself
		for _, o := range op.Inputs {
			if k := layoutKey(o); o.Role == operators.Input && most[k] > 0 && reads[k]/most[k] > all[n].reads {
				all[n].reads, all[n].others = reads[k]/most[k], others[k]/most[k]
			}
		}
	}
}

// imagesOf are the batches, channels and pixels of row-major images that convolutions return, or
// that they add to.
func imagesOf(p *operators.Profile) map[[3]int]bool {
	all := map[[3]int]bool{}
	for _, op := range p.Operators {
		if op.Backward || !convolves(op.Row()) && calledBy(op, operators.ChannelsLast) == "" {
			continue
		}
		for _, o := range slices.Concat(op.Inputs, op.Outputs, op.Results()) {
			if o.Role != operators.Input && rowMajor(o) {
				all[[3]int{o.Shape[0], o.Shape[1], product(o.Shape[2:])}] = true
			}
		}
	}
	return all
}

// convolves reports whether an operator is a convolution: the products that take channels_last.
func convolves(r operators.Row) bool {
	return r.Class == operators.Product && r.Has(operators.ChannelsLast)
}

// ofPixels reports whether the one operand of an operator that is not contiguous, besides those
// that are expanded, is what a convolution returned, as batches of pixels of channels.
func ofPixels(i *Item, images map[[3]int]bool) bool {
	strided := i.stridedOperands()
	if len(strided) != 1 || len(strided[0].Shape) != 3 {
		return false
	}
	o := strided[0]
	n, pixels, channels := o.Shape[0], o.Shape[1], o.Shape[2]
	return images[[3]int{n, channels, pixels}] && o.Strides[1] == 1 && o.Strides[2] == pixels &&
		(n == 1 || o.Strides[0] == pixels*channels)
}

// A version of a storage is what it holds between two writes.
type version struct {
	storage uint64
	writes  int
}

// A stretch of a version is what an operand reads of it.
type stretch struct {
	version
	offset int
	layout string
}

// A trail is what the calls of a step read and write.
type trail struct {
	profile *operators.Profile
	uses    []use
	noted   []bool // operators that have an origin
	pays    func(operator int) bool

	writes  map[uint64]int
	written map[version]origin
	makers  map[version]string
	readers map[stretch][]int    // operators whose layout costs time: one a call
	readBy  map[version][]reader // all
	wrote   map[int][]version    // by operator
}

// A reader is an operand of an operator, by their numbers.
type reader struct{ operator, at int }

// usesInStep follows the storages through a step.
func usesInStep(p *operators.Profile, all []use, pays, copies func(operator int) bool) {
	t := trail{profile: p, uses: all, noted: make([]bool, len(all)), pays: pays,
		writes: map[uint64]int{}, written: map[version]origin{}, makers: map[version]string{},
		readers: map[stretch][]int{}, readBy: map[version][]reader{}, wrote: map[int][]version{}}
	for _, call := range p.Step {
		t.follow(call)
	}
	for _, calls := range t.readers {
		others := len(slices.DeleteFunc(slices.Clone(calls), copies))
		for _, op := range calls {
			if u := &all[op]; len(calls) > u.reads || len(calls) == u.reads && others > u.others {
				u.reads, u.others = len(calls), others
			}
		}
	}
	for op, versions := range t.wrote {
		copied := source(p.Operators[op])
		all[op].leavable = !slices.ContainsFunc(versions, func(v version) bool {
			return len(t.readBy[v]) == 0 || slices.ContainsFunc(t.readBy[v], func(r reader) bool {
				op := p.Operators[r.operator]
				return op.Class != operators.Product ||
					!takes(slices.Concat(op.Inputs, op.Outputs)[r.at], copied)
			})
		})
	}
}

// follow notes what a call reads, and then what it writes.
func (t *trail) follow(call operators.Call) {
	op := t.profile.Operators[call.Operator]
	all, places := operandsOf(t.profile, call)
	maker := calledBy(op, operators.Maker)
	passed := maker // what is made of what lies turned lies alike
	reads := map[stretch]bool{}
	whole, strided := origin{true, true, true, true}, false
	made := origin{itself: op.Backward, product: op.Class == operators.Product && !convolves(op.Row())}
	for n, o := range all {
		if places[n].Storage == 0 || o.Role == operators.Output {
			continue
		}
		v := version{places[n].Storage, t.writes[places[n].Storage]}
		t.readBy[v] = append(t.readBy[v], reader{call.Operator, n})
		made.itself = made.itself && (!rowMajor(o) || t.written[v].itself)
		if contiguous(o) {
			continue
		}
		if maker == "" && turned(o) {
			passed = t.makers[v]
		}
		if !t.pays(call.Operator) {
			continue
		}
		from := t.written[v]
		from.maker = t.makers[v] != "" && (op.Backward || maker == "" && turned(o) || t.makers[v] == maker)
		from.given = maker != "" && turned(o) && t.makers[v] != maker
		whole, strided = whole.and(from), true
		if o.Role == operators.Input { // what is written in place is no use of a copy
			reads[stretch{v, places[n].Offset, layoutKey(o)}] = true
		}
	}
	if !strided {
		whole = origin{}
	}
	whole.itself = made.itself
	t.note(call.Operator, whole)
	for r := range reads {
		t.readers[r] = append(t.readers[r], call.Operator)
	}
	for n, o := range all {
		if storage := places[n].Storage; storage != 0 && o.Role != operators.Input {
			t.writes[storage]++
			v := version{storage, t.writes[storage]}
			t.wrote[call.Operator] = append(t.wrote[call.Operator], v)
			t.written[v], t.makers[v] = made, passed
		}
	}
}

// note notes of an operator what has to be so in every call.
func (t *trail) note(operator int, from origin) {
	if u := &t.uses[operator]; t.noted[operator] {
		u.origin = u.origin.and(from)
	} else {
		u.origin, t.noted[operator] = from, true
	}
}
