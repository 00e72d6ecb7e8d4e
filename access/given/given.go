// Package given is the program's own and promises nothing. It reads what -D gives the names of a C
// file, and finds the region of one, also of files that package csource refuses.
package given

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Defines are what the -D of a command say: macros, the values of variables and of fields, and how
// much parameters that are pointers point to.
type Defines struct {
	Macros []string
	Values map[string]int
	Fields map[string]int // such as p->n
	// such as n*n, or n][m for pointers to rows, which only a compiler reads
	Sizes map[string]string
}

var (
	sizeShape  = regexp.MustCompile(`^\s*([A-Za-z_]\w*)\s*\[([\w\s()+*/%-]*(?:\]\s*\[[\w\s()+*/%-]+)?)\]\s*$`)
	fieldShape = regexp.MustCompile(`^\w+((->|\.)[A-Za-z_]\w*)+$`)
	nameShape  = regexp.MustCompile(`^\s*[A-Za-z_]\w*\s*$`) // what a variable may be called instead
	// noTypes are words before a name that are not types.
	noTypes = strings.Fields("return else goto case sizeof do in")
)

// Split returns what a define gives a value, and the value: 1 where it has none, and in
// brackets how much a parameter points to, [n*n] of x[n*n].
func Split(define string) (name, value string) {
	if m := sizeShape.FindStringSubmatch(define); m != nil {
		return m[1], "[" + strings.Join(strings.Fields(m[2]), "") + "]"
	}
	name, value, given := strings.Cut(define, "=")
	if !given {
		value = "1"
	}
	return name, value
}

// Parse reads defines for the text of a file. A macro n would make "int n" invalid C, so -D n=9
// gives a declared variable its value. A define with a number is a variable's where the text
// declares one, alone or as a parameter, and a macro everywhere else.
func Parse(text []byte, defines []string) (g Defines, err error) {
	g = Defines{Values: map[string]int{}, Fields: map[string]int{}, Sizes: map[string]string{}}
	code := string(Blank(text, true))
	before := map[string]string{}
	for _, define := range defines {
		name, value := Split(define)
		if other, twice := before[name]; twice {
			return g, fmt.Errorf("-D %s: %s is given twice, as -D %s before: leave one of them out",
				define, name, other)
		}
		before[name] = define
		n, err := strconv.ParseInt(strings.TrimSpace(value), 0, 64)
		variable := nameShape.MatchString(name) && strings.TrimSpace(name) == name &&
			declares(code, name)
		switch {
		case sizeShape.MatchString(define):
			g.Sizes[name] = strings.Trim(value, "[]")
		case strings.Contains(name, "["):
			return g, fmt.Errorf(
				"-D %s: want one extent of a parameter that is a pointer, such as x[1000] or "+
					"'x[n*n]'", define)
		case fieldShape.MatchString(name) && err == nil:
			g.Fields[name] = int(n)
		case variable && err == nil:
			g.Values[name] = int(n)
		case variable && !nameShape.MatchString(value):
			return g, fmt.Errorf(
				"-D %s: %s is a variable of the file: want an integer of 64 bits, such as %s=1000",
				define, name, name)
		default:
			g.Macros = append(g.Macros, define)
		}
	}
	return g, nil
}

// declares reports whether a text declares a variable of this name: after the last word of a
// type, or after other variables of one type. The parser decides whether it is an integer.
func declares(code, name string) bool {
	const qualifiers = `(?:\s+(?:const|volatile|restrict|register))*`
	shape := regexp.MustCompile(`\b(\w+)` + qualifiers +
		`(?:\s+|\s*&\s*)(?:\w+(?:\s*=[^,;(){}]*)?\s*,\s*)*` + name + `\s*[,);=]`)
	return slices.ContainsFunc(shape.FindAllStringSubmatch(code, -1),
		func(m []string) bool { return !slices.Contains(noTypes, m[1]) })
}
