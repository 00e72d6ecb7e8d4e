package access

import "fmt"

// A Field is the name of a field of a Spec in files and flags.
type Field string

// The fields of a Spec that a FieldError can name.
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

	// not of a Spec, but of the memory's pages
	FieldPages Field = "pages"
)

// A FieldError names a field of a Spec, its value as text, and why it is refused.
type FieldError struct {
	Field Field
	Value string
	Err   error
}

// Error returns such as "pad -1: negative".
func (e *FieldError) Error() string { return fmt.Sprintf("%s %s: %v", e.Field, e.Value, e.Err) }

// Unwrap returns the reason.
func (e *FieldError) Unwrap() error { return e.Err }

// fault makes a FieldError, unless err is nil.
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
