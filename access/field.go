package access

import "fmt"

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
	if field == "view" || field == "order" {
		text = fmt.Sprintf("%q", text)
	}
	return &FieldError{field, text, err}
}
