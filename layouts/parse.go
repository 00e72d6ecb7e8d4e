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

// A parser holds a text and its unread rest, without leading spaces.
type parser struct {
	text, rest string
	literals   bool // arguments may be literals, as for a factory
}

func (p *parser) skip(n int) { p.rest = strings.TrimSpace(p.rest[n:]) }

func (p *parser) at(c byte) bool { return p.rest != "" && p.rest[0] == c }

func (p *parser) offset() int { return len(p.text) - len(p.rest) }

func (p *parser) place() string { return placeOf(p.text, p.offset()) }

func placeOf(text string, at int) string {
	return fmt.Sprintf("character %d", utf8.RuneCountInString(text[:at])+1)
}

// A placedError is an error at a byte offset of the text.
type placedError struct {
	error
	at int
}

func (e *placedError) Unwrap() error { return e.error }

func (p *parser) unexpected(want string) error {
	switch {
	case p.rest == "":
		return fmt.Errorf("%s: the text ends after a dot: want %s, or no dot", p.place(), want)
	case p.at(')') || p.at(']'):
		return fmt.Errorf("%s: %q closes nothing that is open: leave it out", p.place(), p.rest[:1])
	case p.at('['):
		return fmt.Errorf("%s: %q wants no dot before it: leave it out", p.place(), p.rest)
	case p.at('.') && p.rest != strings.TrimSpace(p.text):
		return fmt.Errorf("%s: one dot too many: leave one out", p.place())
	}
	return fmt.Errorf("%s: want %s, have %q", p.place(), want, p.rest)
}

var (
	identifier = regexp.MustCompile(`^[\pL_][\pL\pN_]*`)
	// tensorName matches the tensor that a chain may begin with.
	tensorName = regexp.MustCompile(`^(x$|[\pL_][\pL\pN_]*\s*[.\[])`)
	keyword    = regexp.MustCompile(`^([\pL_][\pL\pN_]*)\s*=`)
	newaxis    = regexp.MustCompile(`^((np|numpy|torch)\.)?newaxis$`)
	// integers matches integers and products of them.
	integers   = regexp.MustCompile(`^([-+\s]*(0[xX][\da-fA-F_]+|\d[\d_]*)\s*(\*|$))+$`)
	dottedName = regexp.MustCompile(`^[\pL_][\pL\pN_.]*$`)
)

func parseChain(text string) ([]call, error) {
	text = strings.TrimRightFunc(text, unicode.IsSpace)
	return (&parser{text: text, rest: strings.TrimSpace(text)}).chain()
}

func (p *parser) chain() ([]call, error) {
	if method := asMethod(p.rest); method != "" {
		return nil, errors.New(method)
	}
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
		if p.at('[') {
			c, err := p.subscript()
			if err != nil {
				return nil, err
			}
			calls, first = append(calls, c), false
			continue
		}
		if p.at('.') && !strings.HasPrefix(p.rest, "...") {
			p.skip(1)
		} else if !first {
			return nil, p.unexpected("a dot or a subscript")
		}
		c, err := p.call()
		if err != nil {
			return nil, err
		}
		calls, first = append(calls, c), false
	}
	return calls, nil
}

func (p *parser) call() (call, error) {
	text, at := p.rest, p.offset()
	name := identifier.FindString(text)
	p.skip(len(name))
	switch {
	case name == "":
		return call{}, p.unexpected("name(arguments)")
	case !p.at('(') && (isAttribute(name) || p.rest == "" || p.at('.') || p.at('[')):
		return call{name: name, form: attribute, at: at}, nil
	case !p.at('('):
		return call{}, fmt.Errorf("%s: want ( or a dot after %q, have %q", p.place(), name, p.rest)
	}
	p.skip(1)
	args, _, err := p.values(')', 1)
	if errors.Is(err, errNotClosed) {
		return call{}, fmt.Errorf("%s: %w in %q", name, err, text)
	}
	if here := elsewhere[name]; err != nil && here != "" {
		return call{}, fmt.Errorf("%q is not a view operation; %s", name, here)
	}
	if err != nil {
		return call{}, fmt.Errorf("%s: %w", name, err)
	}
	return call{name: name, args: args, at: at}, nil
}

