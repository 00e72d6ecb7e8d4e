package csource

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"modernc.org/cc/v4"

	"github.com/stridebench/stridebench/access/given"
)

// sizePrefix begins the names of variables that are declared after the file. Their values are the
// extents that defines give.
const sizePrefix = "__stridebench_size_"

// sized declares these variables. The names of variables that have values are macros there.
func sized(g given.Defines) string {
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

// tell keeps the values that defines give to variables of the file and of the function that is
// read. A written variable keeps none, except a parameter, which begins with it. If no other
// variable has the name, that is an error. If none has it, that is a note: the name may be a
// parameter of another function.
func (b *builder) tell() error {
	kept, not := map[string]bool{}, map[string]*Error{}
	sizes := map[string]*cc.Declarator{}
	b.declared(func(d *cc.Declarator, init *cc.InitDeclarator) {
		name := d.Name()
		if strings.HasPrefix(name, sizePrefix) {
			sizes[strings.TrimPrefix(name, sizePrefix)] = d
			b.constant(init)
		}
		n, given := b.Defines.Values[name]
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
	for _, name := range slices.Sorted(maps.Keys(b.Defines.Values)) {
		switch define := fmt.Sprintf("%s=%d", name, b.Defines.Values[name]); {
		case kept[name]:
		case not[name] != nil:
			return not[name]
		default:
			b.file.Notes = append(b.file.Notes, &Error{Define: define, Pos: Pos{File: b.unit.name},
				Why: fmt.Sprintf("-D %s has no effect: neither the file nor %s, which is read, "+
					"declares an integer %s", define, b.main.Declarator.Name(), name)})
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
					b.Defines.Sizes[d.Name()])
			}
			b.sized[d] = n
			delete(sizes, d.Name())
		}
	}
	for name := range sizes {
		return fmt.Errorf("-D '%s[%s]': %[1]s is not a pointer parameter of %[3]s", name,
			b.Defines.Sizes[name], b.main.Declarator.Name())
	}
	for field := range b.Fields {
		var changed *Error
		_, name, _ := strings.Cut(strings.ReplaceAll(field, "->", "."), ".")
		assignments(b.ast.TranslationUnit, func(e *expr) {
			if to := e.args[0]; to.op == opField && strings.HasSuffix(name, to.field.Name()) {
				changed = e.fails("-D %s gives the field a value, which it does not keep", field)
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
