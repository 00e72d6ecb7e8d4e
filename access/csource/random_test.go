package csource_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stridebench/stridebench/access/csource"
)

// A cGenerator writes random files of C.
type cGenerator struct {
	*rand.Rand
	b      strings.Builder
	indent int
	arrays []array
	vars   []string // that indices can be made of
	loops  int      // around this place
	names  int
	left   int // statements

	// some arrays are reached by pointers, of which pointed are those that can be seen
	pointers bool
	pointed  []alias
	parts    []part // blocks that are functions of their own

	divides   bool // there are quotients and remainders
	quotients int
}

// A part is a block, and the function that it is in its place.
type part struct{ block, head, call string }

type array struct {
	name    string
	of      string
	extents []int
}

// An alias is a pointer to an element or a row of an array: name[i] is plain with i added to the
// last of its subscripts.
type alias struct {
	array
	plain []string // subscripts of the array; the last one is the one that moves
	base  array
}

const preamble = `#include <math.h>
#define LOW 2
#define HIGH (3 * LOW + 1)
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) >= (b) ? (a) : (b))
#ifdef __cplusplus
#define BOTH(c, a, b) both(c, a, b)
#define VALUE(x) E(x)
#define TICK tick();
#else
#define BOTH(c, a, b) ((c) ? (a) : (b))
#define VALUE(x) (x)
#define TICK
#endif
`

func (g *cGenerator) file() string {
	g.b.WriteString(preamble)
	for n := range 1 + g.IntN(3) {
		a := array{name: string(rune('A' + n))}
		for range 1 + g.IntN(3) {
			a.extents = append(a.extents, 8+g.IntN(14))
		}
		g.arrays = append(g.arrays, a)
		text := a.name
		for _, n := range a.extents {
			text += fmt.Sprintf("[%d]", n)
		}
		g.arrays[n].of = g.pick("double", "float", "int", "char", "short", "long long")
		fmt.Fprintf(&g.b, "%s %s;\n", g.arrays[n].of, text)
	}
	g.b.WriteString("void kernel(double alpha, double beta)\n{\n\tdouble s = 0, t = 0;\n\tint " +
		"i0, i1, i2, i3;\n#pragma scop\n")
	g.indent = 1
	g.block(2)
	g.b.WriteString("#pragma endscop\n}\n")
	return g.b.String()
}

func (g *cGenerator) pick(words ...string) string { return words[g.IntN(len(words))] }

func (g *cGenerator) chance(p float64) bool { return g.Float64() < p }

func (g *cGenerator) line(format string, args ...any) {
	fmt.Fprintf(&g.b, "%s%s\n", strings.Repeat("\t", g.indent), fmt.Sprintf(format, args...))
}

// block writes statements, in a function of their own if so chosen.
func (g *cGenerator) block(most int) {
	if !g.pointers || g.loops == 0 || g.loops == 4 || g.chance(0.7) {
		g.statements(most)
		return
	}
	kind, outside := g.pick("void", "void", "inline double"), g.b
	g.b = strings.Builder{}
	g.statements(most)
	block := g.b.String()
	g.b = outside
	p := part{block: block}
	var params, args []string
	for _, v := range g.vars {
		params, args = append(params, "int "+v), append(args, v)
	}
	for _, q := range g.pointed {
		params, args = append(params, q.declaration("", q.name)), append(args, q.name)
	}
	p.head = fmt.Sprintf("static %s part%d(%s)", kind, len(g.parts), strings.Join(params, ", "))
	p.call = fmt.Sprintf("%spart%d(%s);", g.pick("", "", "(void)"), len(g.parts),
		strings.Join(args, ", "))
	g.line("@%d@", len(g.parts))
	g.parts = append(g.parts, p)
}

var placeOfPart = regexp.MustCompile(`@(\d+)@`)

