package nest_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	. "github.com/stridebench/stridebench/layouts/nest"
)

// TestFind: an execution is found if and only if there is one.
func TestFind(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := append(someProgram(t), Operand{Width: 1, Base: 5000}) // an access at least
		access := rapid.IntRange(0, len(p.Operands())-1).Draw(t, "access")
		var runs [][]int
		depth := 0
		for _, e := range plainly(p, 0, nil) {
			if e.op == access {
				runs, depth = append(runs, e.vars), len(e.vars)
			}
		}
		var where Condition
		for range rapid.IntRange(1, 2).Draw(t, "lists") {
			var all []Affine
			for range rapid.IntRange(1, 2).Draw(t, "members") {
				a := affine(rapid.IntRange(-9, 3).Draw(t, "const"))
				for range depth {
					a.Coef = append(a.Coef, rapid.IntRange(-2, 2).Draw(t, "coef"))
				}
				all = append(all, a)
			}
			where = append(where, all)
		}
		want := slices.ContainsFunc(runs, where.Holds)
		vars, ok, err := p.Find(access, where)
		switch {
		case err != nil || ok != want:
			t.Fatalf("%v is found: %v (%v), want %v, in\n%v", where, ok, err, want, p)
		case ok && (!where.Holds(vars) ||
			!slices.ContainsFunc(runs, func(v []int) bool { return slices.Equal(v, vars) })):
			t.Fatalf("found %v, of the executions %v, where %v, in\n%v", vars, runs, where, p)
		}
	})
}

// TestFindIsQuick: neither iterations nor guards make it slow. Of a chain of else ifs on one
// variable, and of conditions that it is none of several values, one choice each is followed.
func TestFindIsQuick(t *testing.T) {
	const n, arms = 1_000_000, 300
	read := Operand{Width: 1}
	loops := func(step int, body ...Node) Program {
		for d := range 4 {
			body = []Node{loop(affine(0), affine(n), []int{1, 1, step, 1}[d], body...)}
		}
		return body
	}
	// if (j + l - 1 >= 0 && j + l - 1 < n) A[j+l-1]
	index, outside := affine(-1, 0, 1, 0, 1), func(extent int) Condition {
		return Condition{{affine(0, 0, -1, 0, -1)}, {affine(-1-extent, 0, 1, 0, 1)}}
	}
	guarded := loops(1, &If{When: Condition{{index, affine(n, 0, -1, 0, -1)}}, Then: []Node{read}})
	last := Condition{{affine(-(n - 1), 0, 1)}} // j = n - 1, which 3 divides
	chain, multiples := []Node{read}, []Node{read}
	for k := arms - 1; k >= 0; k-- {
		chain = []Node{&If{When: Condition{{affine(-k, 1), affine(k, -1)}}, Else: chain}}
	}
	for k := range 40 { // 2i > 3k or 2i < 3k
		multiples = []Node{&If{When: Condition{{affine(-3*k-1, 2)}, {affine(3*k-1, -2)}},
			Then: multiples}}
	}
	for i, c := range []struct {
		p     Program
		where Condition
		found bool
	}{
		{guarded, outside(n), false},
		{guarded, outside(n - 1), true},
		{loops(3, read), last, true},
		{loops(17, read), last, false},
		{Program{loop(affine(0), affine(arms+3), 1, chain...)},
			Condition{{affine(-1, 0)}, {affine(arms-1, -1)}}, false},
		{Program{loop(affine(0), affine(arms+3), 1, chain...)},
			Condition{{affine(-arms-2, 1)}}, true},
		{Program{loop(affine(0), affine(60), 1, multiples...)},
			Condition{{affine(0, 1), affine(59, -1)}},
			true},
	} {
		vars, found, err := c.p.Find(0, c.where)
		if err != nil || found != c.found || found && !c.where.Holds(vars) {
			t.Errorf("program %d: found %v at %v, %v, want %v", i, found, vars, err, c.found)
		}
	}
}

