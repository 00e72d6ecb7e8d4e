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
		"quotients":  {200, (*drawn).quotients, "", []string{"is not affine", "too many cases"}},
		"arguments": {300, (*drawn).arguments, headOfArguments,
			[]string{"is not known", "it is volatile", "an assignment within an expression"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var programs []*program
			files := cases(c.files)
			for seed := range 8 * files {
				g := &drawn{rand.New(rand.NewPCG(uint64(seed), 19))}
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
}

func (g *drawn) of(words ...string) string { return words[g.IntN(len(words))] }

// conditions has ifs, within each other, of comparisons under && || and !. No proof is given up
// for a time that is a power of their number.
func (g *drawn) conditions() string {
	var condition func(deep int) string
	condition = func(deep int) string {
		if deep == 0 {
			return fmt.Sprintf("%d * %s + %d * %s %s %d", 1+g.IntN(2), g.of("i", "j", "k"),
				g.IntN(3)-1,
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
	calls := []string{"least(X, X)", "least(X, X)", "mixed(X, X, X, X)",
		"mixed(X, X, X, X)", "half(X)",
		"same(X)", "pure(X, X)", "clamp(X, k[1], X)", "many(X, X, 2, X, x, X, X, n, a[1], X)",
		"dot(a, b + 1, Y)", "at(Z, X)", "at(Z, X)", "put(W, X, X)", "given(2, X, X)",
		"TWO(X, X)", "ONE(X)",
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
				return g.of("sqrt", "fabs", "sin", "cos", "exp", "floorf", "ceil", "tanh",
					"log", "fabsf",
					"sqrtf", "rint")
			}
			if deep == 0 || g.IntN(4) == 0 {
				return g.of("a[0]", "b[1]", "c[1]", "e[2]", "k[3]", "x", "2.5", "v[1]",
					"a[2]", "b[3]")
			}
			return write(g.of(calls...), deep-1)
		})
	}
	target := g.of("x = ", "a[1] = ", "b[2] += ", "c[3] -= ", "e[1] *= ", "k[2] += ",
		"v[2] /= 4 + ",
		"x += ")
	return target + write(g.of(calls...), g.IntN(3))
}
