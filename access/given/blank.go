package given

import (
	"bytes"
	"slices"
)

// Blank overwrites comments, quoted constants and, if asked for, directives with spaces.
func Blank(text []byte, directives bool) []byte {
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
			Wipe(code, from, at+1)
			continue
		case bytes.HasPrefix(rest, []byte("//")), c == '#' && start:
			for at < len(text) && (text[at] != '\n' || text[at-1] == '\\') {
				at++
			}
			if at--; c == '/' || directives {
				Wipe(code, from, at+1)
			}
		case c == '"' || c == '\'':
			at = Quoted(text, at) - 1
			Wipe(code, from, at+1)
		}
		start = start && (text[from] == ' ' || text[from] == '\t')
	}
	return code
}

// Wipe overwrites a part of a text with spaces, except its line ends.
func Wipe(text []byte, from, to int) {
	for i := from; i < min(to, len(text)); i++ {
		if text[i] != '\n' {
			text[i] = ' '
		}
	}
}

// Quoted returns where a constant in quotes ends that begins at a place.
func Quoted(text []byte, at int) int {
	quote := text[at]
	for at++; at < len(text) && text[at] != quote && text[at] != '\n'; at++ {
		if text[at] == '\\' {
			at++
		}
	}
	return at + 1
}
