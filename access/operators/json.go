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

// text returns the string v, or "" if v is not a string.
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

// printable replaces ends of lines and a terminal's escape sequences: names may come from a
// stranger's file.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, text)
}

func elementsOf(raw jsontext.Value) []jsontext.Value {
	if raw.Kind() != '[' {
		return nil
	}
	dec := jsontext.NewDecoder(bytes.NewBuffer(raw), lenient...)
	var all []jsontext.Value
	_ = elements(dec, func(v jsontext.Value) { all = append(all, v) })
	return all
}

// A value is a list of values, or JSON that is not a list.
type value struct {
	raw    jsontext.Value // unless it is a list
	list   []value
	isList bool
}

// parse reads valid JSON, or nil.
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
	for kind := dec.PeekKind(); kind != ']' && kind != 0; kind = dec.PeekKind() {
		v.list = append(v.list, parseNext(dec))
	}
	_, _ = dec.ReadToken()
	return v
}

func (v value) text() string {
	if v.raw.Kind() == '"' {
		return text(v.raw)
	}
	return string(v.raw)
}

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
