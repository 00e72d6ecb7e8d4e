package layouts

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// This file reads the text of a chain of calls as Python reads it:
//
//	chain  = [call {"." call}]
//	call   = name "(" values ")"
//	values = [value {"," value} [","]]
//	value  = integer | "None" | "(" values ")" | "[" values "]"
//
// where one value in parentheses without a comma is the value itself. It knows
// no operation: what arguments one takes is said in viewOps.

// A call is one operation of a chain as it is written.
type call struct {
	name string
	args []value
}

type valueKind uint8

const (
	number valueKind = iota
	none
	sequence // a tuple or a list, which PyTorch does not tell apart
)

// A value is one argument, or one item of a sequence.
type value struct {
	kind  valueKind
	n     int
	items []value
}

// String writes the value as Python does, a list as a tuple.
func (v value) String() string {
	switch v.kind {
	case number:
		return strconv.Itoa(v.n)
	case none:
		return "None"
	}
	items := make([]string, len(v.items))
	for i, item := range v.items {
		items[i] = item.String()
	}
	text := strings.Join(items, ", ")
	if len(items) == 1 {
		text += ","
	}
	return "(" + text + ")"
}

// maxNesting is how deep Python lets parentheses nest.
const maxNesting = 200

// A parser holds what is yet to be read, without spaces in front.
type parser struct{ rest string }

func (p *parser) skip(n int) { p.rest = strings.TrimSpace(p.rest[n:]) }

func (p *parser) at(c byte) bool { return p.rest != "" && p.rest[0] == c }

func parseChain(text string) ([]call, error) {
	p := &parser{strings.TrimSpace(text)}
	var calls []call
	for p.rest != "" {
		if len(calls) > 0 {
			if !p.at('.') {
				return nil, fmt.Errorf("want a dot before %q", p.rest)
			}
			p.skip(1)
		}
		c, err := p.call()
		if err != nil {
			return nil, err
		}
		calls = append(calls, c)
	}
	return calls, nil
}

func (p *parser) call() (call, error) {
	text := p.rest
	end := strings.IndexFunc(text, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if end < 0 {
		end = len(text)
	}
	name := text[:end]
	p.skip(end)
	if name == "" || !p.at('(') {
		return call{}, fmt.Errorf("want name(arguments), have %q", text)
	}
	p.skip(1)
	args, _, err := p.values(')', 1)
	if errors.Is(err, errNotClosed) {
		return call{}, fmt.Errorf("%s: %w in %q", name, err, text)
	}
	if err != nil {
		return call{}, fmt.Errorf("%s: %w", name, err)
	}
	return call{name, args}, nil
}

var errNotClosed = errors.New("the parenthesis is not closed")

// values reads up to the closing character, and says whether there was a
// comma.
func (p *parser) values(closing byte, depth int) (values []value, comma bool, err error) {
	if depth > maxNesting {
		return nil, false, fmt.Errorf("more than %d parentheses are nested", maxNesting)
	}
	for !p.at(closing) {
		v, err := p.value(depth)
		if err != nil {
			return nil, false, err
		}
		values = append(values, v)
		switch {
		case p.at(','):
			comma = true
			p.skip(1)
		case p.rest == "" || p.at(')') || p.at(']'):
			if !p.at(closing) {
				return nil, false, errNotClosed
			}
		default:
			return nil, false, fmt.Errorf("want a comma before %q", p.rest)
		}
	}
	p.skip(1)
	return values, comma, nil
}

func (p *parser) value(depth int) (value, error) {
	switch {
	case p.at('('):
		p.skip(1)
		items, comma, err := p.values(')', depth+1)
		if err == nil && len(items) == 1 && !comma {
			return items[0], nil
		}
		return value{kind: sequence, items: items}, err
	case p.at('['):
		p.skip(1)
		items, _, err := p.values(']', depth+1)
		return value{kind: sequence, items: items}, err
	}
	end := strings.IndexAny(p.rest, ",()[]")
	switch {
	case end < 0:
		return value{}, errNotClosed
	case end == 0 && p.at(','):
		return value{}, fmt.Errorf("an argument is missing before %q", p.rest)
	case end == 0:
		return value{}, errNotClosed
	}
	word := strings.TrimSpace(p.rest[:end])
	p.skip(end)
	if word == "None" {
		return value{kind: none}, nil
	}
	n, err := parseInt(word)
	return value{kind: number, n: n}, err
}

// parseInt reads an integer as Python writes it: 12, -1, 0xc, 1_000.
func parseInt(word string) (int, error) {
	digits, sign := word, ""
	for digits != "" && (digits[0] == '-' || digits[0] == '+') {
		if digits[0] == '-' {
			sign = map[string]string{"": "-", "-": ""}[sign]
		}
		digits = strings.TrimSpace(digits[1:])
	}
	if name, _, ok := strings.Cut(word, "="); ok {
		return 0, fmt.Errorf("argument %q goes by place, without %s=", word, strings.TrimSpace(name))
	}
	if digits == "" || digits[0] < '0' || digits[0] > '9' {
		return 0, fmt.Errorf("argument %q is no integer", word)
	}
	n, err := strconv.ParseInt(sign+digits, 0, strconv.IntSize)
	octal := len(digits) > 1 && digits[0] == '0' && (digits[1] == '_' || digits[1] >= '0' && digits[1] <= '9')
	switch {
	case octal && strings.Trim(digits, "0_") != "":
		return 0, fmt.Errorf("argument %q has zeros in front, which Python does not take", word)
	case errors.Is(err, strconv.ErrRange):
		return 0, fmt.Errorf("argument %s is too large", word)
	case err != nil:
		return 0, fmt.Errorf("argument %q is no integer", word)
	}
	return int(n), nil
}
