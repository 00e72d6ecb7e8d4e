package nest

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// Find looks for an execution of an access, by its number, at which a condition holds. It returns
// the values of the variables there, the outermost first. This call asks whether an index leaves
// the range from 0 to its extent:
//
//	vars, leaves, err := p.Find(access, Condition{{index < 0}, {index >= extent}})
//
// with index < 0 written as -index - 1, and index >= extent as index - extent.
//
// Law: found if and only if the condition holds at some execution of the access.
//
// Find eliminates one variable after the other from the inequalities of bounds and conditions
// (Fourier and Motzkin). A contradiction rules an execution out; else the remaining inequalities
// bound the search. Find skips a choice that leaves no values or that earlier choices decide. So a
// chain of n conditions on one variable takes n choices and not 2^n. More iterations take no
// longer, unless the inequalities have solutions in fractions and none in integers. The error
// reports a search that was given up, or numbers beyond an int.
func (p Program) Find(access int, where Condition) (vars []int, found bool, err error) {
	path := p.path(access, nil)
	if path == nil {
		return nil, false, fmt.Errorf("access %d of %d", access, count(p))
	}
	if loops := slices.DeleteFunc(slices.Clone(path), func(t turn) bool {
		return t.loop == nil
	}); len(loops) < len(path) {
		// no execution without the conditions means none with them
		f := finder{path: loops, where: where, budget: 1 << 20}
		if _, found = f.from(0, nil, nil); !found && f.err == nil {
			return nil, false, nil
		}
	}
	f := finder{path: path, where: where, budget: 1 << 20}
	vars, found = f.from(0, nil, nil)
	return vars, found && f.err == nil, f.err
}

// A turn is a step from the root to an access.
type turn struct {
	loop *Loop
	arm  *If
	then bool
}

func (p Program) path(access int, way []turn) []turn {
	inside := func(body []Node, t turn) []turn {
		n := count(body)
		if access < n {
			return Program(body).path(access, append(slices.Clone(way), t))
		}
		access -= n
		return nil
	}
	for _, node := range p {
		var found []turn
		switch node := node.(type) {
		case Operand:
			if access--; access < 0 {
				return append([]turn{}, way...)
			}
		case *Loop:
			found = inside(node.Body, turn{loop: node})
		case *If:
			if found = inside(node.Then, turn{arm: node, then: true}); found == nil {
				found = inside(node.Else, turn{arm: node})
			}
		}
		if found != nil {
			return found
		}
	}
	return nil
}

var errFind = errors.New("given up looking for values of the variables")

// A finder looks for unknowns: the variable of a loop of step 1 or -1, the number of the iteration
// of another loop.
type finder struct {
	path   []turn
	where  Condition
	budget int // values and systems to look at
	err    error
}

// from follows the path from a place on. known has functions of the unknowns that are at least 0.
// values has the variables as functions of the unknowns. from tries each list of a condition, and
// each of several first values.
func (f *finder) from(place int, known, values []Affine) (vars []int, found bool) {
	if contradict(known) {
		return nil, false
	}
	if place == len(f.path) {
		for _, all := range f.where {
			if vars, found = f.solve(append(slices.Clone(known), f.in(values, all)...),
				values); found || f.err != nil {
				return vars, found
			}
		}
		return nil, false
	}
	switch t := f.path[place]; {
	case t.loop != nil:
		return f.loop(place, t.loop, known, values)
	case t.then:
		for _, all := range t.arm.When {
			rows := narrowed(known, f.in(values, all)...)
			if len(t.arm.When) > 1 && !f.feasible(rows) {
				continue
			}
			if vars, found = f.from(place+1, rows, values); found || f.err != nil {
				return vars, found
			}
		}
		return nil, false
	default:
		return f.otherwise(place, t.arm.When, known, values)
	}
}

// otherwise takes the arm in which each list has a member below 0.
func (f *finder) otherwise(place int, lists Condition, known, values []Affine) (vars []int,
	found bool) {
	if f.spent() || contradict(known) {
		return nil, false
	}
	if len(lists) == 0 {
		return f.from(place+1, known, values)
	}
	members := f.in(values, lists[0])
	if len(members) == 1 {
		return f.otherwise(place, lists[1:], narrowed(known, f.plus(Constant(-1), -1, members[0])),
			values)
	}
	for _, a := range members {
		if !f.feasible(narrowed(known, a)) { // it is always below 0
			return f.otherwise(place, lists[1:], known, values)
		}
	}
	for _, a := range members {
		rows := narrowed(known, f.plus(Constant(-1), -1, a))
		if !f.feasible(rows) {
			continue
		}
		if vars, found = f.otherwise(place, lists[1:], rows, values); found || f.err != nil {
			return vars, found
		}
		known = narrowed(known, a) // below 0 it has no solution
	}
	return nil, false
}

// perSystem is the cost of a system, in values.
const perSystem = 1 << 6

// feasible reports false if eliminating all unknowns shows that some row is below 0.
func (f *finder) feasible(rows []Affine) bool {
	if f.budget -= perSystem; f.spent() {
		return true // given up
	}
	alone := finder{}
	rows = distinct(rows)
	unknowns := 0
	for _, a := range rows {
		unknowns = max(unknowns, len(a.Coef))
	}
	for d := unknowns - 1; d >= 0 && alone.err == nil; d-- {
		rows = alone.without(rows, d)
	}
	return alone.err != nil || !contradict(rows)
}

