package operators

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"
)

// A fieldReader picks the fields of some names out of an object.
type fieldReader struct {
	names  []string
	values []jsontext.Value
	dec    *jsontext.Decoder
}

func newFieldReader(names ...string) *fieldReader {
	return &fieldReader{names: names, values: make([]jsontext.Value, len(names)),
		dec: new(jsontext.Decoder)}
}

// read returns the values of the fields, nil of those that are not there, in the
// order of the names; they are raw's bytes. It reports whether raw is an object.
func (f *fieldReader) read(raw jsontext.Value) ([]jsontext.Value, bool) {
	clear(f.values)
	if raw.Kind() != '{' {
		return f.values, false
	}
	f.dec.Reset(bytes.NewBuffer(raw), lenient()...)
	if _, err := f.dec.ReadToken(); err != nil {
		return f.values, false
	}
	for f.dec.PeekKind() == '"' {
		name, err := f.dec.ReadValue()
		if err != nil {
			return f.values, false
		}
		field := f.field(name)
		value, err := f.dec.ReadValue()
		if err != nil {
			return f.values, false
		}
		if field >= 0 && value.Kind() != 'n' {
			f.values[field] = value
		}
	}
	return f.values, true
}

// field is the index of a name, in its quotes; -1 of one that is not asked for.
func (f *fieldReader) field(quoted jsontext.Value) int {
	if len(quoted) < 2 {
		return -1
	}
	for i, name := range f.names {
		if string(quoted[1:len(quoted)-1]) == name {
			return i
		}
	}
	return -1
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
	dec := jsontext.NewDecoder(bytes.NewBuffer(raw), lenient()...)
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
	dec := jsontext.NewDecoder(bytes.NewBuffer(raw), lenient()...)
	return parseNext(dec)
}

func parseNext(dec *jsontext.Decoder) value {
	if dec.PeekKind() != '[' {
		raw, _ := dec.ReadValue()
		return value{raw: raw}
	}
	v := value{isList: true}
	if _, err := dec.ReadToken(); err != nil {
		return v
	}
	for {
		switch dec.PeekKind() {
		case ']', 0:
			_, _ = dec.ReadToken()
			return v
		}
		v.list = append(v.list, parseNext(dec))
	}
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
