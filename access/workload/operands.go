package workload

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/machines/strict"
)

// An operandEntry is a tensor given by value, not by name.
type operandEntry struct {
	Role    value  `yaml:"role"`
	Shape   value  `yaml:"shape"`
	Strides values `yaml:"strides"`
	Offset  int    `yaml:"offset"`
	DType   value  `yaml:"dtype"`
}

// ofOperands returns the specs of an entry of operands: as given, and a contiguous twin if wanted.
func (e entry) ofOperands(at *place) ([]lowered, error) {
	if e.Tensor != nil || e.View != nil || e.With != nil || e.Order != nil || e.Tile != nil ||
		e.Kernel != nil {
		return nil, at.file.Errorf(at.path, "operands go with name, op, dims and twin alone: "+
			"they have their own shapes, and are walked in order torch by plain loops")
	}
	if err := e.checkName(at); err != nil {
		return nil, err
	}
	if len(e.Op) > 1 || e.Op == nil {
		return nil, at.file.Errorf(at.path, "operands want one op (sum, fill, copy or add)")
	}
	s := access.Spec{Order: access.Torch}
	if err := s.Set("op", e.Op[0].text); err != nil {
		return nil, at.file.Refuse(e.Op[0].node, err)
	}
	for i, o := range e.Operands {
		operand, err := o.operand(at.file, fmt.Sprintf("%s.operands[%d]", at.path, i))
		if err != nil {
			return nil, err
		}
		s.Operands = append(s.Operands, operand)
	}
	for _, v := range e.Dims {
		d, err := strconv.Atoi(v.text)
		if err != nil {
			return nil, at.file.Refuse(v.node, fmt.Errorf("dims %q: %w", v.text, err))
		}
		s.Dims = append(s.Dims, d)
	}
	specs := []access.Spec{s}
	switch e.Twin.text {
	case "":
	case "contiguous":
		twin, err := s.Contiguous()
		if err != nil {
			return nil, at.file.Errorf(at.path, "%w", err)
		}
		if twin.Name() != s.Name() {
			specs = append(specs, twin)
		}
	default:
		return nil, at.file.Refuse(e.Twin.node,
			fmt.Errorf("twin %q (want contiguous)", e.Twin.text))
	}
	from := map[string]value{}
	if e.Dims != nil {
		from["dims"] = e.Dims[0]
	}
	var all []lowered
	for _, s := range specs {
		walked, _, err := (draft{spec: s, from: from}).check(at)
		if err != nil {
			return nil, err
		}
		all = append(all, lowered{s, walked})
	}
	return all, nil
}

func (o operandEntry) operand(doc *strict.File, path string) (access.Value, error) {
	fail := func(err error) (access.Value, error) {
		return access.Value{}, doc.Errorf(path, "%w", err)
	}
	if o.Shape.node == nil {
		return fail(errors.New("an operand has no shape (such as shape: 4000x4000)"))
	}
	kind, dtype := nest.Read, layouts.Float32
	shape, err := layouts.ParseShape(o.Shape.text)
	if err == nil && o.Role.node != nil {
		kind, err = parseRole(o.Role.text)
	}
	if err == nil && o.DType.node != nil {
		dtype, err = layouts.ParseDType(o.DType.text)
	}
	if err != nil {
		return fail(err)
	}
	if len(shape) > maxRank {
		return fail(fmt.Errorf("%d dims (want at most %d)", len(shape), maxRank))
	}
	if o.Offset < 0 {
		return fail(fmt.Errorf("offset %d is negative", o.Offset))
	}
	dense, err := layouts.Contiguous(shape...)
	if err != nil {
		return fail(err)
	}
	strides := dense.Strides()
	for i, v := range o.Strides {
		if i == 0 {
			strides = nil
		}
		n, err := strconv.Atoi(v.text)
		if err != nil {
			return fail(fmt.Errorf("stride %q is not a whole number", v.text))
		}
		strides = append(strides, n)
	}
	l, err := layouts.New(shape, slices.Clip(strides), o.Offset)
	if err != nil {
		return fail(err)
	}
	return access.Value{Layout: l, DType: dtype, Kind: kind}, nil
}

func parseRole(name string) (nest.Kind, error) {
	names := []string{nest.Read: "input", nest.Write: "output", nest.Modify: "in-place"}
	if i := slices.Index(names, name); i >= 0 {
		return nest.Kind(i), nil
	}
	return 0, fmt.Errorf("no such role (known: %s)", strings.Join(names, ", "))
}
