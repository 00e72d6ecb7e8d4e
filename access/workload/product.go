package workload

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/kernel"
	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/simcache/machines/strict"
)

// Words of the format.
const (
	none   = "none"   // no view, no tile
	vector = "vector" // this CPU's best set of vector kernels, where it can walk the rest
)

// A draft is an unfinished spec, with the values that set its fields.
type draft struct {
	spec   access.Spec
	from   map[string]value
	vector bool // its kernel is not asked for by name
}

type lowered struct {
	access.Spec
	walked layouts.DType // of the view, perhaps not the stored dtype
}

// A step multiplies drafts by a key's values.
type step struct {
	key      string
	values   values
	standard string // value if the file has none; "" for none
}

// product returns the combinations of an entry's values; the last key changes fastest.
func (e entry) product(at *place, tensors map[string]store) ([]lowered, error) {
	if e.Operands != nil {
		if len(e.Operands) == 0 {
			return nil, at.file.Errorf(at.path+".operands", "no operands (want a list of tensors)")
		}
		return e.ofOperands(at)
	}
	if err := e.check(at, tensors); err != nil {
		return nil, err
	}
	drafts := []draft{{}}
	for _, s := range e.steps() {
		if s.values == nil && s.standard != "" {
			s.values = values{{text: s.standard}}
		}
		var next []draft
		for _, d := range drafts {
			if s.key == "with" && d.spec.Op != access.Add || s.key == "to" &&
				d.spec.Op != access.Reorder {
				next = append(next, d)
				continue
			}
			if len(next)+len(s.values) > maxBenchmarks {
				return nil, at.file.Errorf(at.path, "more than %d benchmarks in a file",
					maxBenchmarks)
			}
			for _, v := range s.values {
				one := draft{d.spec, maps.Clone(d.from), d.vector}
				if one.from == nil {
					one.from = map[string]value{}
				}
				if err := one.set(at.file, tensors, s.key, v); err != nil {
					return nil, err
				}
				next = append(next, one)
			}
		}
		drafts = next
	}
	var specs []lowered
	for _, d := range drafts {
		walked, keep, err := d.check(at)
		if err != nil {
			return nil, err
		}
		if keep {
			specs = append(specs, lowered{d.spec, walked})
		}
	}
	return specs, nil
}

func (e entry) steps() []step {
	return []step{{"tensor", e.Tensor, ""}, {"op", e.Op, access.Sum.String()}, {"with", e.With, ""},
		{"from", e.From, none}, {"to", e.To, ""}, {"view", e.View, none}, {"order", e.Order, "row"},
		{"tile", e.Tile, none}, {"kernel", e.Kernel, access.Scalar.String()}}
}

// set sets a key of a draft.
func (d *draft) set(doc *strict.File, tensors map[string]store, key string, v value) error {
	d.from[key] = v
	word := v.text
	switch {
	case key == "tensor":
		t, ok := tensors[word]
		if !ok {
			return doc.Refuse(v.node, fmt.Errorf(
				"tensor %q is not among the tensors (there are %s)", word, names(tensors)))
		}
		d.spec, d.from["shape"], d.from["dtype"] = t.spec, t.shape, t.dtype
		return nil
	case key == "view" && (word == "" || len(word) > maxText):
		return doc.Refuse(v.node, fmt.Errorf(
			"a view of %d characters (want none, or a chain such as transpose(0,1) of at most %d)",
			len(word), maxText))
	case key == "kernel":
		if d.vector = word == vector; d.vector {
			word = kernel.Best().Name()
		}
	}
	if err := d.spec.Set(key, word); err != nil {
		return doc.Refuse(v.node, err)
	}
	return nil
}

func (e entry) check(at *place, tensors map[string]store) error {
	if err := e.checkName(at); err != nil {
		return err
	}
	is := func(op access.Op) func(value) bool {
		return func(v value) bool { return v.text == op.String() }
	}
	adds, reorders := is(access.Add), is(access.Reorder)
	switch {
	case e.Dims != nil || e.Twin.node != nil:
		return at.file.Errorf(at.path, "dims and twin go with operands")
	case e.Tensor == nil:
		return at.file.Errorf(at.path, "no tensor (there are %s)", names(tensors))
	case e.With != nil && !slices.ContainsFunc(e.Op, adds):
		return at.file.Refuse(e.With[0].node, errors.New("with goes with op: add"))
	case e.To != nil && !slices.ContainsFunc(e.Op, reorders):
		return at.file.Refuse(e.To[0].node, errors.New("to goes with op: reorder"))
	case e.To == nil && slices.ContainsFunc(e.Op, reorders):
		return at.file.Errorf(at.path, "op reorder wants the format that it makes (such as to: "+
			"aBcd16b)")
	case e.With == nil && slices.ContainsFunc(e.Op, adds):
		return at.file.Errorf(at.path, "op add wants the shape of the tensor to add (such as "+
			"with: 1x4000)")
	}
	return nil
}

func (e entry) checkName(at *place) error {
	if e.Name.node != nil && (!word().MatchString(e.Name.text) || procs(e.Name.text)) {
		return at.file.Refuse(e.Name.node, fmt.Errorf(
			"%q is not a name of benchmarks (%s, no -<digits> last)", e.Name.text, wantName))
	}
	return nil
}

// check lowers a spec and returns the dtype that is walked. It drops a spec that this CPU's vector
// kernels cannot walk. Errors name the place of the value at fault.
func (d draft) check(at *place) (walked layouts.DType, keep bool, err error) {
	if d.vector && len(kernel.Sets()) == 1 {
		return 0, false, nil
	}
	p, err := d.spec.Pattern()
	if err == nil {
		// A kernel of other CPUs is a valid name until it is to be timed.
		err := access.Measurable(p, 0)
		if _, foreign := errors.AsType[*access.FieldError](err); err != nil && !foreign {
			return 0, false, at.file.Errorf(at.path, "%s: %w", d.spec.Name(), err)
		}
		return p.Spec.DType, true, nil
	}
	if fault, ok := errors.AsType[*access.FieldError](err); ok {
		if fault.Field == "kernel" && d.vector {
			return 0, false, nil
		}
		if v := d.from[fault.Field]; v.node != nil {
			return 0, false, at.file.Refuse(v.node, err)
		}
	}
	return 0, false, at.file.Errorf(at.path, "%w", err)
}

func names(tensors map[string]store) string {
	if len(tensors) == 0 {
		return "none"
	}
	return strings.Join(slices.Sorted(maps.Keys(tensors)), ", ")
}