// programs are the file with what the generator chose, and the one without pointers and functions.
func (g *cGenerator) programs() (with, without string) {
	text := g.file()
	placed := func(text string, f func(part) string) string {
		for placeOfPart.MatchString(text) {
			text = placeOfPart.ReplaceAllStringFunc(text, func(place string) string {
				n, err := strconv.Atoi(strings.Trim(place, "@"))
				if err != nil {
					panic(err)
				}
				return f(g.parts[n])
			})
		}
		return text
	}
	functions := ""
	for _, p := range g.parts { // the ones inside come first
		own := ""
		for d := range 4 {
			if name := fmt.Sprintf("i%d", d); !regexp.MustCompile(`\b` + name +
				`\b`).MatchString(p.head) {
				own += "int " + name + "; "
			}
		}
		functions += p.head + " { double s, t, alpha, beta; " + own + "\n" + p.block
		if strings.Contains(p.head, "double part") {
			functions += "\treturn " + "s * 2;\n"
		}
		functions += "}\n"
	}
	head, rest, _ := strings.Cut(text, "void kernel(")
	with = placed(head+functions+"void kernel("+rest, func(p part) string { return p.call })
	without = placed(text, func(p part) string { return "{\n" + p.block + "}" })
	return bothParts.ReplaceAllString(with, "$1"), bothParts.ReplaceAllString(without, "$2")
}

// declaration declares a pointer of its type.
func (a *alias) declaration(qualified, name string) string {
	if len(a.extents) == 1 {
		return a.of + " *" + qualified + name
	}
	text := a.of + " (*" + name + ")"
	for _, n := range a.extents[1:] {
		text += fmt.Sprintf("[%d]", n)
	}
	return text
}

func (g *cGenerator) statements(most int) {
	known, seen := len(g.vars), len(g.pointed)
	for range 1 + g.IntN(most) {
		for g.pointers && g.chance(0.4) {
			g.pointer()
		}
		switch k := g.IntN(10); {
		case k < 6 && g.loops < 4 || g.loops == 0:
			g.loop()
		case k == 6:
			g.branch()
		case k == 7 && g.loops > 0:
			name := fmt.Sprintf("k%d", g.names)
			g.names++
			g.line("int %s = %s;", name, g.affine())
			g.vars = append(g.vars, name)
		default:
			g.statement()
		}
	}
	g.vars, g.pointed = g.vars[:known], g.pointed[:seen]
}

func (g *cGenerator) body() {
	g.indent++
	defer func() { g.indent-- }()
	for g.pointers && g.chance(0.3) {
		defer func(seen int) { g.pointed = g.pointed[:seen] }(len(g.pointed))
		g.pointer()
	}
	g.left--
	if g.left <= 0 {
		g.statement()
		return
	}
	g.block(2)
}

func (g *cGenerator) loop() {
	v := fmt.Sprintf("i%d", g.loops)
	kind := g.pick("", "", "int ", "int ", "long ", "unsigned ")
	from, to := g.bound(0), g.bound(5)
	step := 1 + max(0, g.IntN(6)-3)
	var head, by string
	switch g.IntN(5) {
	case 0, 1: // up
		head = fmt.Sprintf("%s = %s; %s %s %s", v, from, v, g.pick("<", "<="), to)
		by = g.steps(v, step, "+")
		if g.chance(0.2) {
			head += fmt.Sprintf(" && %s > %s", g.bound(7), v)
		}
	case 2: // backwards written
		head = fmt.Sprintf("%s = %s; %s %s %s", v, from, to, g.pick(">", ">="), v)
		by = g.steps(v, step, "+")
	case 3: // down
		if kind == "unsigned " {
			kind = ""
		}
		head = fmt.Sprintf("%s = %s; %s %s %s", v, to, v, g.pick(">", ">="), from)
		by = g.steps(v, step, "-")
	default:
		head = fmt.Sprintf("%s = %s; %s != %s + %d", v, from, v, from, step*g.IntN(5))
		by = g.steps(v, step, "+")
	}
	g.line("for (%s%s; %s) { TICK", kind, head, by)
	g.vars = append(g.vars, v)
	g.loops++
	g.body()
	g.loops--
	g.vars = g.vars[:len(g.vars)-1]
	g.line("}")
}

