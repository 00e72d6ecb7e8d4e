package layouts

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
)

// A Drawing is what a picture shows: views of one storage, and what its elements are.
type Drawing struct {
	What    string // of what tensor the views are, where their names do not say it
	Storage int    // elements
	// Values are those of the storage's elements, "" for padding; nil where an element is
	// known by its place.
	Values []string
	Padded bool // elements of the storage that no view has are padding
	Views  []Drawn
}

// A Drawn is a view in a Drawing.
type Drawn struct {
	Name string
	Blocked
}

// Drawing is what a picture of the views shows. Errors are as those of Text. It refuses what is
// sparse, and several views where one of them copies.
func (p Picture) Drawing() (Drawing, error) {
	d := Drawing{What: fmt.Sprintf(" of a %s %v tensor", formatTuple(p.Shape), p.DType)}
	switch {
	case p.Sparse != nil:
		return d, fmt.Errorf("sparse %v: it has no picture: leave -o out, and its arrays are "+
			"printed",
			*p.Sparse)
	case p.Format.Rank() > 0:
		b, err := p.Format.Layout(p.Shape...)
		if err != nil {
			return d, fmt.Errorf("format %s: %w", p.Format.Written(), err)
		}
		d.Storage, d.Padded = b.Nested().Numel(), true
		d.Views = []Drawn{{p.Format.Written(), b}}
		if d.Storage <= shownElements {
			d.Values = make([]string, d.Storage)
			number := 0
			for at := range b.Offsets() {
				d.Values[at] = strconv.Itoa(number)
				number++
			}
		}
		return d, nil
	}
	all, err := p.expressions()
	if err != nil {
		return d, err
	}
	for i, e := range all {
		one, err := e.Drawing()
		s, _, _ := e.site()
		switch {
		case err != nil:
		case s.fresh && len(all) > 1:
			err = errors.New("it copies, and shares no storage with the other: draw it alone")
		case s.dtype != p.DType && len(all) > 1:
			err = fmt.Errorf("it has elements of %v, and the other of %v: draw it alone", s.dtype,
				p.DType)
		}
		if err != nil {
			return d, fmt.Errorf("view %q: %w", p.views()[i], err)
		}
		d.Storage, d.Values, d.Views = one.Storage, one.Values, append(d.Views, one.Views...)
	}
	return d, nil
}

// views are the views, or else the tensor itself.
func (p Picture) views() []Chain {
	if len(p.Views) == 0 {
		return []Chain{{}}
	}
	return p.Views
}

// expressions are the views of a contiguous tensor whose elements are not known.
func (p Picture) expressions() (all []Expression, err error) {
	stored, err := Contiguous(p.Shape...)
	if err == nil {
		_, err = stored.bytes(p.DType)
	}
	if err != nil {
		return nil, fmt.Errorf("shape %s: %w", FormatShape(p.Shape), err)
	}
	for _, view := range p.views() {
		all = append(all, Expression{text: cmp.Or(view.text, "x"), chain: view, walk: true,
			made: made{layout: stored, dtype: p.DType}})
	}
	return all, nil
}
