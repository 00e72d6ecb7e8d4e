package csource

import (
	"bytes"
	"regexp"
	"slices"

	"github.com/stridebench/stridebench/access/given"
)

// A textPart is a declaration outside all brackets, as a range of bytes.
type textPart struct {
	from, to int
	name     string // of a function that it defines, or ""
	cut      bool   // it is blank
}

var functionHead = regexp.MustCompile(`([\w:~]+)\s*\([^{};=]*$`)

// partsOf returns the declarations of a text whose brackets match, without expanding macros.
func partsOf(text []byte) (list []*textPart) {
	depth, from, name := 0, 0, ""
	add := func(to int) {
		list = append(list, &textPart{from: from, to: to, name: name})
		from, name = to, ""
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
				name = string(m[1])
			}
		case c == '}':
			if depth = max(depth-1, 0); depth == 0 && name != "" {
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

// cut removes the parts that errors are about, except the one to be read. It reports whether it
// removed anything.
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
			wanted := p.name != "" && (p.name == function || function == "" && bytes.Contains(
				u.marked[p.from:p.to], []byte(beginMark)))
			if at < p.from || at >= p.to || wanted || p.cut {
				continue
			}
			p.cut, some = true, true
			if p.name != "" {
				u.leftOut[p.name] = e
			}
			for i := p.from; i < p.to; i++ {
				if directive := code[i] != all[i]; !directive && u.marked[i] != '\n' {
					u.marked[i] = ' '
				}
			}
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