func (f *finder) loop(place int, l *Loop, known, values []Affine) (vars []int, found bool) {
	unknown := Variable(len(values))
	from, to := f.in(values, l.From), f.in(values, l.To)
	sign := 1
	if l.Step < 0 {
		sign = -1
	}
	inside := func(value Affine, more ...Affine) ([]int, bool) {
		for _, a := range to { // sign*(a - value) - 1 >= 0
			more = append(more, f.plus(f.plus(Constant(-1), sign, a), -sign, value))
		}
		return f.from(place+1, narrowed(known, more...), append(slices.Clone(values), value))
	}
	if l.Step == sign {
		var rows []Affine
		for _, a := range from {
			rows = append(rows, f.plus(f.plus(Constant(0), sign, unknown), -sign, a))
		}
		return inside(unknown, rows...)
	}
	for i, first := range from {
		rows := []Affine{unknown}
		for k, other := range from {
			if k != i {
				rows = append(rows, f.plus(f.plus(Constant(0), sign, first), -sign, other))
			}
		}
		if vars, found = inside(f.plus(first, l.Step, unknown), rows...); found || f.err != nil {
			return vars, found
		}
	}
	return nil, false
}

// narrowed adds functions that must be at least 0.
func narrowed(known []Affine, more ...Affine) []Affine {
	return distinct(slices.Concat(known, more))
}

// contradict reports a function without unknowns that is below 0.
func contradict(rows []Affine) bool {
	return slices.ContainsFunc(rows, func(a Affine) bool { return len(a.Coef) == 0 && a.Const < 0 })
}

// in rewrites functions of the variables in the unknowns.
func (f *finder) in(values, list []Affine) []Affine {
	rows := make([]Affine, len(list))
	for i, a := range list {
		rows[i] = Constant(a.Const)
		for d, c := range a.Coef {
			if c != 0 {
				rows[i] = f.plus(rows[i], c, values[d])
			}
		}
	}
	return rows
}

func (f *finder) plus(a Affine, factor int, b Affine) Affine {
	sum, fits := plus(a, factor, b)
	f.fits(fits)
	return sum
}

func (f *finder) fits(fits bool) {
	if !fits {
		f.err = errors.New("numbers beyond the range of an int")
	}
}

func (f *finder) spent() bool {
	if f.budget--; f.budget < 0 && f.err == nil {
		f.err = errFind
	}
	return f.err != nil
}

// solve looks for integers that make all rows at least 0.
func (f *finder) solve(rows, values []Affine) (vars []int, found bool) {
	systems := make([][]Affine, len(values)+1) // systems[d] has unknowns 0 to d-1
	systems[len(values)] = distinct(rows)
	for d := len(values); d > 0; d-- {
		if f.budget -= perSystem; f.spent() {
			return nil, false
		}
		systems[d-1] = f.without(systems[d], d-1)
	}
	if contradict(systems[0]) {
		return nil, false
	}
	unknowns, found := f.search(systems, nil)
	for _, v := range values {
		if found {
			vars = append(vars, v.at(unknowns))
		}
	}
	return vars, found
}

// without eliminates unknown d: each of its lower bounds is at most each upper bound.
func (f *finder) without(rows []Affine, d int) []Affine {
	var rest, low, high []Affine
	for _, a := range rows {
		switch c := a.coef(d); {
		case c == 0:
			rest = append(rest, a)
		case c > 0:
			low = append(low, a)
		default:
			high = append(high, a)
		}
	}
	if len(low)*len(high) > 1<<14 {
		f.err = errFind
	}
	for _, l := range low {
		for _, h := range high {
			if f.err != nil {
				return nil
			}
			by := GCD(l.coef(d), h.coef(d))
			a := f.plus(f.plus(Constant(0), -h.coef(d)/by, l), l.coef(d)/by, h)
			rest = append(rest, a)
		}
	}
	return distinct(rest)
}

// distinct divides rows by the common divisor of their coefficients and rounds constants down, as
// integers allow. It keeps the strictest of the rows with the same coefficients.
func distinct(rows []Affine) []Affine {
	var list []Affine
	for _, a := range rows {
		by := 0
		for _, c := range a.Coef {
			by = GCD(by, c)
		}
		coef := slices.Clone(a.Coef)
		if by > 1 {
			a.Const = FloorDiv(a.Const, by)
			for d := range coef {
				coef[d] /= by
			}
		}
		coef = unpadded(coef)
		if len(coef) == 0 && a.Const >= 0 {
			continue
		}
		at := slices.IndexFunc(list, func(b Affine) bool { return slices.Equal(b.Coef, coef) })
		if at >= 0 {
			list[at].Const = min(list[at].Const, a.Const)
			continue
		}
		list = append(list, Affine{a.Const, coef})
	}
	return list
}

// search tries the values of each unknown that the unknowns before it allow.
func (f *finder) search(systems [][]Affine, x []int) (unknowns []int, found bool) {
	d := len(x)
	if d == len(systems)-1 {
		return x, true
	}
	low, high := math.MinInt, math.MaxInt
	for _, a := range systems[d+1] {
		rest := a.Const
		for k := range x {
			var fits bool
			rest, fits = addMul(rest, a.coef(k), x[k])
			f.fits(fits)
		}
		switch c := a.coef(d); {
		case c > 0:
			low = max(low, -FloorDiv(rest, c))
		case c < 0:
			high = min(high, FloorDiv(rest, -c))
		}
	}
	if low == math.MinInt || high == math.MaxInt {
		f.err = errFind // every loop has an end
	}
	for v := low; v <= high && !f.spent(); v++ {
		if unknowns, found = f.search(systems, append(slices.Clone(x), v)); found || f.err != nil {
			return unknowns, found
		}
	}
	return nil, false
}

// FloorDiv returns a / b rounded down, for b > 0.
func FloorDiv(a, b int) int {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
