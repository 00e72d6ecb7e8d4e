package access

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/layouts/nest"
)

// placeOperands places the operands in memory: first those that are read, in their order.
func (p *Pattern) placeOperands() error {
	s := &p.Spec
	if err := s.checkOperands(); err != nil {
		return err
	}
	var shapes []layouts.Layout
	var output *int
	names := tensorNames(s.Operands)
	place := func(i int, kind nest.Kind) error {
		return p.addOperand(names[i], kind, s.Operands[i].Layout, i+1)
	}
	for i, o := range s.Operands {
		if o.Kind != nest.Read {
			output = &i
		}
		if o.Kind != nest.Write {
			if err := place(i, nest.Read); err != nil {
				return err
			}
		}
		shapes = append(shapes, o.Layout)
	}
	switch {
	case s.Op == Sum:
		if output != nil {
			return place(*output, nest.Write)
		}
		return nil
	case output == nil: // of Add: PyTorch allocates it
		it, err := layouts.Elementwise(shapes...)
		if err != nil {
			return fault("operands", s.operands(), err)
		}
		p.fresh = true
		if err := p.expand(it.Output); err != nil {
			return err
		}
		return p.add("out", nest.Write, it.Output, it.Output)
	}
	y := s.Operands[*output]
	if err := p.expand(y.Layout); err != nil {
		return err
	}
	if y.Kind == nest.Write {
		return place(*output, nest.Write)
	}
	i := slices.IndexFunc(p.operands, func(op operand) bool { return op.of == *output+1 })
	self := p.operands[i]
	self.kind = nest.Write
	p.operands = append(p.operands, self)
	return nil
}

// tensorNames are used in nests and benchmarks: in, in2, out, self.
func tensorNames(operands []Value) []string {
	names, count := make([]string, len(operands)), map[nest.Kind]int{}
	for i, o := range operands {
		names[i] = [...]string{nest.Read: "in", nest.Write: "out", nest.Modify: "self"}[o.Kind]
		if count[o.Kind]++; count[o.Kind] > 1 {
			names[i] += fmt.Sprint(count[o.Kind])
		}
	}
	return names
}

// Number returns the index in Spec.Operands of a tensor of the nests. It returns false for tensors
// that are not in Spec.Operands, such as buffers.
func (p Pattern) Number(tensor string) (n int, ok bool) {
	for _, op := range p.operands {
		if op.tensor == tensor && op.of > 0 {
			return op.of - 1, true
		}
	}
	return 0, false
}

func (s *Spec) checkOperands() error {
	var count [nest.Modify + 1]int // by kind
	for i, o := range s.Operands {
		if o.Kind > nest.Modify || o.DType.Size() == 0 {
			return fault("operands", i, fmt.Errorf("kind %d, dtype %s", o.Kind, o.DType))
		}
		count[o.Kind]++
	}
	want := ""
	read, written := count[nest.Read], count[nest.Write]+count[nest.Modify]
	switch {
	case s.Order != Torch:
		return fault("order", s.Order, errors.New("operands are walked in order torch"))
	case s.Op == Copy && (read != 1 || count[nest.Write] != 1 || len(s.Operands) != 2):
		want = "an input and an output"
	case s.Op == Fill && (read > 0 || written != 1):
		want = "one that is written"
	case s.Op == Sum && (read != 1 || count[nest.Modify] > 0 || written > 1):
		want = "an input, and an output or none"
	case s.Op == Add && (read+count[nest.Modify] == 0 || written > 1):
		want = "one that is read or more, and at most one that is written"
	case s.Op == Chase || s.Op == Reorder:
		want = "none"
	}
	if want != "" {
		return fault("operands", s.operands(), fmt.Errorf("%v wants %s", s.Op, want))
	}
	if s.Op == Sum {
		return nil
	}
	if s.Dims != nil && (s.Op != Add || written == 0) {
		return fault("dims", fmt.Sprint(s.Dims),
			fmt.Errorf("%v has none, they are what a sum goes along, or outermost in an add that "+
				"says where its result is", s.Op))
	}
	return nil
}

func (s *Spec) operands() string {
	var all []string
	for _, o := range s.Operands {
		word := [...]string{nest.Read: "input", nest.Write: "output",
			nest.Modify: "in-place"}[o.Kind]
		all = append(all, word+" "+o.text())
	}
	return strings.Join(all, ", ")
}

