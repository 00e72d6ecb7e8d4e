package csource

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"modernc.org/cc/v4"
)

// A Given is what [Options.Defines] say: macros, the values of variables and of fields, and how
// much parameters that are pointers point to.
type Given struct {
	Macros []string
	Values map[string]int
	Fields map[string]int    // such as p->n
	Sizes  map[string]string // such as n*n, or n][m for pointers to rows, which only a compiler reads
}

var (
	sizeShape  = regexp.MustCompile(`^\s*([A-Za-z_]\w*)\s*\[([\w\s()+*/%-]*(?:\]\s*\[[\w\s()+*/%-]+)?)\]\s*$`)
	fieldShape = regexp.MustCompile(`^\w+((->|\.)[A-Za-z_]\w*)+$`)
	nameShape  = regexp.MustCompile(`^\s*[A-Za-z_]\w*\s*$`) // what a variable may be called instead
	// noTypes are words in front of a name that are no types.
	noTypes = strings.Fields("return else goto case sizeof do in")
)

// Defined is what one of Options.Defines gives a value, and the value: 1 where it has none, and in
// brackets how much a parameter points to, [n*n] of x[n*n].
func Defined(define string) (name, value string) {
	if m := sizeShape.FindStringSubmatch(define); m != nil {
		return m[1], "[" + withoutSpace(m[2]) + "]"
	}
	name, value, given := strings.Cut(define, "=")
	if !given {
		value = "1"
	}
	return name, value
}

// Parts parts defines. A macro of the name of a variable would leave no variable in its
// declaration, "int n", which is no C: what is meant is its value. So a define with a number is a
// variable's where the text declares one, alone or as a parameter, and a macro everywhere else.
func Parts(text []byte, defines []string) (g Given, err error) {
	g = Given{Values: map[string]int{}, Fields: map[string]int{}, Sizes: map[string]string{}}
	code := string(blank(text, true))
	before := map[string]string{}
	for _, define := range defines {
		name, value := Defined(define)
		if other, twice := before[name]; twice {
			return g, fmt.Errorf("-D %s: %s is given twice, as -D %s before: leave one of them out", define,
				name, other)
		}
		before[name] = define
		n, err := strconv.ParseInt(strings.TrimSpace(value), 0, 64)
		variable := defineShape.MatchString(name) && declares(code, name)
		switch {
		case sizeShape.MatchString(define):
			g.Sizes[name] = strings.Trim(value, "[]")
		case strings.Contains(name, "["):
			return g, fmt.Errorf(
				"-D %s: want one extent of a parameter that is a pointer, such as x[1000] or 'x[n*n]'", define)
		case fieldShape.MatchString(name) && err == nil:
			g.Fields[name] = int(n)
		case variable && err == nil:
			g.Values[name] = int(n)
		case variable && !nameShape.MatchString(value):
			return g, fmt.Errorf(
				"-D %s: %s is a variable of the file: want an integer of 64 bits, such as %s=1000", define,
				name, name)
		default:
			g.Macros = append(g.Macros, define)
		}
	}
	return g, nil
}

// declares tells whether a text declares a variable of this name: behind the last word of a
// type, or behind others of the same type. Whether it is an integer is known when it is parsed.
func declares(code, name string) bool {
	const qualifiers = `(?:\s+(?:const|volatile|restrict|register))*`
	shape := regexp.MustCompile(`\b(\w+)` + qualifiers + `(?:\s+|\s*&\s*)(?:\w+(?:\s*=[^,;(){}]*)?\s*,\s*)*` + name + `\s*[,);=]`)
	return slices.ContainsFunc(shape.FindAllStringSubmatch(code, -1), func(
		m []string) bool {
		return !slices.Contains(noTypes, m[1])
	})
}

// sizePrefix begins the names of variables behind the file whose values are the extents that
// defines give.
const sizePrefix = "__stridebench_size_"

