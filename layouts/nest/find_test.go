package nest_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	. "github.com/stridebench/stridebench/layouts/nest"
)

// executions are the values of the variables at all executions of an access, by
// a walk in which each access stands for its variables: the strides of a copy of
// the program are digits.
func executions(p Program, access int) [][]int {
	const digit, zero = 1000, 500 // values are below 500 in size
	var list [][]int
	var depth int
	var marked func(nodes []Node, around int, number *int) []Node
	marked = func(nodes []Node, around int, number *int) []Node {
		var copied []Node
		for _, node := range nodes {
			switch node := node.(type) {
			case Operand:
				base, weight := uint64(0), 1
				var strides []int
				for range around {
					strides = append(strides, weight)
					base += uint64(weight * zero)
					weight *= digit
				}
				if *number == access {
					depth = around
				}
				*number++
				copied = append(copied, Operand{Width: 1, Base: base, Strides: strides})
			case *Loop:
				l := *node
				l.Body = marked(node.Body, around+1, number)
				copied = append(copied, &l)
			case *If:
				c := *node
				c.Then = marked(node.Then, around, number)
				c.Else = marked(node.Else, around, number)
				copied = append(copied, &c)
			}
		}
		return copied
	}
	for op, addr := range Program(marked(p, 0, new(int))).Accesses() {
		if op != access {
			continue
		}
		vars := make([]int, depth)
		for d := range vars {
			vars[d] = int(addr%digit) - zero
			addr /= digit
		}
		list = append(list, vars)
	}
	return list
}

// TestFind: an execution is found if and only if there is one.
func TestFind(t *testing.T) {
	found, not := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		p := append(someProgram(t), Operand{Width: 1, Base: 5000}) // an access at least
		access := rapid.IntRange(0, len(p.Operands())-1).Draw(t, "access")
		runs, depth := executions(p, access), 0
		if len(runs) > 0 {
			depth = len(runs[0])
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
		case ok && (!where.Holds(vars) || !slices.ContainsFunc(runs, func(v []int) bool { return slices.Equal(v, vars) })):
			t.Fatalf("found %v, of the executions %v, where %v, in\n%v", vars, runs, where, p)
		case ok:
			found++
		default:
			not++
		}
	})
	least := 8
	if testing.Short() { // which draws a fifth
		least = 1
	}
	if found < least || not < least {
		t.Errorf("%d found and %d not", found, not)
	}
}

// TestFindIsQuick: neither iterations nor guards make it slow.
func TestFindIsQuick(t *testing.T) {
	const n = 1_000_000
	loops := func(step int, body ...Node) Program {
		for d := range 4 {
			body = []Node{loop(affine(0), affine(n), []int{1, 1, step, 1}[d], body...)}
		}
		return body
	}
	read := Operand{Width: 1}
	// if (j + l - 1 >= 0 && j + l - 1 < n) A[j+l-1]
	index, outside := affine(-1, 0, 1, 0, 1), func(extent int) Condition {
		return Condition{{affine(0, 0, -1, 0, -1)}, {affine(-1-extent, 0, 1, 0, 1)}}
	}
	guarded := loops(1, &If{When: Condition{{index, affine(n, 0, -1, 0, -1)}}, Then: []Node{read}})
	if vars, found, err := guarded.Find(0, outside(n)); found || err != nil {
		t.Errorf("%v %v", vars, err)
	}
	if vars, found, err := guarded.Find(0, outside(n-1)); !found || err != nil || vars[1]+vars[3] != n {
		t.Errorf("%v %v %v, want j + l = %d", vars, found, err, n)
	}
	// j = 0, 3, ..., 999999 is the last value.
	if vars, found, err := loops(3, read).Find(0, Condition{{affine(-(n - 1), 0, 1)}}); !found || err != nil || vars[1] != n-1 {
		t.Errorf("%v %v %v, want j = %d", vars, found, err, n-1)
	}
	if vars, found, err := loops(17, read).Find(0, Condition{{affine(-(n - 1), 0, 1)}}); found || err != nil {
		t.Errorf("%v %v", vars, err)
	}
}

// TestFindInChain: of a chain of else ifs on one variable, and of conditions that it is none of several values, one
// choice each is followed.
func TestFindInChain(t *testing.T) {
	const n = 300
	body := []Node{Operand{Width: 1}}
	for k := n - 1; k >= 0; k-- {
		body = []Node{&If{When: Condition{{affine(-k, 1), affine(k, -1)}}, Else: body}}
	}
	p := Program{loop(affine(0), affine(n+3), 1, body...)}
	if vars, found, err := p.Find(0, Condition{{affine(-1, 0)}, {affine(n-1, -1)}}); found || err != nil {
		t.Errorf("%v %v: the last arm is of %d and more", vars, err, n)
	}
	if vars, found, err := p.Find(0, Condition{{affine(-n-2, 1)}}); !found || err != nil || vars[0] != n+2 {
		t.Errorf("%v %v %v, want %d", vars, found, err, n+2)
	}
	body = []Node{Operand{Width: 1}}
	for k := range 40 {
		body = []Node{&If{When: Condition{{affine(-3*k-1, 2)}, {affine(3*k-1, -2)}}, Then: body}} // 2i > 3k or 2i < 3k
	}
	p = Program{loop(affine(0), affine(60), 1, body...)}
	if vars, found, err := p.Find(0, Condition{{affine(0, 1), affine(59, -1)}}); !found || err != nil || vars[0]%3 == 0 {
		t.Errorf("%v %v %v, want a value that is not a multiple of 3", vars, found, err)
	}
}