func (s *Spec) uniform() bool {
	return !slices.ContainsFunc(s.Operands, func(o Value) bool { return o.DType != s.DType })
}

// expand gives the inputs the shape of the result, for reference.
func (p *Pattern) expand(to layouts.Layout) error {
	for i := range p.operands {
		view, err := p.operands[i].own.Expand(to.Shape()...)
		if err != nil {
			return fault("operands", p.Spec.operands(), err)
		}
		p.operands[i].view = view
	}
	return nil
}

// addOperand places operand number of of the spec, counted from 1. It skips whole pages of storage
// before its elements.
func (p *Pattern) addOperand(tensor string, kind nest.Kind, l layouts.Layout, of int) error {
	if at := p.Spec.Operands[of-1].At; at > 0 {
		p.operands = append(p.operands, operand{tensor: tensor, kind: kind, base: at, view: l,
			own: l, of: of})
		return nil
	}
	size := p.Spec.Operands[of-1].DType.Size()
	low, high := l.Extent()
	page := alignment / size
	shift := (low - ((low%page)+page)%page)
	start := aligned(p.Memory)
	if high-shift > (math.MaxInt-Origin-start-alignment)/size-1 || high < low {
		return fault("operands", p.Spec.Operands[of-1].text(),
			errors.New("it is more bytes than the address space holds"))
	}
	moved, err := layouts.New(l.Shape(), l.Strides(), l.Offset()-shift)
	if err != nil {
		return fault("operands", p.Spec.Operands[of-1].text(), err)
	}
	bytes := (high - shift + 1) * size
	p.operands = append(p.operands, operand{tensor: tensor, kind: kind,
		base: Origin + uint64(start), view: moved, own: moved, size: bytes, of: of})
	p.Memory = start + bytes
	return nil
}

// overlapsAsked bounds the elements whose overlaps are computed. Beyond, the first check of the
// output finds them.
const overlapsAsked = 1 << 20

// computableOperands refuses operands that no native loop walks.
func (s Spec) computableOperands() error {
	read, written := 0, false
	for _, o := range s.Operands {
		if o.DType != s.Operands[0].DType {
			return fmt.Errorf("operands of %s and %s are priced and simulated only, no native "+
				"loop converts", s.Operands[0].DType, o.DType)
		}
		if o.Kind != nest.Write {
			read++
		}
		written = written || o.Kind != nest.Read
		if o.Kind != nest.Read && s.Op != Fill && o.Layout.Numel() <= overlapsAsked &&
			o.Layout.Overlaps() {
			return errors.New("elements of the output share memory: it is priced and simulated " +
				"only, because their last values depend on the order")
		}
		if o.At > 0 {
			return errors.New("operands at addresses of their own are priced and simulated only")
		}
	}
	switch {
	case s.Op == Sum && written:
		return errors.New("a sum that writes its result is priced and simulated only: leave the " +
			"output out")
	case s.Op == Add && read > 2:
		return fmt.Errorf("an operation of %d tensors is priced and simulated only, native loops "+
			"read one or two", read)
	}
	return nil
}

func (s Spec) operandsName() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Operands/op=%v", s.Op)
	if s.Dims != nil {
		fmt.Fprintf(&b, "/dims=%s", listed(s.Dims))
	}
	names := tensorNames(s.Operands)
	for i, o := range s.Operands {
		fmt.Fprintf(&b, "/%s=%s", names[i], formatLayout(o.Layout))
		if o.DType != s.Operands[0].DType {
			fmt.Fprintf(&b, ":%s", o.DType)
		}
	}
	fmt.Fprintf(&b, "/order=torch/dtype=%s/kernel=%v", s.Operands[0].DType, s.Kernel)
	return b.String() + s.threadsName()
}

// Contiguous returns the spec with contiguous operands of the same shapes. A dim of stride 0 still
// repeats one element.
func (s Spec) Contiguous() (Spec, error) {
	operands := slices.Clone(s.Operands)
	for i, o := range operands {
		shape := o.Layout.Shape()
		stored := slices.Clone(shape)
		for d := range stored {
			if o.Layout.Stride(d) == 0 && stored[d] > 1 {
				stored[d] = 1
			}
		}
		dense, err := layouts.Contiguous(stored...)
		if err == nil {
			dense, err = dense.Expand(shape...)
		}
		if err != nil {
			return s, fault("operands", o.text(), err)
		}
		operands[i].Layout = dense
	}
	s.Operands = operands
	return s, nil
}
