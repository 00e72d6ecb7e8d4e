package csource_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stridebench/stridebench/access/csource"
)

// quotientOf is what C makes of a number and a constant.
func quotientOf(x int, op string, n int) int {
	switch op {
	case "%":
		return x % n
	case "/":
		return x / n
	case "&":
		return x & n
	}
	return x >> n
}

// TestRandomQuotients: quotients and remainders of the variables of random loops are C's, wherever they begin again.
func TestRandomQuotients(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 18))
	parted, read := 0, 0
	for range 400 {
		// for i, and for j from a function of i or the greater of i and a number, up or down by any step, to the least of two.
		type bounds struct{ from, to, more, step, slope int }
		const ofTwo = 2 // a slope
		var loops [2]bounds
		head := ""
		for d, name := range []string{"i", "j"} {
			l := &loops[d]
			l.from, l.step = r.IntN(30)-10, 1+max(0, r.IntN(5)-2)
			if d > 0 {
				l.slope = r.IntN(4) - 1
			}
			compares, sign := "<", "+"
			if l.to, l.more = l.from+r.IntN(14), l.from+r.IntN(20); r.IntN(3) == 0 {
				l.to, l.more, l.step = 2*l.from-l.to, 2*l.from-l.more, -l.step
				compares, sign = ">", "-"
			}
			first, end := fmt.Sprint(l.from), fmt.Sprint(l.to)
			switch {
			case l.slope == ofTwo:
				first = map[string]string{"<": fmt.Sprintf("(i > %d ? i : %[1]d)", l.from), ">": fmt.Sprintf("(i < %d ? i : %[1]d)", l.from)}[compares]
			case d > 0:
				first, end = fmt.Sprintf("%d + %d * i", l.from, l.slope), fmt.Sprintf("%d + %d * i", l.to, l.slope)
			}
			head += fmt.Sprintf("for (int %[1]s = %[2]s; %[1]s %[3]s %[4]s && %[1]s %[3]s %[5]d; %[1]s %[6]s= %[7]d) ", name, first, compares, end, l.more, sign, max(l.step, -l.step))
		}
		op, n := []string{"%", "/", "&", ">>", "%"}[r.IntN(5)], 1+r.IntN(7)
		switch op {
		case "&":
			n = []int{1, 3, 7}[r.IntN(3)]
		case ">>":
			n = r.IntN(4)
		case "%":
			n *= 1 - 2*(r.IntN(6)/5)
		}
		c := [3]int{r.IntN(5) - 1, r.IntN(5) - 2, r.IntN(9) - 3}
		var want []string
		one := func(i, j int) {
			x := quotientOf(c[0]*i+c[1]*j+c[2], op, n)
			want = append(want, fmt.Sprintf("wa%d", x+500))
			if x%2 == 0 {
				want = append(want, fmt.Sprintf("wb%d", 500+j))
			}
		}
		runs := func(l bounds, at, to int) bool {
			return l.step > 0 && at < to && at < l.more || l.step < 0 && at > to && at > l.more
		}
		outer, inner := loops[0], loops[1]
		for i := outer.from; runs(outer, i, outer.to); i += outer.step {
			from, to := inner.from+inner.slope*i, inner.to+inner.slope*i
			if inner.slope == ofTwo {
				if from, to = max(i, inner.from), inner.to; inner.step < 0 {
					from = min(i, inner.from)
				}
			}
			for j := from; runs(inner, j, to); j += inner.step {
				one(i, j)
			}
		}
		x := fmt.Sprintf("((%d * i + %d * j + %d) %s %d)", c[0], c[1], c[2], op, n)
		text := head + fmt.Sprintf("{ a[%s + 500] = 1; if (%[1]s %% 2 == 0) b[j + 500] = 1; }", x)
		f, err := csource.Read("t.c", []byte("char a[1000], b[1000];\nvoid f(void) { "+text+" }"), csource.Options{Function: "f"})
		if err != nil && (strings.Contains(err.Error(), "of a variable is not affine") || strings.Contains(err.Error(), "too many cases")) {
			continue
		}
		read++
		if err != nil || walked(f) != strings.Join(want, " ") {
			t.Errorf("%s: %v, want\n%s", text, err, strings.Join(want, " "))
			continue
		}
		if strings.Contains(f.Program.String(), "_q") {
			parted++
		}
	}
	if t.Logf("%d are read, %d of them in turns", read, parted); read < 380 || parted < 100 {
		t.Error("too few")
	}
}
