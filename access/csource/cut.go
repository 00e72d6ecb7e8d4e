package csource

import (
	"bytes"
	"regexp"
	"slices"
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
	code := blank(text, true)
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

// blank overwrites comments, quoted constants and, if asked for, directives with spaces.
func blank(text []byte, directives bool) []byte {
	code := slices.Clone(text)
	start := true
	for at := 0; at < len(text); at++ {
		rest, from := text[at:], at
		switch c := text[at]; {
		case c == '\n':
			start = true
			continue
		case bytes.HasPrefix(rest, []byte("/*")):
			before, _, _ := bytes.Cut(rest[2:], []byte("*/"))
			at += len(before) + 3
			wipe(code, from, at+1)
			continue
		case bytes.HasPrefix(rest, []byte("//")), c == '#' && start:
			for at < len(text) && (text[at] != '\n' || text[at-1] == '\\') {
				at++
			}
			if at--; c == '/' || directives {
				wipe(code, from, at+1)
			}
		case c == '"' || c == '\'':
			at = quoted(text, at) - 1
			wipe(code, from, at+1)
		}
		start = start && (text[from] == ' ' || text[from] == '\t')
	}
	return code
}

func wipe(text []byte, from, to int) {
	for i := from; i < min(to, len(text)); i++ {
		if text[i] != '\n' {
			text[i] = ' '
		}
	}
}

var scopes = regexp.MustCompile(`\bextern\s+"C"\s*(\{)?|\bnamespace\s+\w*\s*(\{)`)

func unscoped(text []byte) []byte {
	text = slices.Clone(text)
	for {
		m := scopes.FindSubmatchIndex(text)
		if m == nil {
			return text
		}
		code, depth := blank(text, true), 0
		for at := max(m[2], m[4]); at >= 0 && at < len(code); at++ {
			if code[at] == '{' {
				depth++
			} else if code[at] == '}' {
				depth--
			}
			if depth == 0 {
				text[at] = ' '
				break
			}
		}
		wipe(text, m[0], m[1])
	}
}

// cut removes the parts that errors are about, except the one to be read: first a function's body,
// then the rest. It reports whether it removed anything.
func (u *unit) cut(failed []*Error, function string) (some bool) {
	if u.parts == nil {
		u.marked = unscoped(u.marked)
		u.parts = partsOf(u.marked)
	}
	code, all := blank(u.marked, true), blank(u.marked, false)
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

const ofCPP = "#define bool _Bool\n#define true 1\n#define false 0\n#define nullptr ((void " +
	"*)0)\n#define constexpr const\n"
