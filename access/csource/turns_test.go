package csource_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stridebench/stridebench/access/csource"
)

// A turned program is one of pointers p0 to p2 into the arrays a0 to a2, integers k0 and k1 and loops, and what it does.
type turned struct {
	*rand.Rand
	left, loops int
}

// A turnedState is what the variables of such a program are.
type turnedState struct {
	array, at [3]int
	k         [2]int
	i         []int
	out       []string
}

func (s *turnedState) touch(kind string, p, index int) {
	s.out = append(s.out, fmt.Sprintf("%sa%d%d", kind, s.array[p], 8*(s.at[p]+index)))
}

// chooses is a condition on the loops' variables, or on k0 and k1.
func (g *turned) chooses() (string, func(s *turnedState) bool) {
	d, n := g.IntN(g.loops+1), g.IntN(4)
	if d == g.loops {
		return fmt.Sprintf("k1 > %d", n), func(s *turnedState) bool { return s.k[1] > n }
	}
	switch g.IntN(3) {
	case 0:
		return fmt.Sprintf("i%d %% 2", d), func(s *turnedState) bool { return s.i[d]%2 != 0 }
	case 1:
		return fmt.Sprintf("i%d %% 3 == %d", d, n), func(s *turnedState) bool { return s.i[d]%3 == n }
	}
	return fmt.Sprintf("i%d > %d", d, n), func(s *turnedState) bool { return s.i[d] > n }
}

// statement is one of C, and what it does.
func (g *turned) statement() (string, func(s *turnedState)) {
	p, q, n, deep := g.IntN(3), g.IntN(3), g.IntN(3), g.loops
	switch g.IntN(12) {
	case 0, 1: // a swap
		return fmt.Sprintf("{ double *t = p%d; p%[1]d = p%d; p%[2]d = t; }", p, q), func(s *turnedState) {
			s.array[p], s.array[q] = s.array[q], s.array[p]
			s.at[p], s.at[q] = s.at[q], s.at[p]
		}
	case 2:
		return fmt.Sprintf("p%d++;", p), func(s *turnedState) { s.at[p]++ }
	case 3:
		switch g.IntN(3) {
		case 0:
			return "k0 = 1 - k0;", func(s *turnedState) { s.k[0] = 1 - s.k[0] }
		case 1:
			return "k0 ^= 1;", func(s *turnedState) { s.k[0] ^= 1 }
		}
		return "k1 = (k1 + 1) % 3;", func(s *turnedState) { s.k[1] = (s.k[1] + 1) % 3 }
	case 4:
		c, holds := g.chooses()
		return fmt.Sprintf("p%d = %s ? a%d + %d : p%d;", p, c, n, deep, q), func(s *turnedState) {
			if holds(s) {
				s.array[p], s.at[p] = n, deep
			} else {
				s.array[p], s.at[p] = s.array[q], s.at[q]
			}
		}
	case 5:
		c, holds := g.chooses()
		return fmt.Sprintf("if (%s) p%d = p%d;", c, p, q), func(s *turnedState) {
			if holds(s) {
				s.array[p], s.at[p] = s.array[q], s.at[q]
			}
		}
	case 6:
		c, holds := g.chooses()
		return fmt.Sprintf("(%s ? p%d : p%d)[%d] = 1;", c, p, q, n), func(s *turnedState) {
			if holds(s) {
				s.touch("w", p, n)
			} else {
				s.touch("w", q, n)
			}
		}
	}
	return fmt.Sprintf("p%d[k0 + %d] = p%d[k1];", p, n, q), func(s *turnedState) {
		s.touch("r", q, s.k[1])
		s.touch("w", p, s.k[0]+n)
	}
}

// block is statements and loops in braces.
func (g *turned) block() (string, func(s *turnedState)) {
	text, all := "{\n", []func(s *turnedState){}
	for range 1 + g.IntN(4) {
		if g.left--; g.left < 0 {
			break
		}
		var one string
		var do func(s *turnedState)
		switch n, d := 1+g.IntN(7), g.loops; {
		case d < 3 && g.IntN(3) == 0:
			heads := []string{
				fmt.Sprintf("for (int i%d = 0; i%[1]d < %d; i%[1]d++) ", d, n), fmt.Sprintf("{ int i%d = -1; while (++i%[1]d < %d) ", d, n), fmt.Sprintf("{ int n%d = %d, i%[1]d = -1; while (n%[1]d--) { i%[1]d++; ", d, n),
				fmt.Sprintf("{ int i%d = 0; do { ", d),
			}
			tails := []string{"", " }", " } }", fmt.Sprintf(" } while (++i%d < %d); }", d, n)}
			form := g.IntN(len(heads))
			g.loops++
			body, does := g.block()
			g.loops--
			one, do = heads[form]+body+tails[form], func(s *turnedState) {
				for i := range n {
					s.i = append(s.i[:d], i)
					does(s)
				}
				s.i = s.i[:d]
			}
		default:
			one, do = g.statement()
		}
		text, all = text+one+"\n", append(all, do)
	}
	return text + "}", func(s *turnedState) {
		for _, do := range all {
			do(s)
		}
	}
}

// TestRandomTurns: random programs in which pointers are swapped, moved and chosen, and integers come again, in loops of all kinds, do
// what they do by the rules of C, or are refused for what is not known.
func TestRandomTurns(t *testing.T) {
	t.Parallel()
	files := 600
	if testing.Short() {
		files = 150
	}
	read, accesses, why := 0, 0, map[string]int{}
	for seed := range files {
		g := &turned{Rand: rand.New(rand.NewPCG(uint64(seed), 19)), left: 6 + seed%8}
		g.loops = 1
		body, does := g.block()
		times := 1 + g.IntN(9)
		text := fmt.Sprintf("double a0[400], a1[400], a2[400];\nvoid f(void) { double *p0 = a0, *p1 = a1 + 1, *p2 = a2; int k0 = 0, k1 = 1;\nfor (int i0 = 0; i0 < %d; i0++) %s\np0[k0] = p1[k1]; p2[0] = 1; }\n", times, body)
		f, err := csource.Read("t.c", []byte(text), csource.Options{Function: "f"})
		if err != nil {
			refusedFor(t, err, text, why, "is not known", "a pointer to one of several", "too many", "not affine")
			continue
		}
		s := &turnedState{array: [3]int{0, 1, 2}, at: [3]int{0, 1, 0}, k: [2]int{0, 1}, i: []int{0}}
		for i := range times {
			s.i = append(s.i[:0], i)
			does(s)
		}
		s.touch("r", 1, s.k[1])
		s.touch("w", 0, s.k[0])
		s.touch("w", 2, 0)
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

// refusedFor counts why a file is refused, which has to be for one of these words.
func refusedFor(t *testing.T, err error, text string, why map[string]int, words ...string) {
	t.Helper()
	i := slices.IndexFunc(words, func(of string) bool { return strings.Contains(err.Error(), of) })
	if i < 0 {
		t.Errorf("%v, of\n%s", err, text)
		return
	}
	why[words[i]]++
}
