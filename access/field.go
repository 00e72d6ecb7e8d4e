package access

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/layouts/blocked"
)

// A FieldError names a field of a Spec or of Options, its value as text, and why it is refused.
type FieldError struct {
	Field string // as in files and flags, such as "shape"
	Value string
	Err   error // says what would be right
}

// Error returns such as "pad -1: negative".
func (e *FieldError) Error() string { return fmt.Sprintf("%s %s: %v", e.Field, e.Value, e.Err) }

// Unwrap returns the reason.
func (e *FieldError) Unwrap() error { return e.Err }

// fault makes a FieldError, unless err is nil.
func fault(field string, value any, err error) error {
	if err == nil {
		return nil
	}
	text := fmt.Sprint(value)
	if shape, is := value.([]int); is {
		text = layouts.FormatShape(shape)
	} else if field == "view" || field == "order" {
		text = strconv.Quote(text)
	}
	return &FieldError{field, text, err}
}

// without refuses those of the fields that are not as in the zero Spec, for a reason.
func (s Spec) without(why string, fields ...string) error {
	for _, f := range []struct {
		name  string
		given bool
		value any
	}{{"order", s.Order != Row, s.Order}, {"pad", s.Pad != 0, s.Pad},
		{"view", !s.View.Empty(), s.View}, {"tile", s.Tile != nil, s.Tile},
		{"width", s.Width != 0 && s.Width != s.DType.Size(), s.Width},
		{"kernel", s.Kernel != Scalar, s.Kernel}} {
		if f.given && slices.Contains(fields, f.name) {
			return fault(f.name, f.value, errors.New(why))
		}
	}
	return nil
}

// Set sets a field by its name and its text in files: shape, pad, dtype, with, view, order, tile,
// op, from, to or kernel. The text of a tile, a view or a format may be "none". The error is a
// *FieldError.
func (s *Spec) Set(field, text string) (err error) {
	value := text
	if text == "none" {
		value = ""
	}
	switch field {
	case "shape":
		s.Shape, err = layouts.ParseShape(text)
	case "pad":
		s.Pad, err = strconv.Atoi(text)
	case "dtype":
		s.DType, err = layouts.ParseDType(text)
	case "with":
		s.With, err = layouts.ParseShape(text)
	case "view":
		s.View, err = layouts.ParseChain(value)
		if err != nil && strings.Count(text, "(") != strings.Count(text, ")") {
			err = fmt.Errorf("%w; in a list of YAML, quote a view that has a comma", err)
		}
	case "order":
		s.Order, err = parseOrder(text)
	case "tile":
		if s.Tile = nil; value != "" {
			s.Tile, err = layouts.ParseShape(text)
		}
	case "op":
		s.Op, err = parseOp(text)
	case "from":
		s.From, err = parseTag(value)
	case "to":
		s.To, err = parseTag(value)
	case "kernel":
		s.Kernel, err = parseKernel(text)
	default:
		err = errors.New("no such field of a pattern")
	}
	if err != nil {
		err = &FieldError{field, strconv.Quote(text), err}
	}
	return err
}

func parseTag(text string) (tag blocked.Tag, err error) {
	if text == "" {
		return tag, nil
	}
	return blocked.Parse(text)
}

// Name returns the benchmark name of a spec that is in no suite, without the word Benchmark. It has
// a family and key=value pairs, the kernel last. Names never change.
func (s Spec) Name() string {
	if len(s.Operands) > 0 {
		return s.operandsName()
	}
	var b strings.Builder
	ordered := s.Order != Row
	switch s.Op {
	case Chase:
		b.WriteString("Latency/op=chase")
	case Reorder:
		fmt.Fprintf(&b, "Reorder/from=%v/to=%v", s.From, s.To)
	case Add:
		fmt.Fprintf(&b, "Broadcast/op=add/with=%s", layouts.FormatShape(s.With))
		ordered = true
	case Copy:
		layout := "contiguous"
		if !s.View.Empty() {
			layout = "view"
		} else if s.Pad != 0 {
			layout = "padded"
		}
		fmt.Fprintf(&b, "Copy/layout=%s", layout)
	default:
		fmt.Fprintf(&b, "Traverse/op=%s", s.Op)
		ordered = true
	}
	if ordered {
		fmt.Fprintf(&b, "/order=%v", s.Order)
	}
	fmt.Fprintf(&b, "/shape=%s/dtype=%s", layouts.FormatShape(s.Shape), s.DType)
	if s.Pad != 0 {
		fmt.Fprintf(&b, "/pad=%d", s.Pad)
	}
	if s.From.Rank() > 0 && s.Op != Reorder {
		fmt.Fprintf(&b, "/from=%v", s.From)
	}
	if !s.View.Empty() {
		fmt.Fprintf(&b, "/view=%s", strings.Join(strings.Fields(s.View.String()), ""))
	}
	if s.Tile != nil {
		fmt.Fprintf(&b, "/tile=%s", formatTile(s.Tile))
	}
	fmt.Fprintf(&b, "/kernel=%v", s.Kernel)
	return b.String() + s.threadsName()
}

func formatTile(tile []int) string {
	if len(tile) > 0 && len(slices.Compact(slices.Clone(tile))) == 1 {
		return strconv.Itoa(tile[0])
	}
	return layouts.FormatShape(tile)
}
