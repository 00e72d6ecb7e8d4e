package csource

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"modernc.org/cc/v4"
)

// declares matches the declaration of a variable of this name: behind the last word of a type, or behind others of
// the same type. Whether it is an integer is known when it is parsed.
func declares(name string) *regexp.Regexp {
	const qualifiers = `(?:\s+(?:const|volatile|restrict|register))*`
	return regexp.MustCompile(`\b(\w+)` + qualifiers + `\s+(?:\w+(?:\s*=[^,;(){}]*)?\s*,\s*)*` + name + `\s*[,);=]`)
}

// noTypes are words in front of a name that are no types.
var noTypes = []string{"return", "else", "goto", "case", "sizeof", "do", "in"}

// partDefines parts defines into macros and the values of variables. A macro of the name of a
// variable would leave no variable in its declaration, "int n", which is no C: what is meant is its
// value. So a define with a number is a variable's where the text declares one, alone or as a
// parameter, and a macro everywhere else. One with neither a number nor another name would leave no C there.
func partDefines(text []byte, defines []string) (macros []string, values map[string]int, err error) {
	values = map[string]int{}
	if len(defines) == 0 {
		return nil, values, nil
	}
	var code strings.Builder
	for _, line := range logicalLines(text) {
		if !strings.HasPrefix(strings.TrimSpace(line.text), "#") {
			code.WriteString(line.text + "\n")
		}
	}
	before := map[string]string{}
	for _, define := range defines {
		name, value, _ := strings.Cut(define, "=")
		if other, twice := before[name]; twice {
			return nil, nil, fmt.Errorf("-D %s: %s is given twice, as -D %s before: leave one of them out", define, name, other)
		}
		before[name] = define
		n, err := strconv.ParseInt(strings.TrimSpace(value), 0, 64)
		declared := defineShape.MatchString(name) && slices.ContainsFunc(declares(name).FindAllStringSubmatch(code.String(), -1), func(m []string) bool {
			return !slices.Contains(noTypes, m[1])
		})
		switch {
		case declared && err == nil:
			values[name] = int(n)
		case declared && errors.Is(err, strconv.ErrRange):
			return nil, nil, fmt.Errorf("-D %s: %s is a variable of the file, and that is beyond 64 bits: want an integer, such as %s=1000", define, name, name)
		case declared && (!anotherName.MatchString(value) || noInteger.MatchString(value)):
			return nil, nil, fmt.Errorf("-D %s: %s is a variable of the file: want an integer, such as %s=1000", define, name, name)
		default:
			macros = append(macros, define)
		}
	}
	return macros, values, nil
}

// anotherName is what a variable may be called instead.
var anotherName = regexp.MustCompile(`^\s*[A-Za-z_]\w*\s*$`)

// noInteger are numbers that look like names.
var noInteger = regexp.MustCompile(`(?i)^\s*(nan|inf|infinity)\s*$`)

// give keeps the values that defines have for variables of the file and of the function that is
// read. One that is written after its declaration has none; where there is no other of the
// name, that is an error. Where there is none at all, as where the name is a parameter of
// another function alone, that is a note.
func (b *builder) give() error {
	kept, not := map[string]bool{}, map[string]*Error{}
	b.declared(func(d *cc.Declarator, init *cc.InitDeclarator) {
		name := d.Name()
		b.mayChange(d, init)
		n, given := b.given[name]
		t, ok := typeOf(d.Type())
		if !given || !ok {
			return
		}
		if low, high := t.limits(); b.changing[d] && b.walkers[d] && d.IsParam() && n >= low && n <= high && b.enter(d) {
			b.entered[d], kept[name] = walker{i: integer{constant(n), t}}, true
			return
		}
		if b.changing[d] {
			not[name] = refuse(d, "-D %s=%d gives it a value, which it does not keep: it is written elsewhere, or its address is taken", name, n)
			return
		}
		if low, high := t.limits(); n < low || n > high {
			not[name] = refuse(d, "-D %s=%d is not a value of type %v", name, n, t)
			return
		}
		b.known[d], b.told[d], kept[name] = integer{constant(n), t}, true, true
	})
	for _, name := range slices.Sorted(maps.Keys(not)) {
		if !kept[name] {
			return not[name]
		}
	}
	for _, name := range slices.Sorted(maps.Keys(b.given)) {
		if define := fmt.Sprintf("%s=%d", name, b.given[name]); !kept[name] {
			b.file.Notes = append(b.file.Notes, Note{Define: define, Pos: Pos{File: b.name}, Text: fmt.Sprintf("-D %s has no effect: neither the file nor %s, which is read, declares an integer %s", define, b.main.Declarator.Name(), name)})
		}
	}
	return nil
}

// volatile tells whether a variable is. Of a pointer that is a parameter the parser says it of what it points to, too.
func volatile(d *cc.Declarator) bool {
	return d.IsVolatile() && d.Type() != nil && d.Type().Kind() != cc.Ptr
}

// mayChange keeps whether a variable has other values than that which it is declared with.
func (b *builder) mayChange(d *cc.Declarator, init *cc.InitDeclarator) {
	writes := 0
	if init != nil && init.Case == cc.InitDeclaratorInit {
		writes = 1
	}
	b.changing[d] = d.WriteCount() > writes || d.AddressTaken() || b.shared[d] || volatile(d)
}
