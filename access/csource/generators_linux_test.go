package csource_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestCompiledRandom: random programs, as far as they are read, make the accesses that they make
// when GCC has compiled them, in its order. Others are refused for what is not known.
func TestCompiledRandom(t *testing.T) {
	for name, c := range map[string]struct {
		files   int
		draw    func(g *drawn) string
		head    string
		refused []string // words of errors
	}{
		"conditions": {80, (*drawn).conditions, "", []string{"too many cases"}},
		"quotients": {400, (*drawn).quotients, "",
			[]string{"of a variable is not affine", "too many cases"}},
		"rings": {150, (*drawn).rings, "", []string{"is not known", "too many", "not affine"}},
		"turns": {600, (*drawn).turns, "",
			[]string{"is not known", "a pointer to one of several", "too many", "not affine"}},
		"order": {400, (*drawn).order, headOfOrder(), []string{""}},
		"arguments": {800, (*drawn).arguments, headOfArguments,
			[]string{"comes before what else is read here is not known"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var programs []*program
			files := cases(c.files)
			for seed := range 8 * files {
				g := &drawn{Rand: rand.New(rand.NewPCG(uint64(seed), 19)), left: 5 + seed%8, depth: 1}
				p, err := readDrawn(seed, c.head, c.draw(g))
				is := func(of string) bool { return strings.Contains(err.Error(), of) }
				if err == nil {
					programs = append(programs, p)
				} else if !slices.ContainsFunc(c.refused, is) {
					t.Fatalf("%v, of\n%s", err, p.text)
				}
				if len(programs) == files {
					break
				}
			}
			if len(programs) < files {
				t.Fatalf("only %d programs are read", len(programs))
			}
			compare(t, programs)
		})
	}
}

// drawn draws C.
type drawn struct {
	*rand.Rand
	left, depth int // statements, and loops around this place
	size        [3]int
}

func (g *drawn) of(words ...string) string { return words[g.IntN(len(words))] }

// block is statements and loops of all kinds in braces.
func (g *drawn) block(statement func() string) string {
	text := "{\n"
	for range 1 + g.IntN(4) {
		if g.left--; g.left < 0 {
			break
		}
		if g.depth == 3 || g.IntN(3) > 0 {
			text += statement() + "\n"
			continue
		}
		n, form := 1+g.IntN(10), g.of(
			"for (int iD = 0; iD < N; iD++) BODY", "for (int iD = 0; iD < N; iD += 2) BODY",
			"for (int iD = N - 1; iD >= 0; iD--) BODY", "for (int iD = 0; iD <= iO; iD++) BODY",
			"{ int iD = -1; while (++iD < N) BODY }",
			"{ int n = N, iD = -1; while (n--) { iD++; BODY } }",
			"{ int iD = 0; do { BODY } while (++iD < N); }")
		depth := g.depth
		g.depth++
		body := g.block(statement)
		g.depth--
		text += strings.NewReplacer("D", fmt.Sprint(depth), "O", fmt.Sprint(depth-1),
			"N", fmt.Sprint(n), "BODY", body).Replace(form) + "\n"
	}
	return text + "}"
}

// turns swaps, moves and chooses pointers, and has integers that come again.
func (g *drawn) turns() string {
	body := g.block(func() string {
		n := fmt.Sprint(g.IntN(4))
		condition := g.of("k1 > "+n, "iV % 2", "iV % 3 == "+n, "iV > "+n)
		const swap, copied = "{ double *t = pA; pA = pB; pB = t; }", "pA[k0 + K] = pB[k1];"
		form := g.of(swap, swap, copied, copied, copied, copied, copied, "pA++;",
			g.of("k0 = 1 - k0;", "k0 ^= 1;", "k1 = (k1 + 1) % 3;"),
			"pA = C ? aB + V : pA;", "if (C) pA = pB;", "(C ? pA : pB)[K] = 1;")
		form = strings.ReplaceAll(form, "C", condition)
		return strings.NewReplacer("A", fmt.Sprint(g.IntN(3)), "B", fmt.Sprint(g.IntN(3)),
			"K", fmt.Sprint(g.IntN(3)), "V", fmt.Sprint(g.IntN(g.depth))).Replace(form)
	})
	return fmt.Sprintf(`double a0[9000], a1[9000], a2[9000];
void f(void) {
	double *p0 = a0, *p1 = a1 + 1, *p2 = a2;
	int k0 = 0, k1 = 1;
	for (int i0 = 0; i0 < %d; i0++) %s
	p0[k0] = p1[k1];
	p2[0] = 1;
}
`, 1+g.IntN(9), body)
}