func (g *cGenerator) steps(v string, n int, sign string) string {
	if n == 1 && g.chance(0.7) {
		return g.pick(v+sign+sign, sign+sign+v)
	}
	return g.pick(fmt.Sprintf("%s %s= %d", v, sign, n), fmt.Sprintf("%s = %s %s %d", v, v, sign, n))
}

// bound is a bound of a loop of about n.
func (g *cGenerator) bound(n int) string {
	switch k := g.IntN(12); {
	case k < 5 || len(g.vars) == 0:
		return fmt.Sprint(n + g.IntN(4) - 1)
	case k < 7:
		return g.affine()
	case k == 7:
		return fmt.Sprintf("MIN(%s, %s)", g.affine(), g.affine())
	case k == 8:
		return fmt.Sprintf("MAX(%s, MIN(%s, %d))", g.affine(), g.affine(), n)
	case k == 9:
		return fmt.Sprintf("(%s ? %s : %d)", g.condition(1), g.affine(), n)
	case k == 10:
		return "HIGH / LOW"
	}
	return fmt.Sprintf("MIN(%s, %d)", g.affine(), n+2)
}

// affine is a function of the variables, small as they are.
func (g *cGenerator) affine() string {
	if len(g.vars) == 0 {
		return fmt.Sprint(g.IntN(5))
	}
	v := g.pick(g.vars...)
	if g.divides && g.quotients < 4 && v[0] == 'i' && g.chance(0.25) {
		g.quotients++
		n := 1 + g.IntN(4)
		return fmt.Sprintf("((%s %s %d) %s)", g.pick(v, v, "2 * "+v, v+" + "+v),
			g.pick("+", "-"), g.IntN(3),
			g.pick(fmt.Sprintf("%% %d", n+1), fmt.Sprintf("%% %d", n), fmt.Sprintf("/ %d", n),
				fmt.Sprintf(">> %d", n-1), "& 1", "& 3"))
	}
	switch g.IntN(8) {
	case 0, 1:
		return v
	case 2:
		return fmt.Sprintf("%s + %d", v, g.IntN(3))
	case 3:
		return fmt.Sprintf("%s - 1", v)
	case 4:
		return fmt.Sprintf("%d - %s", 5+g.IntN(5), v)
	case 5:
		return fmt.Sprintf("(%s + %s)", v, g.pick(g.vars...))
	case 6:
		return fmt.Sprintf("(%s - %s + LOW)", v, g.pick(g.vars...))
	}
	return fmt.Sprint(g.IntN(8))
}

func (g *cGenerator) condition(deep int) string {
	if deep == 0 || g.chance(0.5) {
		return fmt.Sprintf("%s %s %s", g.affine(),
			g.pick("<", "<=", ">", ">=", "==", "!="), g.affine())
	}
	switch g.IntN(4) {
	case 0:
		return fmt.Sprintf("!(%s)", g.condition(deep-1))
	case 1:
		return fmt.Sprintf("(%s || %s)", g.condition(deep-1), g.condition(deep-1))
	case 2:
		return g.affine()
	}
	return fmt.Sprintf("%s && (%s)", g.condition(deep-1), g.condition(deep-1))
}

func (g *cGenerator) branch() {
	g.line("if (%s) {", g.condition(2))
	g.body()
	for g.chance(0.3) {
		g.line("} else if (%s) {", g.condition(1))
		g.body()
	}
	if g.chance(0.4) {
		g.line("} else {")
		g.body()
	}
	g.line("}")
}

// both is a part of a program with pointers, and what stands in its place in the one without.
func both(with, without string) string { return "«" + with + "|" + without + "»" }

