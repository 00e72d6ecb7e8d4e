package nest

import (
	"encoding/binary"
	"errors"
	"maps"
	"math"
	"math/big"
	"slices"
)

var errCount = errors.New("more accesses than an int can count")

// Count returns the number of accesses that the program makes. It counts each access of the text
// alone, so that only the variables that matter to it do. It errs beyond an int.
//
// Law: it is the length of W(p).
func (p Program) Count() (int, error) {
	counts, err := p.Counts()
	if err != nil {
		return 0, err
	}
	sum := counter{}
	total := 0
	for _, n := range counts {
		total = sum.plus(total, n)
	}
	if sum.beyond {
		return 0, errCount
	}
	return total, nil
}

// together is Count for all accesses at once. A loop whose iterations do the same is multiplied. If
// a body's count is a polynomial in the induction variable, as a triangle's, a few values give the
// sum. Other bodies are counted once for all values of variables that do not matter.
func (p Program) together() (int, error) {
	c := counter{uses: map[*Loop]use{}, known: map[string]int{}}
	c.inspect(p, 0)
	n := c.nodes(p)
	if c.beyond {
		return 0, errCount
	}
	return n, nil
}

// Counts returns how often each access is made, by its number.
//
// Law: it sums to Count, and entry i is how often i occurs in W(p).
func (p Program) Counts() ([]int, error) {
	return countEach(p, func(body []Node) Program { return body }, nil)
}

func countEach(nodes []Node, within func([]Node) Program, counts []int) ([]int, error) {
	here := -1 // count of the accesses directly in nodes
	var err error
	for _, node := range nodes {
		switch node := node.(type) {
		case Operand:
			if here < 0 {
				here, err = within([]Node{node}).together()
			}
			counts = append(counts, here)
		case *Loop:
			counts, err = countEach(node.Body, func(body []Node) Program {
				l := *node
				l.Body = body
				return within([]Node{&l})
			}, counts)
		case *If:
			counts, err = countEach(node.Then, func(body []Node) Program {
				return within([]Node{&If{When: node.When, Then: body}})
			}, counts)
			if err == nil {
				counts, err = countEach(node.Else, func(body []Node) Program {
					return within([]Node{&If{When: node.When, Else: body}})
				}, counts)
			}
		}
		if err != nil {
			return nil, err
		}
	}
	return counts, nil
}

type counter struct {
	uses   map[*Loop]use
	known  map[string]int // by the loop and the variables that it uses
	vars   []int
	beyond bool
}

// A use has the depths of the variables on which a loop's count depends.
type use struct {
	number int
	outer  []int
	own    bool // the body's count depends on the loop's own variable
}

// inspect returns the depths that the counts of nodes depend on.
func (c *counter) inspect(nodes []Node, depth int) map[int]bool {
	used := map[int]bool{}
	for _, node := range nodes {
		switch node := node.(type) {
		case *Loop:
			inner := c.inspect(node.Body, depth+1)
			u := use{number: len(c.uses), own: inner[depth]}
			delete(inner, depth)
			mark(inner, node.From)
			mark(inner, node.To)
			u.outer = slices.Sorted(maps.Keys(inner))
			c.uses[node] = u
			maps.Copy(used, inner)
		case *If:
			for _, all := range node.When {
				mark(used, all)
			}
			maps.Copy(used, c.inspect(node.Then, depth))
			maps.Copy(used, c.inspect(node.Else, depth))
		}
	}
	return used
}

func mark(used map[int]bool, list []Affine) {
	for _, a := range list {
		for d, k := range a.Coef {
			if k != 0 {
				used[d] = true
			}
		}
	}
}

func (c *counter) nodes(nodes []Node) int {
	sum := 0
	for _, node := range nodes {
		switch node := node.(type) {
		case Operand:
			sum = c.plus(sum, 1)
		case *Loop:
			sum = c.plus(sum, c.loop(node))
		case *If:
			if node.When.Holds(c.vars) {
				sum = c.plus(sum, c.nodes(node.Then))
			} else {
				sum = c.plus(sum, c.nodes(node.Else))
			}
		}
	}
	return sum
}

func (c *counter) loop(l *Loop) int {
	u := c.uses[l]
	first, trips := l.Bounds(c.vars)
	if trips == 0 {
		return 0
	}
	in := func(v int) int {
		c.vars = append(c.vars, v)
		defer func() { c.vars = c.vars[:len(c.vars)-1] }()
		return c.nodes(l.Body)
	}
	if !u.own {
		product, ok := mul(in(first), trips)
		c.beyond = c.beyond || !ok
		return product
	}
	var key string
	if len(u.outer) < len(c.vars) { // else these values do not recur
		bytes := binary.AppendVarint(nil, int64(u.number))
		for _, d := range u.outer {
			bytes = binary.AppendVarint(bytes, int64(c.vars[d]))
		}
		key = string(bytes)
		if n, ok := c.known[key]; ok {
			return n
		}
	}
	sum := c.stretch(l, first, trips, in)
	if key != "" && len(c.known) < 1<<20 {
		c.known[key] = sum
	}
	return sum
}

