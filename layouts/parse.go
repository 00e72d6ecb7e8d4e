package layouts

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// This file reads the text of a chain as Python reads it:
//
//	chain     = [tensor] {"." call | "." attribute | subscript}
//	call      = name "(" [argument {"," argument} [","]] ")"
//	argument  = [name "="] value
//	value     = integer | name {"." name} | "(" values ")" | "[" values "]"
//	subscript = "[" item {"," item} [","] "]"
//	item      = value | "..." | [value] ":" [value] [":" [value]]
//
// One value in parentheses without a comma is the value itself. The first dot may be missing.

type call struct {
	name string
	args []value
	form form
	at   int // byte offset of its start
}

type form uint8

const (
	called    form = iota // name(...)
	attribute             // name
	subscript             // [...]
)

type valueKind uint8

const (
	number   valueKind = iota
	word               // a name, such as torch.float16
	none               // None
	sequence           // a tuple or a list, which PyTorch distinguishes in subscripts only
	ellipsis           // of a subscript
	slice              // of a subscript: start, end, step
	literal            // another number or a string, for a factory
)

type value struct {
	kind  valueKind
	at    int // byte offset of its start
	n     int
	text  string // of a word or a literal
	items []value
	list  bool   // a sequence in brackets
	key   string // name of a keyword argument
}