func TestFindRefuses(t *testing.T) {
	const n = 1 << 30
	square := Program{loop(affine(0), affine(n), 1,
		loop(affine(0), affine(n), 2, Operand{Width: 1}))}
	for want, where := range map[string]Condition{
		"access 1 of 1":   nil,
		"range of an int": {{affine(0, 0, math.MaxInt)}},
		// The first 178 million values of i leave room for fractions of j and none for integers.
		"given up": {{affine(-1, -3, 3+n/2), affine(2, 3, -3-n/2), affine(-n/2, 1)}},
	} {
		access := 0
		if where == nil {
			access = 1
		}
		if _, _, err := square.Find(access, where); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestCountOfTriangles: as many accesses as a walk makes, of loops from one function to another.
func TestCountOfTriangles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		trips, step := rapid.IntRange(1, 12).Draw(t, "trips"),
			rapid.SampledFrom([]int{1, 2}).Draw(t, "step")
		p := Program{loop(affine(0), affine(trips), step, someTriangles(t, 1)...)}
		if n, err := p.Count(); err != nil || n != len(walked(p)) {
			t.Fatalf("%d accesses (%v), a walk makes %d, in\n%v", n, err, len(walked(p)), p)
		}
	})
}

// TestCountIsQuick: what no walk would count in a lifetime.
func TestCountIsQuick(t *testing.T) {
	const n, rising, rows = 3000000, 1 << 30, 100000
	read := Operand{Width: 1}
	// What two loops within another do depends on different variables, and never comes again to
	// both at once.
	near := func(at ...int) Node {
		return &Loop{From: []Affine{affine(0), affine(-1, at...)},
			To: []Affine{affine(rows), affine(2, at...)}, Step: 1, Body: []Node{read}}
	}
	for want, p := range map[int]Node{
		n * (n - 1) * (n - 2) / 6: loop(affine(0), affine(n), 1,
			loop(affine(0), affine(0, 1), 1, loop(affine(0), affine(0, 0, 1), 1, read))),
		rising * (rising + 1) / 2: loop(affine(0), affine(rising), 1,
			loop(affine(0, 1), affine(-1), -1, read)),
		// Once from 12345 to 2^39, and of 0, 3, 6, 9, else twice.
		2*((1<<40+2)/3) - ((1<<39)/3 - 12345/3 + 1 + 4): loop(affine(0), affine(1<<40), 3,
			&If{When: Condition{{affine(-12345, 1), affine(1<<39, -1)}, {affine(9, -1)}},
				Then: []Node{read},
				Else: []Node{read, read}}),
		2 * rows * (3*rows - 2): loop(affine(0), affine(rows), 1,
			loop(affine(0), affine(rows), 1, near(1), near(0, 1))),
	} {
		if got, err := (Program{p}).Count(); err != nil || got != want {
			t.Errorf("%d (%v), want %d", got, err, want)
		}
	}
	huge := Program{loop(affine(0), affine(1<<40), 1, loop(affine(0), affine(1<<40), 1, read))}
	if _, err := huge.Count(); err == nil {
		t.Error("2^80 accesses were counted")
	}
}

// someTriangles draws loops each from one function of the variables to another, which
// hardly ever is below it.
func someTriangles(t *rapid.T, depth int) []Node {
	var nodes []Node
	for range rapid.IntRange(1, 2).Draw(t, "nodes") {
		if depth > 3 || rapid.IntRange(0, 2).Draw(t, "kind") == 0 {
			nodes = append(nodes, Operand{Width: 1, Base: 5000})
			continue
		}
		from := affine(rapid.IntRange(-2, 2).Draw(t, "from"))
		for range depth {
			from.Coef = append(from.Coef, rapid.SampledFrom([]int{0, 0, 0, 1, -1}).Draw(t, "coef"))
		}
		to := affine(from.Const+rapid.IntRange(0, 6).Draw(t, "span"), slices.Clone(from.Coef)...)
		to.Coef[rapid.IntRange(0, depth-1).Draw(t, "side")] += rapid.SampledFrom([]int{0, 1, 1, 2,
			-1}).Draw(t, "slope")
		step := rapid.SampledFrom([]int{1, 1, 1, -1, 2, -3}).Draw(t, "step")
		if step < 0 {
			from, to = to, from
		}
		nodes = append(nodes, loop(from, to, step, someTriangles(t, depth+1)...))
	}
	return nodes
}