// sized declares these variables. The names of variables that have values are macros there.
func (g Given) sized() string {
	if len(g.Sizes) == 0 {
		return ""
	}
	var text strings.Builder
	for name, n := range g.Values {
		fmt.Fprintf(&text, "#undef %s\n#define %[1]s %dL\n", name, n)
	}
	for _, name := range slices.Sorted(maps.Keys(g.Sizes)) {
		fmt.Fprintf(&text, "#line 1 \"-D '%s[%s]'\"\nstatic const long %s%[1]s = %[2]s;\n", name,
			g.Sizes[name], sizePrefix)
	}
	return text.String()
}

// tell keeps the values that defines have for variables of the file and of the function that is
// read. One that is written has none, but for a parameter, which begins with it; where there is
// no other of the name, that is an error. Where there is none at all, as where the name is a
// parameter of another function alone, that is a note.
func (b *builder) tell() error {
	kept, not := map[string]bool{}, map[string]*Error{}
	sizes := map[string]*cc.Declarator{}
	b.declared(func(d *cc.Declarator, init *cc.InitDeclarator) {
		name := d.Name()
		if strings.HasPrefix(name, sizePrefix) {
			sizes[strings.TrimPrefix(name, sizePrefix)] = d
			b.constant(init)
		}
		n, given := b.Given.Values[name]
		t, ok := typeOf(d.Type())
		if !given || !ok {
			return
		}
		low, high := t.limits()
		begins := d.IsParam() && tracked(d) && b.opts.Function != ""
		switch {
		case !b.keeps(d) && !begins:
			not[name] = refuse(d,
				"-D %s=%d gives it a value, which it does not keep: something writes it", name, n)
		case n < low || n > high:
			not[name] = refuse(d, "-D %s=%d is not a value of type %v", name, n, t)
		default:
			b.bind(d, value{i: integer{constant(n), t}})
			b.told[d], kept[name] = true, true
		}
	})
	for _, name := range slices.Sorted(maps.Keys(not)) {
		if !kept[name] {
			return not[name]
		}
	}
	for _, name := range slices.Sorted(maps.Keys(b.Given.Values)) {
		if define := fmt.Sprintf("%s=%d", name, b.Given.Values[name]); !kept[name] {
			b.file.Notes = append(b.file.Notes, Note{Define: define, Pos: Pos{File: b.unit.name},
				Text: fmt.Sprintf(
					"-D %s has no effect: neither the file nor %s, which is read, declares an integer %s", define,
					b.main.Declarator.Name(), name)})
		}
	}
	return b.tellSizes(sizes)
}

// tellSizes keeps how much parameters that are pointers point to: each points to the first
// element of an array of its own, which has its name and lies where an array would.
func (b *builder) tellSizes(sizes map[string]*cc.Declarator) error {
	for _, d := range parameters(b.main) {
		if v := sizes[d.Name()]; v != nil && isPointer(d) {
			size, _ := b.values.of(v)
			n, fixed := size.i.number()
			if size.failed != nil || !fixed || n < 1 {
				return fmt.Errorf(
					"-D '%s[%s]': want an integer of at least 1, of numbers and defines", d.Name(),
					b.Given.Sizes[d.Name()])
			}
			b.sized[d] = n
			delete(sizes, d.Name())
		}
	}
	for name := range sizes {
		return fmt.Errorf("-D '%s[%s]': %[1]s is not a pointer parameter of %[3]s", name,
			b.Given.Sizes[name], b.main.Declarator.Name())
	}
	for field := range b.Fields {
		var changed *Error
		_, name, _ := strings.Cut(strings.ReplaceAll(field, "->", "."), ".")
		each(b.ast.TranslationUnit, func(n cc.Node) {
			if e, is := n.(cc.ExpressionNode); is && changed == nil {
				if of := expression(e); of.assigns() && of.args[0].op == opField && strings.HasSuffix(name,
					of.args[0].field.Name()) {
					changed = refuse(n, "-D %s gives the field a value, which it does not keep", field)
				}
			}
		})
		if changed != nil {
			return changed
		}
	}
	return nil
}

// givenField is the value that a define gives a field of a variable of the function that is read.
func (b *builder) givenField(e *expr) (n int, given bool) {
	n, given = b.Fields[withoutSpace(e.text())]
	return n, given && len(b.calls) == 0 && b.keeps(e.base().decl)
}
