package layouts

import (
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
	stored, err := Contiguous(p.Shape...)
	if err != nil {
		return d, fmt.Errorf("shape %s: %w", FormatShape(p.Shape), err)
	}
	for _, view := range p.views() {
		s, err := p.site(stored, view)
		switch {
		case err != nil:
			return d, fmt.Errorf("view %q: %w", view, err)
		case s.fresh && len(p.Views) > 1:
			return d, fmt.Errorf("view %q: it copies, and shares no storage with the other: "+
				"draw it alone", view)
		case s.dtype != p.DType && len(p.Views) > 1:
			return d, fmt.Errorf("view %q: it has elements of %v, and the other of %v: draw "+
				"it alone",
				view, s.dtype, p.DType)
		}
		name := view.String()
		if view.Empty() {
			name = "x"
		}
		d.Storage = s.storage
		d.Views = append(d.Views, Drawn{name, Plain(s.layout)})
		if s.fresh && s.dtype == p.DType && max(stored.Numel(), s.storage) <= shownElements {
			numbers := must(Arange(Int64, stored.Numel()))
			if seen, err := numbers.storage.seen(stored).apply(view, true); err == nil {
				d.Values, _ = seen.storage.all().cells()
			}
		}
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

// Drawing is what a picture of the result shows. Errors are as those of Text.
func (e Expression) Drawing() (Drawing, error) {
	s, known, err := e.site()
	if err != nil {
		return Drawing{}, err
	}
	d := Drawing{Storage: s.storage, Views: []Drawn{{e.text, Plain(s.layout)}}}
	if !known || e.made.elements == nil || max(e.made.layout.Numel(), s.storage) > shownElements {
		return d, nil
	}
	x, err := e.Tensor()
	if err == nil {
		d.Values, _ = x.storage.all().cells()
	}
	return d, err
}
