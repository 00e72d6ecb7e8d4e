package nest_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	. "github.com/stridebench/stridebench/layouts/nest"
)

func walked(p Program) []access {
	var list []access
	for op, addr := range p.Accesses() {
		list = append(list, access{op, addr})
	}
	return list
}

// An execution is an access, with the values of the variables around it.
type execution struct {
	access
	vars []int
}

// plainly walks nodes by the definition of a program, the first of whose accesses has a number.
func plainly(nodes []Node, number int, vars []int) (list []execution) {
	at := func(functions []Affine) (values []int) {
		for _, a := range functions {
			value := a.Const
			for d, c := range a.Coef {
				value += c * vars[d]
			}
			values = append(values, value)
		}
		return values
	}
	for _, node := range nodes {
		switch node := node.(type) {
		case Operand:
			addr := node.Base
			for d, s := range node.Strides {
				addr += uint64(s * vars[d])
			}
			list = append(list, execution{access{number, addr}, vars})
		case *Loop:
			inner := func(v int) {
				list = append(list, plainly(node.Body, number, append(slices.Clone(vars), v))...)
			}
			if node.Step > 0 {
				for v := slices.Max(at(node.From)); v < slices.Min(at(node.To)); v += node.Step {
					inner(v)
				}
			} else {
				for v := slices.Min(at(node.From)); v > slices.Max(at(node.To)); v += node.Step {
					inner(v)
				}
			}
		case *If:
			if slices.ContainsFunc(node.When, func(all []Affine) bool { return slices.Min(at(all)) >= 0 }) {
				list = append(list, plainly(node.Then, number, vars)...)
			} else {
				list = append(list, plainly(node.Else, number+len(Program(node.Then).Operands()), vars)...)
			}
		}
		number += len(Program{node}.Operands())
	}
	return list
}

// TestRuns: a program makes the accesses of its definition, counts them, and a run's variables are
// those of its first iteration.
func TestRuns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := someProgram(t)
		counts := make([]int, len(p.Operands()))
		var want []access
		executions := plainly(p, 0, nil)
		for _, e := range executions {
			want = append(want, e.access)
			counts[e.op]++
		}
		same(t, "W", walked(p), want)
		for run := range p.Runs() {
			first := execution{access{run.First, run.Addrs[0]}, run.Vars}
			if d := cmp.Diff(executions[0], first, cmp.AllowUnexported(execution{}, access{}),
				cmpopts.EquateEmpty()); d != "" {
				t.Fatalf("%+v in\n%v\n%s", run, p, d)
			}
			executions = executions[run.Trips*len(run.Addrs):]
		}
		if n, err := p.Count(); err != nil || n != len(want) {
			t.Fatalf("%d accesses (%v), a walk makes %d, in\n%v", n, err, len(want), p)
		}
		if got, err := p.Counts(); err != nil || !slices.Equal(got, counts) {
			t.Fatalf("%v (%v), a walk makes %v, in\n%v", got, err, counts, p)
		}
	})
}

// affine writes a function: a constant, then the coefficients.
func affine(constant int, coef ...int) Affine { return Affine{Const: constant, Coef: coef} }

func loop(from, to Affine, step int, body ...Node) *Loop {
	return &Loop{From: []Affine{from}, To: []Affine{to}, Step: step, Body: body}
}

// TestProgramOfNest: a nest is a program, and the program that nest.
func TestProgramOfNest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := someNest(t), someNest(t)
		same(t, "W of a sequence of one", walked(Sequence(a)), w(a))
		both := slices.Clone(w(a))
		for _, x := range w(b) {
			both = append(both, access{x.op + len(a.Operands), x.addr})
		}
		same(t, "W of a sequence of two", walked(Sequence(a, b)), both)
		n, ok := Sequence(a).Nest()
		if !ok {
			t.Fatal("the program of a nest is none")
		}
		same(t, "W of the nest again", w(n), w(a))
		if err := Sequence(a, b).Check(); err != nil {
			t.Fatal(err)
		}
	})
}

// TestNestOfProgram: a program of constant bounds, whatever its steps.
func TestNestOfProgram(t *testing.T) {
	p := Program{loop(affine(10), affine(0), -3,
		loop(affine(2), affine(9), 2, Operand{Width: 4, Base: 4096, Strides: []int{-64, 4}}))}
	n, ok := p.Nest()
	if !ok || !slices.Equal(w(n), walked(p)) {
		t.Errorf("%v (%v) walks %v, want %v", n, ok, w(n), walked(p))
	}
	for name, p := range map[string]Program{
		"a loop beside an access": {loop(affine(0), affine(3), 1, loop(affine(0), affine(3), 1),
			Operand{Width: 4})},
		"an if":     {loop(affine(0), affine(3), 1, &If{Then: []Node{Operand{Width: 4}}})},
		"two loops": {loop(affine(0), affine(3), 1), loop(affine(0), affine(3), 1)},
		"a triangle": {loop(affine(0), affine(3), 1,
			loop(affine(0), affine(0, 1), 1, Operand{Width: 4}))},
	} {
		if n, ok := p.Nest(); ok {
			t.Errorf("%s is said to be %v", name, n)
		}
	}
}

