package csource

import (
	"bytes"
	"regexp"
	"slices"

	"github.com/stridebench/stridebench/access/given"
)

// A textPart is a declaration outside all brackets, as a range of bytes.
type textPart struct {
	from, body, to int // body is where a function's body begins, or 0
	name           string
	cut            int // 1 for a function without its body, 2 if all of it is blank
}

var functionHead = regexp.MustCompile(`([\w:~]+)\s*\([^{};=]*$`)

// partsOf returns the declarations of a text whose brackets match, without expanding macros.
func partsOf(text []byte) (list []*textPart) {
	depth, from, body := 0, 0, 0
	name := ""
	add := func(to int) {
		list = append(list, &textPart{from: from, body: body, to: to, name: name})
		from, body, name = to, 0, ""
	}
	code := given.Blank(text, true)
	for at, c := range code {
		switch {
		case c == ';' && depth == 0:
			add(at + 1)
		case c == '{':
			if depth++; depth > 1 {
				continue
			}
			if m := functionHead.FindSubmatch(code[from:at]); m != nil {
				body, name = at, string(m[1])
			}
		case c == '}':
			if depth = max(depth-1, 0); depth == 0 && body > 0 {
				add(at + 1)
			}
		}
	}
	return list
}

var scopes = regexp.MustCompile(`\bextern\s+"C"\s*\{?|\bnamespace\s+\w*\s*\{`)

// unscoped blanks what opens scopes of C++ around declarations, and what closes them.
func unscoped(text []byte) []byte {
	text = slices.Clone(text)
	for _, at := range scopes.FindAllIndex(text, -1) {
		given.Wipe(text, at[0], at[1])
	}
	depth := 0
	for at, c := range given.Blank(text, true) {
		switch {
		case c == '{':
			depth++
		case c == '}' && depth == 0:
			text[at] = ' '
		case c == '}':
			depth--
		}
	}
	return text
}

// cut removes the parts that errors are about, except the one to be read: first a function's body,
// then the rest. It reports whether it removed anything.
func (u *unit) cut(failed []*Error, function string) (some bool) {
	if u.parts == nil {
		u.marked = unscoped(u.marked)
		u.parts = partsOf(u.marked)
	}
	code, all := given.Blank(u.marked, true), given.Blank(u.marked, false)
	for _, e := range failed {
		if e.Pos.File != u.name || e.Pos.Line < 1 {
			continue
		}
		at := offset(u.marked, e.Pos)
		for _, p := range u.parts {
			wanted := p.body > 0 && (p.name == function || function == "" && bytes.Contains(
				u.marked[p.from:p.to], []byte(beginMark)))
			if at < p.from || at >= p.to || wanted || p.cut == 2 {
				continue
			}
			from := p.from
			if p.cut++; p.cut == 1 && p.body > 0 {
				from = p.body
			} else {
				p.cut = 2
			}
			if p.name != "" && u.leftOut[p.name] == nil {
				u.leftOut[p.name] = e
			}
			for i := from; i < p.to; i++ {
				if directive := code[i] != all[i]; !directive && u.marked[i] != '\n' {
					u.marked[i] = ' '
				}
			}
			if p.cut == 1 {
				u.marked[from] = ';'
			}
			some = true
		}
	}
	return some
}

func offset(text []byte, at Pos) int {
	from := 0
	for range at.Line - 1 {
		from += bytes.IndexByte(text[from:], '\n') + 1
	}
	return from + max(at.Column-1, 0)
}

var nameOfCPP = regexp.MustCompile(`\.(cpp|cc|cxx|C|hpp|cu)$`)