// String writes the value as Python does, a list as a tuple.
func (v value) String() string {
	switch v.kind {
	case number:
		return strconv.Itoa(v.n)
	case word, literal:
		return v.text
	case none:
		return "None"
	case ellipsis:
		return "..."
	case slice:
		return "a slice"
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

// maxNesting is Python's limit.
const maxNesting = 200

// A parser holds a text and its unread rest, without leading spaces. All its errors have a place.
type parser struct {
	text, rest string
	literals   bool // arguments may be literals, as for a factory
}

func newParser(text string) *parser {
	text = strings.TrimRightFunc(text, unicode.IsSpace)
	return &parser{text: text, rest: strings.TrimSpace(text)}
}

func (p *parser) skip(n int) { p.rest = strings.TrimSpace(p.rest[n:]) }

func (p *parser) at(c byte) bool { return p.rest != "" && p.rest[0] == c }

func (p *parser) offset() int { return len(p.text) - len(p.rest) }

// A placedError is an error at a byte offset of the text.
type placedError struct {
	error
	at int
}

func (e *placedError) Unwrap() error { return e.error }

// atPlace begins an error with the place of its innermost placedError, such as "character 14".
func atPlace(text string, err error) error {
	at := 0
	for e, ok := errors.AsType[*placedError](err); ok; {
		at = e.at
		e, ok = errors.AsType[*placedError](e.error)
	}
	return fmt.Errorf("character %d: %w", utf8.RuneCountInString(text[:at])+1, err)
}

func (p *parser) unexpected(want string) error {
	have := "the end"
	if p.rest != "" {
		have = strconv.Quote(p.rest)
	}
	return &placedError{fmt.Errorf("want %s, have %s", want, have), p.offset()}
}

var (
	identifier = regexp.MustCompile(`^[\pL_][\pL\pN_]*`)
	// tensorName matches the tensor that a chain may begin with.
	tensorName = regexp.MustCompile(`^(x$|[\pL_][\pL\pN_]*\s*[.\[])`)
	keyword    = regexp.MustCompile(`^([\pL_][\pL\pN_]*)\s*=`)
	newaxis    = regexp.MustCompile(`^((np|numpy|torch)\.)?newaxis$`)
	// integers matches integers and products of them.
	integers   = regexp.MustCompile(`^([-+\s]*(0[xX][\da-fA-F_]+|\d[\d_]*)\s*(\*|$))+$`)
	zerosFirst = regexp.MustCompile(`^-?0[0_]*[1-9]`)
	dottedName = regexp.MustCompile(`^[\pL_][\pL\pN_.]*$`)
)

func (p *parser) chain() ([]call, error) {
	first := true // nothing was read yet, not even the tensor
	if name := identifier.FindString(p.rest); tensorName.MatchString(p.rest) &&
		!isAttribute(name) {
		p.skip(len(name))
		first = false
	}
	return p.calls(first)
}

func (p *parser) calls(first bool) (calls []call, err error) {
	for p.rest != "" {
		var c call
		switch dot := p.at('.') && !strings.HasPrefix(p.rest, "..."); {
		case p.at('['):
			c, err = p.subscript()
		case dot:
			p.skip(1)
			c, err = p.call()
		case first:
			c, err = p.call()
		default:
			err = p.unexpected("a dot or a subscript")
		}
		if err != nil {
			return nil, err
		}
		calls, first = append(calls, c), false
	}
	return calls, nil
}

func (p *parser) call() (call, error) {
	c := call{name: identifier.FindString(p.rest), form: attribute, at: p.offset()}
	if c.name == "" {
		return call{}, p.unexpected("name(arguments)")
	}
	p.skip(len(c.name))
	var err error
	if p.at('(') {
		c.form = called
		if c.args, _, err = p.values(')', 1); err != nil {
			return call{}, fmt.Errorf("%s: %w", c.name, err)
		}
	}
	return c, nil
}

func (p *parser) subscript() (call, error) {
	c := call{name: "[]", form: subscript, at: p.offset()}
	p.skip(1)
	for comma := true; !p.at(']') || len(c.args) == 0; {
		if !comma {
			return call{}, p.unexpected("a comma or ]")
		}
		item, err := p.item()
		if err != nil {
			return call{}, fmt.Errorf("[]: %w", err)
		}
		c.args = append(c.args, item)
		if comma = p.at(','); comma {
			p.skip(1)
		}
	}
	p.skip(1)
	if only := c.args[0]; len(c.args) == 1 && only.kind == sequence && !only.list {
		c.args = only.items // [(0, 1)] is [0, 1]
	}
	return c, nil
}

func (p *parser) item() (value, error) {
	if strings.HasPrefix(p.rest, "...") {
		p.skip(3)
		return value{kind: ellipsis}, nil
	}
	bounds := slices.Repeat([]value{{kind: none}}, 3)
	for i := 0; ; i++ {
		missing := p.at(':') || i > 0 && (p.at(',') || p.at(']'))
		if !missing {
			var err error
			if bounds[i], err = p.value(1); err != nil {
				return value{}, err
			}
		}
		switch {
		case !p.at(':') && i == 0:
			return bounds[0], nil
		case !p.at(':') || i == 2:
			return value{kind: slice, items: bounds}, nil
		}
		p.skip(1)
	}
}

// values reads the values within brackets. comma says that there was one.
func (p *parser) values(closing byte, depth int) (values []value, comma bool, err error) {
	if depth > maxNesting {
		return nil, false, p.unexpected("fewer nested brackets")
	}
	p.skip(1)
	for !p.at(closing) {
		key := ""
		if k := keyword.FindStringSubmatch(p.rest); k != nil && depth == 1 && closing == ')' {
			key = k[1]
			p.skip(len(k[0]))
		} else if len(values) > 0 && values[len(values)-1].key != "" {
			return nil, false, p.unexpected("a name for what follows an argument with a name")
		}
		v, err := p.value(depth)
		if err != nil {
			return nil, false, err
		}
		v.key = key
		values = append(values, v)
		if p.at(',') {
			comma = true
			p.skip(1)
		} else if !p.at(closing) {
			return nil, false, p.unexpected("a comma or " + string(closing))
		}
	}
	p.skip(1)
	return values, comma, nil
}

func (p *parser) value(depth int) (value, error) {
	at := p.offset()
	switch {
	case p.at('('):
		items, comma, err := p.values(')', depth+1)
		if err == nil && len(items) == 1 && !comma {
			return items[0], nil
		}
		return value{kind: sequence, at: at, items: items}, err
	case p.at('['):
		items, _, err := p.values(']', depth+1)
		return value{kind: sequence, at: at, items: items, list: true}, err
	case p.literals && (p.at('"') || p.at('\'')):
		return p.quoted()
	}
	end := strings.IndexAny(p.rest, ",()[]:")
	if end < 0 {
		end = len(p.rest)
	}
	text := strings.TrimSpace(p.rest[:end])
	if text == "" {
		return value{}, p.unexpected("a value")
	}
	p.skip(end)
	switch {
	case text == "None" || newaxis.MatchString(text):
		return value{kind: none, at: at}, nil
	case text == "Ellipsis":
		return value{kind: ellipsis, at: at}, nil
	case p.literals && p.at('(') && (text == "torch.Size" || text == "torch.device"):
		return p.value(depth)
	case dottedName.MatchString(text):
		return value{kind: word, at: at, text: text}, nil
	case p.literals && !integers.MatchString(text):
		return value{kind: literal, at: at, text: text}, nil
	}
	n, err := parseProduct(text)
	if err != nil {
		err = &placedError{err, at}
	}
	return value{kind: number, at: at, n: n}, err
}

func (p *parser) quoted() (value, error) {
	at, end := p.offset(), strings.IndexByte(p.rest[1:], p.rest[0])
	if end < 0 {
		return value{}, p.unexpected(p.rest[:1] + " at the end of the string")
	}
	v := value{kind: literal, at: at, text: p.rest[:end+2]}
	p.skip(end + 2)
	return v, nil
}

// parseProduct reads an integer as Python writes it, such as -1, 0xc or 1_000, or a product of
// integers.
func parseProduct(text string) (int, error) {
	product := 1
	for factor := range strings.SplitSeq(text, "*") {
		factor = strings.TrimSpace(factor)
		digits := strings.TrimLeft(factor, "-+ ") // after any number of signs
		if strings.Count(factor[:len(factor)-len(digits)], "-")%2 == 1 {
			digits = "-" + digits
		}
		n, err := strconv.ParseInt(digits, 0, strconv.IntSize)
		fits := !errors.Is(err, strconv.ErrRange)
		switch {
		case zerosFirst.MatchString(digits):
			return 0, fmt.Errorf("argument %q has zeros in front, which Python does not take", text)
		case err != nil && fits:
			return 0, fmt.Errorf("argument %q is not an integer", text)
		case fits:
			product, fits = mulInt(product, int(n))
		}
		if !fits {
			return 0, fmt.Errorf("argument %s is too large", text)
		}
	}
	return product, nil
}
