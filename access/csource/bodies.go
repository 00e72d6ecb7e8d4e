package csource

import (
	"bytes"
	"errors"
	"regexp"
	"slices"
	"strings"
)

// A body is that of a function, found in the text: where it begins and ends, in bytes
// and lines.
type body struct {
	name                string
	from, to            int // with its braces
	firstLine, lastLine int
}

// What stands in front of a body: its function's name and parameters.
var functionHead = regexp.MustCompile(`(\w+)\s*\([^{};]*$`)

// bodies are the functions of a text whose brackets match, as far as they can be told
// without its macros.
func bodies(text []byte) (list []body) {
	var b body
	depth, line, head := 0, 1, 0 // head: behind the last thing outside of functions
	code := blank(text, true)
	for at, c := range code {
		switch c {
		case '\n':
			line++
		case ';':
			if depth == 0 {
				head = at + 1
			}
		case '{':
			if depth++; depth == 1 {
				b = body{from: at, firstLine: line}
				if m := functionHead.FindSubmatch(bytes.TrimSpace(code[head:at])); m != nil {
					b.name = string(m[1])
				}
			}
		case '}':
			if depth--; depth == 0 {
				b.to, b.lastLine, head = at+1, line, at+1
				if b.name != "" {
					list = append(list, b)
				}
			}
		}
	}
	return list
}

// blank is a text without comments, constants in quotes and, if asked for, directives:
// they are spaces now.
func blank(text []byte, directives bool) []byte {
	code := slices.Clone(text)
	wipe := func(from, to int) {
		for i := from; i < min(to, len(code)); i++ {
			if code[i] != '\n' {
				code[i] = ' '
			}
		}
	}
	start := true // of a line
	for at := 0; at < len(text); at++ {
		rest, from := text[at:], at
		switch c := text[at]; {
		case c == '\n':
			start = true
			continue
		case bytes.HasPrefix(rest, []byte("/*")):
			before, _, _ := bytes.Cut(rest[2:], []byte("*/"))
			at += len(before) + 3
			wipe(from, at+1)
			continue
		case bytes.HasPrefix(rest, []byte("//")), c == '#' && start:
			for at < len(text) && (text[at] != '\n' || text[at-1] == '\\') {
				at++
			}
			if at--; c == '/' || directives {
				wipe(from, at+1)
			}
		case c == '"' || c == '\'':
			at = quoted(text, at) - 1
			wipe(from, at+1)
		}
		start = start && (text[from] == ' ' || text[from] == '\t')
	}
	return code
}

// withoutBodies is the text without the functions that the parser's errors are about,
// but for the one that is to be read: they are declared then, and have no body. Why
// says, by name, what is wrong with them.
func withoutBodies(name string, text []byte, function string, failed error) (rest []byte, why map[string]*Error) {
	rest, why = slices.Clone(text), map[string]*Error{}
	list, code, all := bodies(text), blank(text, true), blank(text, false)
	for line := range strings.SplitSeq(failed.Error(), "\n") {
		e := parserError(name, errors.New(line))
		for _, b := range list {
			wanted := b.name == function || function == "" && bytes.Contains(text[b.from:b.to], []byte(beginMark))
			if e.Pos.File != name || e.Pos.Line < b.firstLine || e.Pos.Line > b.lastLine || wanted {
				continue
			}
			if why[b.name] == nil {
				why[b.name] = e
			}
			for i := b.from; i < b.to; i++ {
				if directive := code[i] != all[i]; !directive && rest[i] != '\n' {
					rest[i] = ' '
				}
			}
			rest[b.from] = ';'
		}
	}
	return rest, why
}