// rings has integers that go round in rings of random sizes.
func (g *drawn) rings() string {
	text, values := "double b[400]", ""
	kind := g.of("int", "int", "unsigned")
	for v := range g.size {
		g.size[v] = 2 + g.IntN(4+g.IntN(60))
		text += fmt.Sprintf(", a%d[%d]", v, g.size[v])
		values += fmt.Sprintf(" %s r%d = %d;", kind, v, g.IntN(g.size[v]))
	}
	steps := []string{
		"R = R == L ? 0 : R + 1;", "R = R + 1 < N ? R + 1 : 0;", "if (++R == N) R = 0;",
		"R++; if (R >= N) R = 0;", "if (R == L) R = 0; else R++;", "R = (R + 1) % N;",
		"R = R != L ? R + 1 : 0;", "R += B; if (R >= N) R -= N;", "R = (R + B) % N;",
		"R = R < N - B ? R + B : R + B - N;", "R = R == 0 ? L : R - 1;", "if (R == 0) R = N; R--;",
		"R = (R + L) % N;", "if (--R < 0) R = L;", "if (R-- == 0) R += N;",
	}
	if kind == "unsigned" {
		steps = steps[:len(steps)-2]
	}
	body := g.block(func() string {
		v, w := g.IntN(3), g.IntN(3)
		if g.IntN(5) > 1 {
			return fmt.Sprintf("a%d[r%[1]d] = b[r%d + i%d];", v, w, g.IntN(g.depth))
		}
		n := g.size[v]
		by := min(1+g.IntN(3)*g.IntN(2), n-1)
		return strings.NewReplacer("R", fmt.Sprint("r", v), "N", fmt.Sprint(n),
			"L", fmt.Sprint(n-1), "B", fmt.Sprint(by)).Replace(g.of(steps...))
	})
	return fmt.Sprintf(`%s;
void f(void) {
	%s
	for (int i0 = 0; i0 < %d; i0++) %s
	a0[r0] = a1[r1] + a2[r2];
}
`, text, values, 1+g.IntN(70), body)
}

// conditions has ifs, within each other, of comparisons under && || and !. No proof is given up
// for a time that is a power of their number.
func (g *drawn) conditions() string {
	var condition func(deep int) string
	condition = func(deep int) string {
		if deep == 0 {
			return fmt.Sprintf("%d * %s + %d * %s %s %d", 1+g.IntN(2), g.of("i", "j", "k"), g.IntN(3)-1,
				g.of("i", "j", "k"), g.of("<", ">", "<=", ">=", "==", "!="), g.IntN(9)-3)
		}
		p, q := condition(deep-1), condition(deep-1)
		and, or := "("+p+" && "+q+")", "("+p+" || "+q+")"
		return g.of("!("+p+")", and, and, or, or)
	}
	body, end, deep := "", "", 3+g.IntN(2)
	for range 1 + g.IntN(3) {
		body += "if (" + condition(deep) + ") { "
		end = " } else b[j] = 1;" + end
	}
	return `char a[10], b[10];
void f(void) {
	for (int i = 0; i < 5; i++) for (int j = 0; j < 10; j++) for (int k = 0; k < 10; k++) {
` + body + "a[j] = 1;" + end + "\n} }"
}

// quotients has quotients and remainders of the variables of two loops: over i, and over j from a
// function of i or the greater of i and a number, up or down by any step, to the least of two.
func (g *drawn) quotients() string {
	head := ""
	for _, name := range []string{"i", "j"} {
		from, step := g.IntN(30)-10, 1+max(0, g.IntN(5)-2)
		to, more := g.IntN(14), g.IntN(20)
		compares, sign, slope := "<", "+", ""
		if g.IntN(3) == 0 {
			compares, sign, to, more = ">", "-", -to, -more
		}
		if name == "j" {
			slope = fmt.Sprintf(" + %d * i", g.IntN(3)-1)
		}
		first, end := fmt.Sprint(from, slope), fmt.Sprint(from+to, slope)
		if name == "j" && g.IntN(4) == 0 {
			first, end = fmt.Sprintf("(i %s %d ? %[2]d : i)", compares, from), fmt.Sprint(from+to)
		}
		head += strings.NewReplacer("V", name, "FIRST", first, "END", end, "<", compares,
			"MORE", fmt.Sprint(from+more), "STEP", fmt.Sprint(sign, "= ", step)).
			Replace("for (int V = FIRST; V < END && V < MORE; V STEP) ")
	}
	n := 1 + g.IntN(7)
	divided := g.of(fmt.Sprint("% ", n), fmt.Sprint("% ", n), fmt.Sprint("% ", -n),
		fmt.Sprint("/ ", n), g.of("& 1", "& 3", "& 7"), fmt.Sprint(">> ", n/2))
	x := fmt.Sprintf("((%d * i + %d * j + %d) %s)", g.IntN(5)-1, g.IntN(5)-2, g.IntN(9)-3, divided)
	return fmt.Sprintf(`char a[1000], b[1000];
void f(void) {
	%s{ a[%s + 500] = 1; if (%[2]s %% 2 == 0) b[j + 500] = 1; }
}`, head, x)
}