func TestFindRefuses(t *testing.T) {
	read := Operand{Width: 1}
	p := Program{loop(affine(0), affine(3), 1, read)}
	if _, _, err := p.Find(1, nil); err == nil || err.Error() != "access 1 of 1" {
		t.Errorf("%v", err)
	}
	p = Program{loop(affine(0), affine(3), 2, read)}
	if _, _, err := p.Find(0, Condition{{affine(0, math.MaxInt)}}); err == nil || !strings.Contains(err.Error(), "range of an int") {
		t.Errorf("%v", err)
	}
	// The first 178 million values of i leave room for fractions of j and none for integers.
	const n = 1 << 30
	odd := Program{loop(affine(0), affine(n), 1, loop(affine(0), affine(n), 1, read))}
	if _, _, err := odd.Find(0, Condition{{affine(-1, -3, 6+n), affine(2, 3, -6-n), affine(-n/2, 1)}}); err == nil || !strings.Contains(err.Error(), "given up") {
		t.Errorf("%v", err)
	}
}

// TestCount: as many accesses as a walk makes.
func TestCount(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := someProgram(t)
		if n, err := p.Count(); err != nil || n != len(walked(p)) {
			t.Fatalf("%d accesses (%v), a walk makes %d, in\n%v", n, err, len(walked(p)), p)
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		p := Program{loop(affine(0), affine(rapid.IntRange(1, 12).Draw(t, "trips")), rapid.SampledFrom([]int{1, 2}).Draw(t, "step"), someTriangles(t, 1)...)}
		if n, err := p.Count(); err != nil || n != len(walked(p)) {
			t.Fatalf("%d accesses (%v), a walk makes %d, in\n%v", n, err, len(walked(p)), p)
		}
	})
	const n = 3000000
	triangle := Program{loop(affine(0), affine(n), 1, loop(affine(0), affine(0, 1), 1, loop(affine(0), affine(0, 0, 1), 1, Operand{Width: 1})))}
	if got, err := triangle.Count(); err != nil || got != n*(n-1)*(n-2)/6 {
		t.Errorf("%d (%v), want %d", got, err, n*(n-1)*(n-2)/6)
	}
	const rising = 1 << 30
	falling := Program{loop(affine(0), affine(rising), 1, loop(affine(0, 1), affine(-1), -1, Operand{Width: 1}))}
	if got, err := falling.Count(); err != nil || got != rising*(rising+1)/2 {
		t.Errorf("%d (%v), want %d", got, err, rising*(rising+1)/2)
	}
	sometimes := Program{loop(affine(0), affine(1<<40), 3, &If{When: Condition{{affine(-12345, 1), affine(1<<39, -1)}, {affine(9, -1)}},
		Then: []Node{Operand{Width: 1}}, Else: []Node{Operand{Width: 1}, Operand{Width: 1}}})}
	trips, then := (1<<40+2)/3, (1<<39)/3-12345/3+1+4 // from 12345 to 2^39, and 0, 3, 6, 9
	if got, err := sometimes.Count(); err != nil || got != 2*trips-then {
		t.Errorf("%d (%v), want %d", got, err, 2*trips-then)
	}
	// What two loops within another do depends on different variables, and never comes again to both at once.
	const rows = 100000
	near := func(at ...int) Node {
		return &Loop{From: []Affine{affine(0), affine(-1, at...)}, To: []Affine{affine(rows), affine(2, at...)}, Step: 1, Body: []Node{Operand{Width: 1}}}
	}
	apart := Program{loop(affine(0), affine(rows), 1, loop(affine(0), affine(rows), 1, near(1), near(0, 1)))}
	if got, err := apart.Count(); err != nil || got != 2*rows*(3*rows-2) {
		t.Errorf("%d (%v), want %d", got, err, 2*rows*(3*rows-2))
	}
	huge := Program{loop(affine(0), affine(1<<40), 1, loop(affine(0), affine(1<<40), 1, Operand{Width: 1}))}
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
		to.Coef[rapid.IntRange(0, depth-1).Draw(t, "side")] += rapid.SampledFrom([]int{0, 1, 1, 2, -1}).Draw(t, "slope")
		step := rapid.SampledFrom([]int{1, 1, 1, -1, 2, -3}).Draw(t, "step")
		if step < 0 {
			from, to = to, from
		}
		nodes = append(nodes, loop(from, to, step, someTriangles(t, depth+1)...))
	}
	return nodes
}

// TestCounts: each access as often as in a walk.
func TestCounts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := someProgram(t)
		want := make([]int, len(p.Operands()))
		for _, a := range walked(p) {
			want[a.op]++
		}
		if got, err := p.Counts(); err != nil || !slices.Equal(got, want) {
			t.Fatalf("%v (%v), a walk makes %v, in\n%v", got, err, want, p)
		}
	})
}
