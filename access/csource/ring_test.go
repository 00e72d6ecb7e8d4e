package csource_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stridebench/stridebench/access/csource"
)

// A ringed program is one of integers r0 to r2 that go round in rings of random sizes, in loops, and what it does.
type ringed struct {
	*rand.Rand
	left, loops int
	size        [3]int
}

// A ringedState is what the variables of such a program are.
type ringedState struct {
	r   [3]int
	i   []int
	out []string
}

// step moves a number in its ring by one of the ways in which C has that.
func (g *ringed) step() (string, func(s *ringedState)) {
	v := g.IntN(3)
	n, by := g.size[v], 1+g.IntN(3)*g.IntN(2)
	by = min(by, n-1)
	up := func(by int) func(s *ringedState) { return func(s *ringedState) { s.r[v] = (s.r[v] + by + n) % n } }
	forms := []string{
		"r%[1]d = r%[1]d == %[3]d ? 0 : r%[1]d + 1;", "r%[1]d = r%[1]d + 1 < %[2]d ? r%[1]d + 1 : 0;", "if (++r%[1]d == %[2]d) r%[1]d = 0;", "r%[1]d++; if (r%[1]d >= %[2]d) r%[1]d = 0;",
		"if (r%[1]d == %[3]d) r%[1]d = 0; else r%[1]d++;", "r%[1]d = (r%[1]d + 1) %% %[2]d;", "r%[1]d = r%[1]d != %[3]d ? r%[1]d + 1 : 0;",
		"r%[1]d += %[4]d; if (r%[1]d >= %[2]d) r%[1]d -= %[2]d;", "r%[1]d = (r%[1]d + %[4]d) %% %[2]d;", "r%[1]d = r%[1]d < %[2]d - %[4]d ? r%[1]d + %[4]d : r%[1]d + %[4]d - %[2]d;",
		"r%[1]d = r%[1]d == 0 ? %[3]d : r%[1]d - 1;", "if (--r%[1]d < 0) r%[1]d = %[3]d;", "if (r%[1]d == 0) r%[1]d = %[2]d; r%[1]d--;", "if (r%[1]d-- == 0) r%[1]d += %[2]d;", "r%[1]d = (r%[1]d + %[3]d) %% %[2]d;",
	}
	form := g.IntN(len(forms))
	text := fmt.Sprintf(strings.ReplaceAll(forms[form], "r%[1]d", fmt.Sprintf("r%d", v)), v, n, n-1, by)
	switch text, _, _ = strings.Cut(text, "%!(EXTRA"); {
	case form < 7:
		return text, up(1)
	case form < 10:
		return text, up(by)
	}
	return text, up(-1)
}

func (g *ringed) block() (string, func(s *ringedState)) {
	text, all := "{\n", []func(s *ringedState){}
	for range 1 + g.IntN(4) {
		if g.left--; g.left < 0 {
			break
		}
		var one string
		var do func(s *ringedState)
		switch d := g.loops; {
		case d < 3 && g.IntN(3) == 0:
			n, form, step := 1+g.IntN(14), g.IntN(5), 1+g.IntN(2)
			heads := []string{
				fmt.Sprintf("for (int i%d = 0; i%[1]d < %d; i%[1]d++) ", d, n), fmt.Sprintf("for (int i%d = 0; i%[1]d < %[2]d; i%[1]d += %[3]d) ", d, n, step), fmt.Sprintf("for (int i%d = %d; i%[1]d >= 0; i%[1]d--) ", d, n-1),
				fmt.Sprintf("for (int i%d = 0; i%[1]d <= i%d; i%[1]d++) ", d, d-1), fmt.Sprintf("{ int i%d = -1; while (++i%[1]d < %d) ", d, n),
			}
			g.loops++
			body, does := g.block()
			g.loops--
			one, do = heads[form]+body+[]string{"", "", "", "", " }"}[form], func(s *ringedState) {
				run := func(i int) { s.i = append(s.i[:d], i); does(s) }
				switch form {
				case 1:
					for i := 0; i < n; i += step {
						run(i)
					}
				case 2:
					for i := n - 1; i >= 0; i-- {
						run(i)
					}
				case 3:
					for i := range s.i[d-1] + 1 {
						run(i)
					}
				default:
					for i := range n {
						run(i)
					}
				}
				s.i = s.i[:d]
			}
		case g.IntN(5) < 2:
			one, do = g.step()
		default:
			v, w, d := g.IntN(3), g.IntN(3), g.IntN(g.loops)
			one, do = fmt.Sprintf("a%d[r%[1]d] = b[r%d + i%d];", v, w, d), func(s *ringedState) {
				s.out = append(s.out, fmt.Sprintf("rb%d", 8*(s.r[w]+s.i[d])), fmt.Sprintf("wa%d%d", v, 8*s.r[v]))
			}
		}
		text, all = text+one+"\n", append(all, do)
	}
	return text + "}", func(s *ringedState) {
		for _, do := range all {
			do(s)
		}
	}
}

// TestRandomRings: random programs whose variables go round in rings, in loops within each other, do what they do by the rules of C, or are
// refused for what is not known.
func TestRandomRings(t *testing.T) {
	t.Parallel()
	files := 150
	if testing.Short() {
		files = 40
	}
	read, accesses, why := 0, 0, map[string]int{}
	for seed := range files {
		g := &ringed{Rand: rand.New(rand.NewPCG(uint64(seed), 23)), left: 5 + seed%5}
		s := &ringedState{i: []int{0}}
		text := "double b[400]"
		for v := range 3 {
			g.size[v] = 2 + g.IntN(4+seed%60)
			s.r[v] = g.IntN(g.size[v])
			text += fmt.Sprintf(", a%d[%d]", v, g.size[v])
		}
		g.loops = 1
		body, does := g.block()
		times := 1 + g.IntN(70)
		text += fmt.Sprintf(";\nvoid f(void) { int r0 = %d, r1 = %d, r2 = %d;\nfor (int i0 = 0; i0 < %d; i0++) %s\na0[r0] = a1[r1] + a2[r2]; }\n", s.r[0], s.r[1], s.r[2], times, body)
		if seed%3 == 0 && !strings.Contains(text, "--r") {
			text = strings.Replace(text, "int r0", "unsigned r0", 1)
		}
		f, err := csource.Read("t.c", []byte(text), csource.Options{Function: "f"})
		if err != nil {
			refusedFor(t, err, text, why, "is not known", "too many", "not affine")
			continue
		}
		for i := range times {
			s.i = append(s.i[:0], i)
			does(s)
		}
		s.out = append(s.out, fmt.Sprintf("ra1%d", 8*s.r[1]), fmt.Sprintf("ra2%d", 8*s.r[2]), fmt.Sprintf("wa0%d", 8*s.r[0]))
		read++
		accesses += len(s.out)
		if got, want := walked(f), strings.Join(s.out, " "); got != want {
			t.Fatalf("%d: it does\n%.600s\nwant\n%.600s\nof\n%s", seed, got, want, text)
		}
	}
	if t.Logf("%d of %d are read, of %d accesses; refused: %v", read, files, accesses, why); read < files/2 {
		t.Errorf("%d of %d are read: %v", read, files, why)
	}
}