// headOfOrder has arrays of all types, and functions that read them and are not folded into calls.
func headOfOrder() string {
	head := "double x = 2; int n = 3;\n"
	for i, of := range types {
		head += fmt.Sprintf("%s a%d[4], b%[2]d[4], c%[2]d[4]; __attribute__((noinline, noclone)) "+
			"static %[1]s g%[2]d(const %[1]s *v) { return v[2]; }\n", of, i)
	}
	return head
}

var (
	types   = []string{"double", "float", "int", "unsigned", "long", "short", "char"}
	ordered = regexp.MustCompile(`g\d\(.*\[1\]|\[1\].*g\d\(|g\d\(.*g\d\(`)
)

// order is an assignment of an expression with calls beside other accesses.
func (g *drawn) order() string {
	var write func(deep int) string
	write = func(deep int) string {
		of := g.IntN(len(types))
		if g.IntN(3) > 0 {
			of = g.IntN(2)
		}
		array := fmt.Sprint(g.of("a", "b", "c"), of)
		switch n := g.IntN(20); {
		case deep > 0 && n < 12:
			op := g.of("+", "-", "*", "+", "-", "*", "/ (x +", "&", "<")
			end := strings.Repeat(")", strings.Count(op, "("))
			return fmt.Sprintf("(%s %s %s)%s", write(deep-1), op, write(deep-1), end)
		case deep > 0 && n < 14:
			return fmt.Sprintf("%s(%s)", g.of("-", "~", "!", "+", "("+types[of]+")"), write(deep-1))
		case n < 16 && deep < 3:
			return fmt.Sprintf("g%d(%s)", of, array)
		case n == 19:
			return g.of("2.5", "3", "n", "x", "0", "-1.0")
		}
		return array + "[1]"
	}
	for {
		if e := write(1 + g.IntN(3)); ordered.MatchString(e) {
			return "x = " + e
		}
	}
}

const headOfArguments = `#include <math.h>
#include <stdlib.h>
double a[4], b[4], c[4]; float e[4]; int k[4]; volatile double v[4]; double x = 2; int n = 1;
static double least(double p, double q) { return p < q ? p : q; }
__attribute__((noinline)) double mixed(int p, double q, float s, long u) { return p + q + s + u; }
static inline double half(double p) { return p / 2; }
__attribute__((const)) double same(double p) { return p; }
double __attribute__((__pure__)) pure(double p, double q) { return p - q; }
static int clamp(int p, int low, int high) { return p < low ? low : p > high ? high : p; }
double many(double p, double q, double s, double u, double w, double y, double z, double aa,
	double bb, double cc) { return p + cc; }
static double dot(const double *p, const double *q, int count)
{ double s = 0; for (int i = 0; i < count; i++) s += p[i] * q[i]; return s; }
static double at(const double *p, double by) { return p[2] * by; }
static double put(double *p, double by, double to) { p[3] = by - to; return p[1]; }
double given(int p, ...);
`

// arguments is a statement of calls of functions of numbers and of arrays, of the file and of the
// library, within each other. A value stands for each X in these, one of three for Y.
func (g *drawn) arguments() string {
	calls := []string{"least(X, X)", "least(X, X)", "mixed(X, X, X, X)", "mixed(X, X, X, X)", "half(X)",
		"same(X)", "pure(X, X)", "clamp(X, k[1], X)", "many(X, X, 2, X, x, X, X, n, a[1], X)",
		"dot(a, b + 1, Y)", "at(Z, X)", "at(Z, X)", "put(W, X, X)", "given(2, X, X)", "TWO(X, X)", "ONE(X)",
		"fma(X, X, X)", "abs(X)", "(x = X)", "(X OP 1.5 * X)", "(X OP 1.5 * X)", "(X OP 1.5 * X)"}
	value := regexp.MustCompile(`X|Y|Z|W|TWO|ONE|OP`)
	var write func(text string, deep int) string
	write = func(text string, deep int) string {
		return value.ReplaceAllStringFunc(text, func(of string) string {
			switch of {
			case "Y":
				return g.of("2", "3", "1")
			case "Z":
				return g.of("a", "b", "c + 1")
			case "W":
				return g.of("a", "b", "c")
			case "OP":
				return g.of("+", "-", "*")
			case "TWO":
				return g.of("fmax", "fmin", "copysign", "pow", "hypot", "atan2", "fmod")
			case "ONE":
				return g.of("sqrt", "fabs", "sin", "cos", "exp", "floorf", "ceil", "tanh", "log", "fabsf",
					"sqrtf", "rint")
			}
			if deep == 0 || g.IntN(4) == 0 {
				return g.of("a[0]", "b[1]", "c[1]", "e[2]", "k[3]", "x", "2.5", "v[1]", "a[2]", "b[3]")
			}
			return write(g.of(calls...), deep-1)
		})
	}
	target := g.of("x = ", "a[1] = ", "b[2] += ", "c[3] -= ", "e[1] *= ", "k[2] += ", "v[2] /= 4 + ",
		"x += ")
	return target + write(g.of(calls...), g.IntN(3))
}