func (p *parser) subscript() (call, error) {
	text := p.rest
	c := call{name: "[]", form: subscript, at: p.offset()}
	p.skip(1)
	for comma := true; !p.at(']'); {
		if !comma {
			return call{}, fmt.Errorf("[]: want a comma before %q", p.rest)
		}
		item, err := p.item()
		if errors.Is(err, errNotClosed) || err == nil && p.rest == "" {
			return call{}, fmt.Errorf("[]: the bracket is not closed in %q", text)
		}
		if err != nil {
			return call{}, fmt.Errorf("[]: %w", err)
		}
		c.args = append(c.args, item)
		if comma = p.at(','); comma {
			p.skip(1)
		}
	}
	p.skip(1)
	if len(c.args) == 0 {
		return call{}, errors.New("[]: want an index, such as [0], [:, ::2] or [..., None]")
	}
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
	start, bounds := p.rest, slices.Repeat([]value{{kind: none}}, 3)
	for i := range bounds {
		if !p.at(':') && !p.at(',') && !p.at(']') {
			v, err := p.value(1)
			if err != nil {
				return value{}, err
			}
			if bounds[i] = v; v.kind == word && v.text == "Ellipsis" {
				return value{kind: ellipsis}, nil
			}
		}
		switch {
		case i == 0 && p.rest == start && !p.at(':'):
			return value{}, fmt.Errorf("an index is missing before %q", start)
		case !p.at(':') && i == 0:
			return bounds[0], nil
		case !p.at(':') || i == 2:
			return value{kind: slice, items: bounds}, nil
		}
		p.skip(1)
	}
	return value{}, nil
}

var errNotClosed = errors.New("the parenthesis is not closed")

func (p *parser) values(closing byte, depth int) (values []value, comma bool, err error) {
	if depth > maxNesting {
		return nil, false, fmt.Errorf("more than %d parentheses are nested", maxNesting)
	}
	for !p.at(closing) {
		key := ""
		if k := keyword.FindStringSubmatch(p.rest); k != nil && depth == 1 && closing == ')' {
			key = k[1]
			p.skip(len(k[0]))
		} else if len(values) > 0 && values[len(values)-1].key != "" {
			return nil, false, fmt.Errorf("an argument without a name follows %s=: put it first, "+
				"or name it", values[len(values)-1].key)
		}
		v, err := p.value(depth)
		if err != nil {
			return nil, false, err
		}
		v.key = key
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
	at := p.offset()
	switch {
	case p.at('('):
		p.skip(1)
		items, comma, err := p.values(')', depth+1)
		if err == nil && len(items) == 1 && !comma {
			return items[0], nil
		}
		return value{kind: sequence, at: at, items: items}, err
	case p.at('['):
		p.skip(1)
		items, _, err := p.values(']', depth+1)
		return value{kind: sequence, at: at, items: items, list: true}, err
	case p.literals && (p.at('"') || p.at('\'')):
		return p.quoted()
	}
	end := strings.IndexAny(p.rest, ",()[]:")
	switch {
	case end < 0:
		return value{}, errNotClosed
	case end == 0 && p.at(','):
		return value{}, fmt.Errorf("an argument is missing before %q", p.rest)
	case end == 0:
		return value{}, errNotClosed
	}
	text := strings.TrimSpace(p.rest[:end])
	p.skip(end)
	switch {
	case text == "None" || newaxis.MatchString(text):
		return value{kind: none, at: at}, nil
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
		return value{}, &placedError{fmt.Errorf("want %s at the end of the string %s", p.rest[:1],
			p.rest), at}
	}
	v := value{kind: literal, at: at, text: p.rest[:end+2]}
	p.skip(end + 2)
	return v, nil
}

// parseProduct reads an integer, or a product such as 2*3*4.
func parseProduct(text string) (int, error) {
	first, rest, more := strings.Cut(text, "*")
	n, err := parseInt(strings.TrimSpace(first))
	if !more {
		return n, err
	}
	m, wrong := parseProduct(rest)
	product, fits := mulInt(n, m)
	switch {
	case err != nil || wrong != nil:
		return 0, fmt.Errorf("argument %q is not an integer", text)
	case !fits:
		return 0, fmt.Errorf("argument %s is too large", text)
	}
	return product, nil
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
	if word != "" && strings.ContainsRune(`"'`, rune(word[0])) {
		return 0, fmt.Errorf("argument %s is a string, which no view takes", word)
	}
	if strings.ContainsAny(word, "<>=!&|") {
		return 0, fmt.Errorf("argument %q is a mask, which picks elements and so copies; a view "+
			"has integers, slices, None and ... in brackets", word)
	}
	if digits == "" || digits[0] < '0' || digits[0] > '9' {
		return 0, fmt.Errorf("argument %q is not an integer", word)
	}
	n, err := strconv.ParseInt(sign+digits, 0, strconv.IntSize)
	octal := len(digits) > 1 && digits[0] == '0' &&
		(digits[1] == '_' || digits[1] >= '0' && digits[1] <= '9')
	switch {
	case octal && strings.Trim(digits, "0_") != "":
		return 0, fmt.Errorf("argument %q has zeros in front, which Python does not take", word)
	case errors.Is(err, strconv.ErrRange):
		return 0, fmt.Errorf("argument %s is too large", word)
	case err != nil:
		return 0, fmt.Errorf("argument %q is not an integer", word)
	}
	return int(n), nil
}
