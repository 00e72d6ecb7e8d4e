package access

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/layouts/blocked"
	"github.com/stridebench/stridebench/layouts/nest"
)

// This file lowers tensors in blocked formats. A dim in blocks becomes several loops. A dim that
// the blocks do not divide splits the walk into pieces, each a nest.

// inFormats lowers a Reorder, and a Sum or Fill whose x has a format.
func (p *Pattern) inFormats() error {
	s := p.Spec
	if err := s.checkFormats(); err != nil {
		return err
	}
	kind := nest.Read
	if s.Op == Fill {
		kind = nest.Write
	}
	if err := p.addFormat("x", kind, s.From, "from"); err != nil {
		return err
	}
	if s.Op == Reorder {
		if err := p.addFormat("y", nest.Write, s.To, "to"); err != nil {
			return err
		}
	}
	view, err := layouts.Contiguous(s.Shape...)
	if err != nil {
		return fault("shape", s.Shape, err)
	}
	for i := range p.operands {
		p.operands[i].view = view
	}
	p.Elems = view.Numel()
	nests, err := p.cut()
	if err != nil {
		return err
	}
	if s.Op == Reorder {
		for _, l := range p.formats[1].Padding() {
			padding := []layouts.Layout{l}
			n, err := p.nest(padding)
			if err != nil {
				return err
			}
			p.pieces, nests = append(p.pieces, padding), append(nests, n)
		}
	}
	return p.lower(nests)
}

func (s Spec) checkFormats() error {
	switch {
	case s.Op == Reorder && s.From.Rank() == 0:
		return fault("op", s.Op, errors.New(
			"it wants the format that x is in (from, such as abcd)"))
	case s.Op == Reorder && s.To.Rank() == 0:
		return fault("op", s.Op, errors.New(
			"it wants the format that it makes (to, such as aBcd16b)"))
	case s.Op != Reorder && s.To.Rank() > 0:
		return fault("to", s.To.Written(),
			fmt.Errorf("a %v makes no tensor of another format, a reorder does", s.Op))
	case s.Op != Reorder && s.Op != Sum && s.Op != Fill:
		return fault("from", s.From.Written(),
			fmt.Errorf("x of a %v is stored contiguous (formats go with sum, fill and reorder)",
				s.Op))
	case s.Order == Torch:
		return fault("order", s.Order, errors.New("PyTorch's loops walk no tensor in a format"))
	case s.Order == asTo && s.Op != Reorder:
		return fault("order", s.Order, fmt.Errorf(
			"a %v writes no tensor of another format (from is as x lies)", s.Op))
	}
	return s.without("a tensor in a format has no views, pads or tiles, and is walked by elements "+
		"(orders from and to walk its blocks)", "pad", "view", "tile", "width")
}

func (p *Pattern) addFormat(tensor string, kind nest.Kind, t blocked.Tag, field string) error {
	b, err := t.Layout(p.Spec.Shape...)
	if err != nil {
		return fault(field, t.Written(), err)
	}
	p.formats = append(p.formats, b)
	store := b.Nested()
	return p.add(tensor, kind, store, store)
}

// cut splits the tensors into pieces, views of one shape, one per tensor. It returns their nests.
func (p *Pattern) cut() (nests []nest.Nest, err error) {
	s := p.Spec
	dims, by := nest.UpTo(len(s.Shape)), slices.Index([]Order{asFrom, asTo}, s.Order)
	if by < 0 {
		if dims, err = s.Order.of(len(s.Shape)); err != nil {
			return nil, fault("order", s.Order, err)
		}
	}
	if p.pieces, err = blocked.Pieces(dims, p.formats...); err != nil {
		return nil, fault("to", s.To.Written(), err)
	}
	for _, piece := range p.pieces {
		n, err := p.nest(piece)
		if err != nil {
			return nil, err
		}
		if by >= 0 {
			strides, loops := n.Operands[by].Strides, nest.UpTo(len(n.Trips))
			slices.SortStableFunc(loops, func(a, b int) int {
				return cmp.Compare(strides[b], strides[a])
			})
			n = n.Permute(loops...)
		}
		nests = append(nests, n)
	}
	return nests, nil
}
