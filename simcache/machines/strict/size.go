package strict

import (
	"strconv"

	"github.com/goccy/go-yaml/ast"

	"github.com/stridebench/stridebench/simcache"
)

// A Size is a number of bytes, at least 1, in the syntax of simcache.ParseBytes.
type Size int

// UnmarshalYAML implements yaml.NodeUnmarshaler.
func (s *Size) UnmarshalYAML(n ast.Node) error {
	text, err := Scalar(n, "a size such as 32KiB, or in bytes")
	if err != nil {
		return err
	}
	bytes, err := simcache.ParseBytes(text)
	if err != nil {
		return Refuse(n, err)
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