var bothParts = regexp.MustCompile(`«([^|»]*)\|([^|»]*)»`)

// pointer declares a pointer to an element or a row of an array, or to what another pointer
// reaches.
func (g *cGenerator) pointer() {
	a := g.arrays[g.IntN(len(g.arrays))]
	from := alias{array: a, base: a, plain: []string{"0"}}
	if len(g.pointed) > 0 && g.chance(0.4) {
		from = g.pointed[g.IntN(len(g.pointed))]
	}
	to := alias{array: from.array, base: from.base, plain: slices.Clone(from.plain)}
	to.name = fmt.Sprintf("q%d", g.names)
	g.names++
	text := from.name
	for len(to.extents) > 1 && g.chance(0.5) { // a row
		index := g.small(to.extents[0])
		text += "[" + index + "]"
		to.move(index)
		to.plain, to.extents = append(to.plain, "0"), to.extents[1:]
	}
	if g.chance(0.6) {
		index := g.small(to.extents[0])
		switch g.IntN(4) {
		case 0:
			text = "&" + text + "[" + index + "]"
		case 1:
			text = "(" + index + ") + " + text
		case 2:
			text += " - (" + index + ")"
			index = "-(" + index + ")"
		default:
			text += " + (" + index + ")"
		}
		to.move(index)
	}
	g.line("%s", both(to.declaration(g.pick("", "const ", "restrict "),
		to.name)+" = "+text+";", ""))
	g.pointed = append(g.pointed, to)
}

func (a *alias) move(index string) {
	last := len(a.plain) - 1
	a.plain[last] = fmt.Sprintf("%s + (%s)", a.plain[last], index)
}

// small is an index that is mostly within an extent where little is added to it.
func (g *cGenerator) small(extent int) string {
	if g.chance(0.3) {
		return g.affine()
	}
	if g.chance(0.3) {
		return fmt.Sprintf("MAX(0, MIN(%s, %d))", g.affine(), extent/2)
	}
	return fmt.Sprint(g.IntN(extent / 2))
}

// reached is a reference to an array by a pointer.
func (g *cGenerator) reached() string {
	p := g.pointed[g.IntN(len(g.pointed))]
	p.plain = slices.Clone(p.plain)
	text := p.name
	for d, extent := range p.extents {
		index := g.small(extent)
		if d > 0 {
			p.plain = append(p.plain, "0")
		}
		if d == 0 && g.chance(0.1) {
			index = "-" + fmt.Sprint(g.IntN(3))
		}
		p.move(index)
		switch g.IntN(4) {
		case 0:
			text = fmt.Sprintf("(*(%s + (%s)))", text, index)
		case 1:
			text = fmt.Sprintf("(&%s[%s])[0]", text, index)
		default:
			text += "[" + index + "]"
		}
	}
	return both(text, p.base.name+"["+strings.Join(p.plain, "][")+"]")
}

// element is a reference to an array.
func (g *cGenerator) element() string {
	if len(g.pointed) > 0 && g.chance(0.7) {
		return g.reached()
	}
	a := g.arrays[g.IntN(len(g.arrays))]
	text := a.name
	for _, extent := range a.extents {
		index := g.affine()
		switch {
		case g.chance(0.05):
			index = fmt.Sprintf("(%s ? %s : %d)", g.condition(1), index, g.IntN(extent))
		case g.chance(0.5): // within the extent, most of the time
			index = fmt.Sprintf("MAX(0, MIN(%s, %d))", index, extent-1)
		case g.chance(0.4):
			index = fmt.Sprint(g.IntN(extent))
		}
		text += "[" + index + "]"
	}
	return text
}

