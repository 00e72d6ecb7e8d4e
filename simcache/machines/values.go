package machines

import (
	"encoding"
	"errors"
	"fmt"
	"strconv"

	"github.com/goccy/go-yaml/ast"

	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/machines/strict"
)

// A word is one of a fixed set.
type word[T any] struct{ value T }

// UnmarshalYAML implements yaml.NodeUnmarshaler.
func (w *word[T]) UnmarshalYAML(n ast.Node) error {
	text, err := strict.Scalar(n, "a word")
	if err != nil {
		return err
	}
	if err := any(&w.value).(encoding.TextUnmarshaler).UnmarshalText([]byte(text)); err != nil {
		return strict.Refuse(n, err)
	}
	return nil
}

// MarshalYAML implements yaml.InterfaceMarshaler.
func (w word[T]) MarshalYAML() (any, error) { return fmt.Sprint(w.value), nil }

// IsZero implements yaml.IsZeroer.
func (w word[T]) IsZero() bool { var zero T; return any(w.value) == any(zero) }

type (
	writePolicy bool // through
	writeMiss   bool // does not allocate
)

const (
	writeBack, writeThrough     = "write-back", "write-through"
	writeAllocate, noneAllocate = "write-allocate", "no-write-allocate"
)

// String returns the word that UnmarshalText reads.
func (w writePolicy) String() string {
	if w {
		return writeThrough
	}
	return writeBack
}

// String returns the word that UnmarshalText reads.
func (w writeMiss) String() string {
	if w {
		return noneAllocate
	}
	return writeAllocate
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (w *writePolicy) UnmarshalText(text []byte) error {
	return either((*bool)(w), "write policy", writeBack, writeThrough, text)
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (w *writeMiss) UnmarshalText(text []byte) error {
	return either((*bool)(w), "policy for a write that misses", writeAllocate, noneAllocate, text)
}

func either(value *bool, what, no, yes string, text []byte) error {
	*value = string(text) == yes
	if !*value && string(text) != no {
		return fmt.Errorf("unknown %s %q (want %s or %s)", what, text, no, yes)
	}
	return nil
}

// skipped is a section that is not read.
type skipped struct{}

// UnmarshalYAML implements yaml.NodeUnmarshaler.
func (*skipped) UnmarshalYAML(n ast.Node) error {
	if n.Type() != ast.MappingType {
		return strict.Refuse(n,
			errors.New("no section (want the keys and values of a measurement)"))
	}
	return nil
}

// A Size is a number of bytes, at least 1, in the syntax of simcache.ParseBytes.
type Size int

// UnmarshalYAML implements yaml.NodeUnmarshaler.
func (s *Size) UnmarshalYAML(n ast.Node) error {
	text, err := strict.Scalar(n, "a size such as 32KiB, or in bytes")
	if err != nil {
		return err
	}
	bytes, err := simcache.ParseBytes(text)
	if err != nil {
		return strict.Refuse(n, err)
	}
	*s = Size(bytes)
	return nil
}

// MarshalYAML implements yaml.InterfaceMarshaler.
func (s Size) MarshalYAML() (any, error) { return s.String(), nil }

// String returns the size in the largest unit that divides it: 32KiB.
func (s Size) String() string {
	n, unit := int(s), "B"
	for _, larger := range []string{"KiB", "MiB", "GiB"} {
		if n == 0 || n%1024 != 0 {
			break
		}
		n, unit = n/1024, larger
	}
	return strconv.Itoa(n) + unit
}
