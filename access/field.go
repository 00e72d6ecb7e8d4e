package access

import "fmt"

// A Field is one of a Spec, by the name that it has in files and flags.
type Field string

// The fields of a Spec that can be at fault.
const (
	FieldShape  Field = "shape"
	FieldPad    Field = "pad"
	FieldDType  Field = "dtype"
	FieldWith   Field = "with"
	FieldView   Field = "view"
	FieldOrder  Field = "order"
	FieldTile   Field = "tile"
	FieldWidth  Field = "width"
	FieldKernel Field = "kernel"
	FieldOp     Field = "op"

	FieldThreads Field = "threads"
	FieldGrain   Field = "grain"

	FieldOperands Field = "operands"
	FieldDims     Field = "dims"
	FieldFrom     Field = "from"
	FieldTo       Field = "to"

	// of no Spec, but of where its memory is from
	FieldPages Field = "pages"
)

// A FieldError says which field of a Spec is at fault, with its value as text,
// and why.
type FieldError struct {
	Field Field
	Value string
	Err   error
}

// Error is "pad -1: negative".
func (e *FieldError) Error() string { return fmt.Sprintf("%s %s: %v", e.Field, e.Value, e.Err) }

// Unwrap is why.
func (e *FieldError) Unwrap() error { return e.Err }

// fault makes a FieldError; the value is printed with %v, texts in quotes.
func fault(f Field, value any, err error) error {
	if err == nil {
		return nil
	}
	text := fmt.Sprint(value)
	if f == FieldView || f == FieldOrder {
		text = fmt.Sprintf("%q", text)
	}
	return &FieldError{f, text, err}
}