func (g *cGenerator) statement() {
	switch g.IntN(8) {
	case 0:
		g.line("%s%s;", g.element(), g.pick("++", "--"))
	case 1:
		g.line("s %s %s;", g.pick("=", "+=", "*="), g.value(2))
	case 2:
		g.line("%s = %s = %s;", g.element(), g.pick("s", "t", g.element()), g.value(1))
	default:
		g.line("%s %s %s;", g.element(), g.pick("=", "=", "+=", "-=", "*=", "/="), g.value(2))
	}
}

func (g *cGenerator) value(deep int) string {
	if deep == 0 || g.chance(0.3) {
		return g.pick(g.element(), g.element(), g.element(), "alpha", "s", "2.5", g.affine())
	}
	x, y := g.value(deep-1), g.value(deep-1)
	switch g.IntN(9) {
	case 0:
		return fmt.Sprintf("sqrt(VALUE(%s))", x)
	case 1:
		return fmt.Sprintf("fmax(VALUE(%s), VALUE(%s))", x, y)
	case 2:
		return fmt.Sprintf("(%s ? VALUE(%s) : VALUE(%s))", g.condition(1), x, y)
	case 3:
		return fmt.Sprintf("BOTH(VALUE(%s) < s, VALUE(%s), VALUE(%s))", g.value(0), x, y)
	case 4:
		return fmt.Sprintf("-(%s)", x)
	}
	return fmt.Sprintf("(VALUE(%s) %s VALUE(%s))", x, g.pick("+", "-", "*"), y)
}

// A randomFile is compiled, and read so and with pointers, functions and steps in place of what
// these mean.
type randomFile struct {
	compiled, with string
	refused        []string // words of errors for what is not known
}

// randomFiles are of all kinds that a generator writes.
func randomFiles() (all []randomFile) {
	refused := []string{"too many cases", "is not affine", "wrap", "range of its type",
		"is not decided",
		"!= ", "left side is not known"}
	for _, g := range []cGenerator{{}, {divides: true}, {pointers: true}} {
		for seed := range cases(80) {
			g := g
			g.Rand, g.left = rand.New(rand.NewPCG(uint64(seed), 17)), 12
			with, without := g.programs()
			all = append(all, randomFile{without, with, refused})
		}
	}
	return all
}

// TestRandom: what is read of random files is what their compiled programs do. What is refused is
// an index that leaves its extent there, a number that a type cannot hold, or what is not known.
func TestRandom(t *testing.T) {
	files := randomFiles()
	var texts []string
	for _, file := range files {
		texts = append(texts, file.compiled)
	}
	exact := 0
	for i, l := range runLogged(t, texts) {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			file := files[i]
			defer func() {
				if t.Failed() {
					t.Logf("of\n%s\nand\n%s", file.compiled, file.with)
				}
			}()
			read := func(text string) *csource.File {
				f, err := csource.Read("random.c", []byte(text), csource.Options{})
				is := func(word string) bool { return strings.Contains(err.Error(), word) }
				switch {
				case err == nil && (l.outside || l.endless):
					t.Error("an index is outside of its extent, or a loop does not end")
				case err == nil, l.endless, l.outside && is("is outside of"):
				case !slices.ContainsFunc(file.refused, is):
					t.Error(err)
				}
				return f
			}
			f := read(file.compiled)
			if f == nil && !l.outside { // numbers may wrap, which are of other types in functions
				return
			}
			with := read(file.with)
			if f != nil && len(f.Arrays) > 0 {
				exact++
				for at := range l.accesses { // where an address without its variables is below 0
					l.accesses[at].addr += f.Arrays[0].Base - 1<<32
				}
				same(t, f, l.accesses)
			}
			if f != nil && with != nil && walked(with) != walked(f) {
				t.Errorf("%.1000s\n%.1000s", walked(with), walked(f))
			}
		})
	}
	if t.Logf("%d of %d files are the same", exact, len(files)); exact == 0 {
		t.Error("none is read")
	}
}

// cases is how many random cases are drawn of those of a whole test.
func cases(all int) int {
	if testing.Short() {
		return max(1, all/20)
	}
	return all
}
