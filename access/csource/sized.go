package csource

import (
	"fmt"
	goconstant "go/constant"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strings"

	"modernc.org/cc/v4"
)

// sizeShape matches a define that says how much a parameter points to, such as x[n*n].
var sizeShape = regexp.MustCompile(`^\s*([A-Za-z_]\w*)\s*\[([^\[\]=]*)\]\s*$`)

// Defined is what one of Options.Defines gives a value, and the value: 1 where it has none, and in brackets how much a parameter points
// to, [n*n] of x[n*n].
func Defined(define string) (name, value string) {
	if m := sizeShape.FindStringSubmatch(define); m != nil {
		return m[1], "[" + strings.Join(strings.Fields(m[2]), "") + "]"
	}
	name, value, given := strings.Cut(define, "=")
	if !given {
		value = "1"
	}
	return name, value
}

// partSizes parts the defines that say how much pointers point to from the others.
func partSizes(defines []string) (others []string, sizes map[string]string, err error) {
	sizes = map[string]string{}
	for _, define := range defines {
		m := sizeShape.FindStringSubmatch(define)
		if m == nil {
			if name, _, _ := strings.Cut(define, "="); strings.Contains(name, "[") {
				return nil, nil, fmt.Errorf("-D %s: want one extent of a parameter that is a pointer, such as x[1000] or 'x[n*n]'", define)
			}
			others = append(others, define)
			continue
		}
		if before, twice := sizes[m[1]]; twice {
			return nil, nil, fmt.Errorf("-D %s: %s is given twice, as -D %s[%s] before: leave one of them out", define, m[1], m[1], before)
		}
		sizes[m[1]] = strings.TrimSpace(m[2])
	}
	return others, sizes, nil
}

// findSized finds the parameters that are pointers of which a define says how much they point to: each points to the first element of
// an array of its own, which has its name and lies where a parameter that is an array lies.
func (b *builder) findSized(sizes map[string]string) error {
	pointers := map[string]*cc.Declarator{}
	for _, d := range parameters(b.main) {
		if isPointer(d) {
			pointers[d.Name()] = d
		}
	}
	for name, text := range sizes {
		d := pointers[name]
		if d == nil {
			return fmt.Errorf("-D '%s[%s]': %s is not a pointer parameter of %s%s", name, text, name, b.main.Declarator.Name(), among(pointers))
		}
		n, err := b.sizeFrom(text)
		if err != nil {
			return fmt.Errorf("-D '%s[%s]': %w", name, text, err)
		}
		b.sized[d] = n
	}
	return nil
}

// among says which pointers there are, if any.
func among(pointers map[string]*cc.Declarator) string {
	if len(pointers) == 0 {
		return ""
	}
	var names []string
	for name := range pointers {
		names = append(names, name)
	}
	slices.Sort(names)
	return ": there are " + strings.Join(names, ", ")
}

// sizeWord is a name in an extent, or what no extent has: a number with a suffix or a point.
var sizeWord = regexp.MustCompile(`[\w.]+`)

// wholeNumber is a number that Go has as C has it.
var wholeNumber = regexp.MustCompile(`^(0|[1-9][0-9]*|0[xX][0-9a-fA-F]+)$`)

// sizeSigns are what an extent is computed by, which Go does as C.
var sizeSigns = regexp.MustCompile(`^[\w\s()+*/%-]*$`)

// sizeFrom is an extent, of numbers and of names of which -D or a macro says the value.
func (b *builder) sizeFrom(text string) (int, error) {
	const want = "want an integer of at least 1, computed by + - * / % from numbers and names whose values -D or a macro gives"
	words, failed := 0, ""
	var expanded func(text string) string
	expanded = func(text string) string {
		return sizeWord.ReplaceAllStringFunc(text, func(word string) string {
			if words++; words > 1000 {
				failed = word
			}
			if wholeNumber.MatchString(word) || failed != "" {
				return word
			}
			if n, given := b.given[word]; given {
				return fmt.Sprintf("(%d)", n)
			}
			m := b.ast.Macros[word]
			if m == nil || m.IsFnLike || !m.IsConst {
				failed = word
				return word
			}
			var tokens []string
			for _, t := range m.ReplacementList() {
				tokens = append(tokens, t.SrcStr())
			}
			return expanded(strings.Join(tokens, " "))
		})
	}
	computed := expanded(text)
	if failed != "" {
		return 0, fmt.Errorf("the value of %s is not known: %s", failed, want)
	}
	if !sizeSigns.MatchString(computed) {
		return 0, fmt.Errorf("%s", want)
	}
	value, err := types.Eval(token.NewFileSet(), nil, token.NoPos, computed)
	if err != nil || value.Value == nil || value.Value.Kind() != goconstant.Int {
		return 0, fmt.Errorf("%s", want)
	}
	n, exact := goconstant.Int64Val(value.Value)
	if !exact || n < 1 {
		return 0, fmt.Errorf("it is %v: %s", value.Value, want)
	}
	return int(n), nil
}

// beginsAt has a parameter that is a pointer point to the first element of an array.
func (b *builder) beginsAt(d *cc.Declarator, number int) {
	a := b.file.Arrays[number]
	element := d.Type().(*cc.PointerType).Elem()
	l := lvalue{array: number, extents: a.Extents, of: element, declared: a.declared()}
	if array, is := element.(*cc.ArrayType); is {
		l.of = elementOf(array)
	}
	l = l.decayed()
	switch {
	case b.walkers[d] && b.enter(d):
		var used *expr // where it would be said that it overflows
		each(b.main.CompoundStatement, func(n cc.Node) {
			if p, is := n.(*cc.PrimaryExpression); is && used == nil {
				if e := expression(p); e.op == opVar && e.decl == d {
					used = e
				}
			}
		})
		l.steps[0].by = []move{{used, integer{constant(0), ctype{64, true}}, 1}}
		b.entered[d] = walker{l: l}
	case d.WriteCount() > 0 || d.AddressTaken() || volatile(d):
		b.astray[d] = refuse(d, "%s", pointerChanges)
	default:
		b.aliases[d] = l
	}
}