// someProgram draws loops with affine bounds, conditions and accesses.
func someProgram(t *rapid.T) Program {
	body := someBody(t, 0)
	if len(body) == 0 {
		body = []Node{Operand{Width: 1, Base: 5000}}
	}
	return body
}

func someBody(t *rapid.T, depth int) []Node {
	coefficient := rapid.SampledFrom([]int{0, 0, 1, 1, -1, 2})
	function := func(low, high int) Affine {
		a := affine(rapid.IntRange(low, high).Draw(t, "const"))
		for range depth {
			a.Coef = append(a.Coef, coefficient.Draw(t, "coef"))
		}
		return a
	}
	var nodes []Node
	for range rapid.IntRange(0, 2).Draw(t, "nodes") {
		kind := rapid.IntRange(0, 4).Draw(t, "kind")
		switch {
		case kind <= 2 && depth < 3:
			l := &Loop{Step: rapid.SampledFrom([]int{1, 1, 2, -1, -3}).Draw(t, "step")}
			low, high := []Affine{function(-3, 3)}, []Affine{function(0, 6), affine(8)}
			if kind == 2 {
				low = append(low, affine(-1))
			}
			if l.From, l.To = low, high; l.Step < 0 {
				l.From, l.To = high, low
			}
			l.Body = someBody(t, depth+1)
			nodes = append(nodes, l)
		case kind == 3 && depth > 0:
			nodes = append(nodes, &If{When: Condition{{function(-3, 3), function(-1, 5)}, {function(-6, 0)}},
				Then: someBody(t, depth), Else: someBody(t, depth)})
		default:
			op := Operand{Width: rapid.IntRange(1, 9).Draw(t, "width"),
				Base: uint64(rapid.IntRange(0, 60).Draw(t, "base"))}
			for range depth {
				op.Strides = append(op.Strides,
					rapid.SampledFrom([]int{0, 8, 40, -8, -8, -40}).Draw(t, "stride"))
			}
			nodes = append(nodes, op)
		}
	}
	return nodes
}

// TestProgramCheck: an address below 0 is refused if and only if an access goes
// there. (Of 2^63 on top the same code tells.)
func TestProgramCheck(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := someProgram(t)
		want := false
		for _, a := range walked(p) {
			want = want || int64(a.addr) < 0
		}
		err := p.Check()
		if (err != nil) != want {
			t.Fatalf("check says %v, an access below 0 is %v, of\n%v", err, want, p)
		}
	})
}