// stretch counts the accesses of trips iterations from first on, in parts in which conditions do
// not change.
func (c *counter) stretch(l *Loop, first, trips int, in func(v int) int) (sum int) {
	const few = 8
	degree, ok := c.degree(l, first, trips)
	switch {
	case ok && trips > degree+1:
		values := make([]int, degree+1)
		for i := range values {
			values[i] = in(first + i*l.Step)
		}
		return c.sum(values, trips)
	case !ok && trips > few:
		part := c.turn(l.Body, first, l.Step, trips)
		if part == 0 {
			part = trips / 2
		}
		return c.plus(c.stretch(l, first, part, in),
			c.stretch(l, first+part*l.Step, trips-part, in))
	}
	for i := 0; i < trips && !c.beyond; i++ {
		sum = c.plus(sum, in(first+i*l.Step))
	}
	return sum
}

// turn returns an iteration, below trips, from which a part of a condition has another value than
// in the first, or 0. It leaves out conditions in inner loops.
func (c *counter) turn(body []Node, first, step, trips int) int {
	for _, node := range body {
		branch, is := node.(*If)
		if !is {
			continue
		}
		for _, all := range branch.When {
			for _, a := range all {
				by := a.coef(len(c.vars)) * step
				at := a.At(append(c.vars, first))
				if at < 0 {
					at, by = -1-at, -by
				}
				if by < 0 && at/-by+1 < trips {
					return at/-by + 1
				}
			}
		}
		if k := c.turn(branch.Then, first, step, trips); k > 0 {
			return k
		}
		if k := c.turn(branch.Else, first, step, trips); k > 0 {
			return k
		}
	}
	return 0
}

func (c *counter) plus(a, b int) int {
	if a > math.MaxInt-b {
		c.beyond = true
		return 0
	}
	return a + b
}

// degree returns a degree of the polynomial, in the number of the iteration, that counts the
// accesses of the loop's body. ok is false if there may be none. Every loop in the body must run
// from one affine function to another, never below it. Its step must be 1 or -1, or its distance
// constant. No part of a condition may change with the variables around it.
func (c *counter) degree(l *Loop, first, trips int) (degree int, ok bool) {
	last := first + (trips-1)*l.Step
	low, high := append(slices.Clone(c.vars), min(first, last)),
		append(slices.Clone(c.vars), max(first, last))
	return degreeOf(l.Body, low, high)
}

func degreeOf(nodes []Node, low, high []int) (degree int, ok bool) {
	for _, node := range nodes {
		inner := 0
		switch node := node.(type) {
		case *Loop:
			if len(node.From) > 1 || len(node.To) > 1 {
				return 0, false
			}
			from, to := node.From[0], node.To[0]
			if node.Step < 0 {
				from, to = to, from
			}
			least, most := spread(to, from, low, high)
			if least < 0 || least != most && node.Step*node.Step != 1 {
				return 0, false
			}
			first, end := spread(node.From[0], Affine{}, low, high)
			if node.Step > 0 {
				end += most
			} else {
				first -= most
			}
			inner, ok = degreeOf(node.Body, append(low[:len(low):len(low)], first),
				append(high[:len(high):len(high)], end))
			if !ok {
				return 0, false
			}
			if least != most {
				inner++
			}
		case *If:
			holds, always := steady(node.When, low, high)
			if !always {
				return 0, false
			}
			body := node.Else
			if holds {
				body = node.Then
			}
			if inner, ok = degreeOf(body, low, high); !ok {
				return 0, false
			}
		}
		degree = max(degree, inner)
	}
	return degree, true
}

// steady reports whether a condition holds, and whether bounds of the variables decide all its
// parts.
func steady(when Condition, low, high []int) (holds, always bool) {
	for _, all := range when {
		held := true
		for _, a := range all {
			least, most := spread(a, Affine{}, low, high)
			if least < 0 && most >= 0 {
				return false, false
			}
			held = held && least >= 0
		}
		holds = holds || held
	}
	return holds, true
}

// spread returns bounds of a - b within bounds of the variables.
func spread(a, b Affine, low, high []int) (least, most int) {
	least = a.Const - b.Const
	most = least
	for d := range low {
		k := a.coef(d) - b.coef(d)
		least, most = least+min(k*low[d], k*high[d]), most+max(k*low[d], k*high[d])
	}
	return least, most
}

// sum returns the sum of n values of a polynomial from its first values, one more than its degree.
// With Newton's forward differences at the first value, difference k counts (n over k+1) times.
func (c *counter) sum(values []int, n int) int {
	sum, ways := new(big.Int), big.NewInt(1)
	for k := range values {
		ways.Mul(ways, big.NewInt(int64(n-k)))
		ways.Quo(ways, big.NewInt(int64(k+1)))
		sum.Add(sum, new(big.Int).Mul(ways, big.NewInt(int64(values[0]))))
		for i := range len(values) - k - 1 {
			values[i] = values[i+1] - values[i]
		}
	}
	if !sum.IsInt64() {
		c.beyond = true
		return 0
	}
	return int(sum.Int64())
}
