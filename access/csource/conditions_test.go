package csource_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stridebench/stridebench/access/csource"
)

// A condition is one of C on i, j and k, and what it is.
type condition struct {
	text  string
	holds func(v [3]int) bool
}

// compoundedOf is a random condition of comparisons under so many operators.
func compoundedOf(g *rand.Rand, deep int) condition {
	if deep == 0 {
		a, b, n, x, y := g.IntN(3), g.IntN(3), g.IntN(9)-3, 1+g.IntN(2), g.IntN(3)-1
		sum := func(v [3]int) int { return x*v[a] + y*v[b] }
		ops := []string{"<", ">", "<=", ">=", "==", "!="}
		op := g.IntN(len(ops))
		return condition{fmt.Sprintf("%d * %c + %d * %c %s %d", x, 'i'+a, y, 'i'+b, ops[op], n), func(v [3]int) bool {
			return []bool{sum(v) < n, sum(v) > n, sum(v) <= n, sum(v) >= n, sum(v) == n, sum(v) != n}[op]
		}}
	}
	p, q := compoundedOf(g, deep-1), compoundedOf(g, deep-1)
	switch g.IntN(5) {
	case 0:
		return condition{"!(" + p.text + ")", func(v [3]int) bool { return !p.holds(v) }}
	case 1, 2:
		return condition{"(" + p.text + " && " + q.text + ")", func(v [3]int) bool { return p.holds(v) && q.holds(v) }}
	}
	return condition{"(" + p.text + " || " + q.text + ")", func(v [3]int) bool { return p.holds(v) || q.holds(v) }}
}

// TestCompounded: conditions of many comparisons under && || and !, and ifs of these inside of each other, are read as they are, or have
// too many cases. Proofs take no time with a power of the comparisons, so that none is given up.
func TestCompounded(t *testing.T) {
	read, refused := 0, 0
	for seed := range 80 {
		g := rand.New(rand.NewPCG(uint64(seed), 18))
		conditions := make([]condition, 1+seed%3)
		body, end := "", ""
		for n := range conditions {
			conditions[n] = compoundedOf(g, 3+seed/3%2)
			body += "if (" + conditions[n].text + ") { "
			end = " } else b[j] = 1;" + end
		}
		text := "char a[10], b[10]; void f(void) { for (int i = 0; i < 5; i++) for (int j = 0; j < 10; j++) for (int k = 0; k < 10; k++) {\n" + body + "a[j] = 1;" + end + "\n} }"
		f, err := csource.Read("t.c", []byte(text), csource.Options{Function: "f"})
		if err != nil {
			if refused++; !strings.HasSuffix(err.Error(), "too many cases") {
				t.Errorf("%v, of %s", err, text)
			}
			continue
		}
		read++
		var want []string
		for at := range 500 {
			v, array := [3]int{at / 100, at / 10 % 10, at % 10}, "a"
			for _, c := range conditions {
				if !c.holds(v) {
					array = "b"
				}
			}
			want = append(want, fmt.Sprintf("w%s%d", array, v[1]))
		}
		if got := walked(f); got != strings.Join(want, " ") {
			t.Errorf("it does other accesses: %s", text)
		}
	}
	if t.Logf("%d are read", read); read < 40 || refused > 40 {
		t.Errorf("%d are read, and %d have too many cases", read, refused)
	}
}
