package machines

import (
	"encoding"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/stridebench/stridebench/simcache/machines/strict"
)

// A word is one of a few.
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

type (
	writePolicy bool // through
	writeMiss   bool // does not allocate
)

// UnmarshalText implements encoding.TextUnmarshaler.
func (w *writePolicy) UnmarshalText(text []byte) error {
	return either((*bool)(w), "write policy", "write-back", "write-through", text)
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (w *writeMiss) UnmarshalText(text []byte) error {
	return either((*bool)(w), "policy for a write that misses", "write-allocate", "no-write-allocate", text)
}

func either(value *bool, what, no, yes string, text []byte) error {
	*value = string(text) == yes
	if !*value && string(text) != no {
		return fmt.Errorf("unknown %s %q (want %s or %s)", what, text, no, yes)
	}
	return nil
}

// A size is a number of bytes.
type size int

// UnmarshalYAML implements yaml.NodeUnmarshaler.
func (s *size) UnmarshalYAML(n ast.Node) error {
	text, err := strict.Scalar(n, "a size such as 32KiB, or in bytes")
	if err != nil {
		return err
	}
	bytes, err := ParseSize(text)
	if err != nil {
		return strict.Refuse(n, err)
	}
	*s = size(bytes)
	return nil
}

var units = map[string]float64{"": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}

// ParseSize reads a number of bytes, such as 32KiB, 1.25MiB or 4096.
func ParseSize(text string) (int, error) {
	number := strings.TrimRight(text, "BKMGi ")
	scale, ok := units[strings.TrimSpace(text[len(number):])]
	n, err := strconv.ParseFloat(number, 64)
	bytes := n * scale
	if !ok || err != nil || !(bytes > 0) || bytes > 1<<52 || bytes != math.Trunc(bytes) {
		return 0, fmt.Errorf("%q is no size (want a whole number of bytes, such as 32KiB, 1.25MiB or 4096; units: %s)",
			text, strings.Join(slices.Sorted(maps.Keys(units))[1:], ", "))
	}
	return int(bytes), nil
}
