package layouts

import (
	"errors"
	"fmt"
	"iter"
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
	Placed
}

// A Placed is where the elements of a view lie: a [Layout], or a tensor in a blocked format.
type Placed interface {
	Shape() []int
	At(index ...int) (int, error)
	Offsets() iter.Seq[int]
	String() string
}

// Drawing is what a picture of the views shows. Errors are as those of Text. It refuses what is
// sparse, and several views where one of them copies.
func (p Picture) Drawing() (Drawing, error) {
	d := Drawing{}
	if p.Expression == "" {
		d.What = fmt.Sprintf(" of a %s %v tensor", formatTuple(p.Shape), p.DType)
	}
	if p.Sparse != "" {
		return d, fmt.Errorf("sparse %s: it has no picture: leave -o out, and its arrays are "+
			"printed", p.Sparse)
	}
	all, err := p.expressions()
	if err != nil {
		return d, err
	}
	for _, e := range all {
		r, err := e.result()
		switch {
		case err != nil:
		case r.fresh && len(all) > 1:
			err = errors.New("it copies, and shares no storage with the other: draw it alone")
		case r.dtype != p.DType && len(all) > 1:
			err = fmt.Errorf("it has elements of %v, and the other of %v: draw it alone", r.dtype,
				p.DType)
		}
		if err != nil {
			return d, e.fault(err)
		}
		d.Storage, d.Views = r.storage, append(d.Views, Drawn{e.text, r.layout})
		if x, _ := e.shown(r); x != nil && (e.made.elements != nil || e.walk && r.fresh) {
			d.Values, _ = x.storage.all().cells()
		}
	}
	return d, nil
}