// TestProgramCheckIsQuick: bounds prove what a walk of 10^15 accesses would.
func TestProgramCheckIsQuick(t *testing.T) {
	const n = 100_000
	p := Program{loop(affine(0), affine(n), 1,
		loop(affine(1, 1), affine(n), 1, loop(affine(0), affine(0, -1, 1), 1,
			// a[j-i-1][k] is at least a[0][0].
			Operand{Tensor: "a", Width: 8, Base: 0, Strides: []int{-8 * n, 8 * n, 8}},
		))), loop(affine(0), affine(n), 1,
		&If{When: Condition{{affine(-4, 1)}}, Then: []Node{Operand{Width: 1, Strides: []int{1}}}})}
	if err := p.Check(); err != nil {
		t.Error(err)
	}
	// On either side of a[0], whichever bound of the inner loop it is that says so.
	const rows = 1 << 30
	for name, inner := range map[string]*Loop{
		"a[n-1-i-j], j rising to n-i": loop(affine(0), affine(rows, -1), 1,
			Operand{Width: 8, Base: 8 * (rows - 1), Strides: []int{-8, -8}}),
		"a[n-1-i-j], j falling from it": loop(affine(rows-1, -1), affine(-1), -1,
			Operand{Width: 8, Base: 8 * (rows - 1), Strides: []int{-8, -8}}),
		"a[j-i], j rising from i": loop(affine(0, 1), affine(rows), 1,
			Operand{Width: 8, Strides: []int{-8, 8}}),
		"a[j-i], j falling to i": loop(affine(rows-1), affine(-1, 1), -1,
			Operand{Width: 8, Strides: []int{-8, 8}}),
	} {
		if err := (Program{loop(affine(0), affine(rows), 1, inner)}).Check(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestAround: the loops around an access, whatever stands between.
func TestAround(t *testing.T) {
	inner := loop(affine(0), affine(3), 1, Operand{Width: 1, Strides: []int{0, 1}})
	outer := loop(affine(0), affine(2), 1,
		&If{When: Condition{{affine(0, 1)}}, Then: []Node{Operand{Width: 1, Strides: []int{1}}},
			Else: []Node{inner}})
	got := Program{Operand{Width: 1}, outer, Operand{Width: 1}}.Around()
	if len(got) != 4 || !slices.EqualFunc(got, [][]*Loop{nil, {outer}, {outer, inner}, nil},
		slices.Equal) {
		t.Errorf("%v", got)
	}
}

func TestProgramRefused(t *testing.T) {
	read := Operand{Tensor: "a", Width: 4, Base: 4096}
	for want, p := range map[string]Program{
		"loop : 0 first values, 1 ends, step 1 (want at least one of each, and a step)": {&Loop{To: []Affine{affine(3)}, Step: 1}},
		"loop : 1 first values, 1 ends, step 0 (want at least one of each, and a step)": {loop(affine(0),
			affine(3), 0, read)},
		"loop : a function of 1 variables inside of 0 loops": {loop(affine(0, 1), affine(3),
			1, read)},
		"condition: a function of 1 variables inside of 0 loops": {&If{When: Condition{{affine(
			0, 1)}}}},
		"access of a: width 0 is not positive": {Operand{Tensor: "a"}},
		"access of a: 1 strides inside of 0 loops": {Operand{Tensor: "a",
			Width: 1, Strides: []int{4}}},
		"access of a: base 0x8000000000000000 is beyond 2^63": {Operand{Tensor: "a",
			Width: 1, Base: 1 << 63}},
		"access of a at 0x1000 with strides [-4] leaves the address space": {loop(affine(0), affine(1026),
			1, Operand{Tensor: "a", Width: 4, Base: 4096, Strides: []int{-4}})},
		"loop : a function of the variables leaves the range of an int": {loop(affine(0), affine(4), 1,
			loop(affine(0, math.MaxInt), affine(0), 1, read))},
		"a <nil> is not a node of a program": {nil},
	} {
		if err := p.Check(); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	huge := Program{loop(affine(0), affine(1<<40), 1, loop(affine(0), affine(1<<40), 1, read))}
	if err := huge.Check(); err == nil ||
		!strings.Contains(err.Error(), "more than an int can count") {
		t.Errorf("2^80 accesses: %v", err)
	}
}

func ExampleProgram() {
	const n = 4000
	p := Program{
		&Loop{Name: "i", From: []Affine{Constant(0)}, To: []Affine{Constant(n)}, Step: 1, Body: []Node{
			&Loop{Name: "j", From: []Affine{{Const: 1, Coef: []int{1}}},
				To: []Affine{Constant(n), {Const: 10, Coef: []int{1}}}, Step: 2, Body: []Node{
					&If{When: Condition{{{Const: -5, Coef: []int{0, 1}}}}, Then: []Node{
						Operand{Tensor: "A", Kind: Read, Width: 4, Base: 1 << 32, Strides: []int{4 * n, 4}},
					}, Else: []Node{
						Operand{Tensor: "A", Kind: Write, Width: 4, Base: 1 << 32, Strides: []int{4, -4}},
					}},
				}},
		}},
		&Loop{Name: "k", From: []Affine{Constant(9), Constant(5)}, To: []Affine{Constant(0), Constant(2)},
			Step: -1},
	}
	fmt.Print(p)
	// Output:
	// for i = 0 .. 4000
	//   for j = 1 + i .. min(4000, 10 + i) step 2
	//     if -5 + j >= 0
	//       read A 4 B at 0x100000000 + 16000*i + 4*j
	//     else
	//       write A 4 B at 0x100000000 + 4*i + -4*j
	// for k = min(9, 5) .. max(0, 2) step -1
}

func ExampleNest() {
	// A 4x6 matrix of 4 B elements, by columns, then in 2x3 tiles.
	n := Nest{Trips: []int{4, 6},
		Operands: []Operand{{Tensor: "x", Kind: Read, Base: 4096, Width: 4, Strides: []int{24, 4}}}}
	fmt.Print(Sequence(n.Permute(1, 0)))
	tiled, _ := n.Split(1, 3)
	tiled, _ = tiled.Split(0, 2)
	fmt.Print(Sequence(tiled.Permute(0, 2, 1, 3)))
	// Output:
	// for i = 0 .. 6
	//   for j = 0 .. 4
	//     read x 4 B at 0x1000 + 4*i + 24*j
	// for i = 0 .. 2
	//   for j = 0 .. 2
	//     for k = 0 .. 2
	//       for l = 0 .. 3
	//         read x 4 B at 0x1000 + 48*i + 12*j + 24*k + 4*l
}
