package csource

import (
	"maps"
	"regexp"
	"strconv"
	"strings"
)

// A Given is what [Options.Defines] say, by what each is for.
type Given struct {
	Macros []string          // NAME=VALUE
	Values map[string]string // of variables, n, and of the fields of parameters, p->n
	Sizes  map[string]string // how much parameters point to, n*n
}

// rowsShape matches a define that says how many rows a parameter points to, and how long each is.
var rowsShape = regexp.MustCompile(`^\s*([A-Za-z_]\w*)\s*\[([^\[\]=]+\]\s*\[[^\[\]=]+)\]\s*$`)

// compiledOnly reports whether a define has no meaning for affine loops.
func compiledOnly(define string) bool {
	return rowsShape.MatchString(define) || fieldShape.MatchString(define)
}

var fieldShape = regexp.MustCompile(`^\s*([A-Za-z_]\w*(?:->|\.)[A-Za-z_][\w.]*)\s*=(.*)$`)

// Parts parts defines for a file of a text.
func Parts(text []byte, defines []string) (g Given, err error) {
	g.Values = map[string]string{}
	var others []string
	rows := map[string]string{}
	for _, define := range defines {
		if m := fieldShape.FindStringSubmatch(define); m != nil {
			g.Values[strings.TrimSpace(m[1])] = strings.TrimSpace(m[2])
		} else if m := rowsShape.FindStringSubmatch(define); m != nil {
			rows[m[1]] = m[2]
		} else {
			others = append(others, define)
		}
	}
	if others, g.Sizes, err = partSizes(others); err != nil {
		return g, err
	}
	maps.Copy(g.Sizes, rows)
	macros, values, err := partDefines(text, others)
	for name, n := range values {
		g.Values[name] = strconv.Itoa(n)
	}
	g.Macros = macros
	return g, err
}
