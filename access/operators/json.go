package operators

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"
)

// A fieldReader picks the fields of some names out of an object.
type fieldReader struct {
	names  []string // in quotes
	values []jsontext.Value
	dec    *jsontext.Decoder
}

func newFieldReader(names ...string) *fieldReader {
	f := &fieldReader{values: make([]jsontext.Value, len(names)), dec: new(jsontext.Decoder)}
	for _, name := range names {
		f.names = append(f.names, strconv.Quote(name))
	}
	return f
}

// read returns the values of the fields, in the order of the names; nil for those that are absent
// or null. The values are parts of raw, which is valid JSON. read reports whether raw is an object.
func (f *fieldReader) read(raw jsontext.Value) ([]jsontext.Value, bool) {
	clear(f.values)
	if raw.Kind() != '{' {
		return f.values, false
	}
	f.dec.Reset(bytes.NewBuffer(raw), lenient...)
	_, _ = f.dec.ReadToken()
	for f.dec.PeekKind() == '"' {
		name, _ := f.dec.ReadValue()
		field := slices.IndexFunc(f.names, func(n string) bool { return n == string(name) })
		if value, _ := f.dec.ReadValue(); field >= 0 && value.Kind() != 'n' {
			f.values[field] = value
		}
	}
	return f.values, true
}

// text is the string that v is; "" if it is none.
func text(v jsontext.Value) string {
	if v.Kind() != '"' {
		return ""
	}
	if s := v[1 : len(v)-1]; !bytes.ContainsRune(s, '\\') {
		return printable(string(s))
	}
	unquoted, err := jsontext.AppendUnquote(nil, v)
	if err != nil && len(unquoted) == 0 {
		return ""
	}
	return printable(string(unquoted))
}

// printable replaces what a table would not show as it stands, ends of lines and a terminal's
// escape sequences among it: names may come from a stranger's file.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, text)
}

// elementsOf returns the elements of a list; they are raw's bytes.
func elementsOf(raw jsontext.Value) []jsontext.Value {
	if raw.Kind() != '[' {
		return nil
	}
	dec := jsontext.NewDecoder(bytes.NewBuffer(raw), lenient...)
	var all []jsontext.Value
	_ = elements(dec, func(v jsontext.Value) { all = append(all, v) })
	return all
}

// A value is a JSON value in which lists matter.
type value struct {
	raw    jsontext.Value // if it is no list
	list   []value
	isList bool
}

// parse reads a value that is JSON, nil as one that is not there.
func parse(raw jsontext.Value) value {
	if raw == nil {
		return value{}
	}
	dec := jsontext.NewDecoder(bytes.NewBuffer(raw), lenient...)
	return parseNext(dec)
}

func parseNext(dec *jsontext.Decoder) value {
	if dec.PeekKind() != '[' {
		raw, _ := dec.ReadValue()
		return value{raw: raw}
	}
	v := value{isList: true}
	_, _ = dec.ReadToken()
	for dec.PeekKind() != ']' {
		v.list = append(v.list, parseNext(dec))
	}
	_, _ = dec.ReadToken()
	return v
}

// text is the string that v is, or what else it is as it is written.
func (v value) text() string {
	if v.raw.Kind() == '"' {
		return text(v.raw)
	}
	return string(v.raw)
}

// ints is the list of whole numbers that v is.
func (v value) ints() ([]int, error) {
	if !v.isList {
		return nil, fmt.Errorf("must be a list, not %s", orNone(v.raw))
	}
	numbers := make([]int, len(v.list))
	for i, one := range v.list {
		n, err := strconv.Atoi(string(one.raw))
		if err != nil {
			return nil, fmt.Errorf("must be 64-bit integers, not %s", orNone(one.raw))
		}
		numbers[i] = n
	}
	return numbers, nil
}
