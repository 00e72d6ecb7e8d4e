package csource

import (
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

var fieldShape = regexp.MustCompile(`^\s*([A-Za-z_]\w*(?:->|\.)[A-Za-z_][\w.]*)\s*=(.*)$`)

// Parts parts defines for a file of a text.
func Parts(text []byte, defines []string) (g Given, err error) {
	g.Values = map[string]string{}
	var others []string
	for _, define := range defines {
		if m := fieldShape.FindStringSubmatch(define); m != nil {
			g.Values[strings.TrimSpace(m[1])] = strings.TrimSpace(m[2])
		} else {
			others = append(others, define)
		}
	}
	if others, g.Sizes, err = partSizes(others); err != nil {
		return g, err
	}
	macros, values, err := partDefines(text, others)
	for name, n := range values {
		g.Values[name] = strconv.Itoa(n)
	}
	g.Macros = macros
	return g, err
}
