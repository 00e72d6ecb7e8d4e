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
	counts := make([]int, count(p))
	var before []turn
	for number := range counts {
		path := p.path(number, nil)
		if number > 0 && slices.Equal(path, before) {
			counts[number] = counts[number-1]
			continue
		}
		var err error
		if counts[number], err = alone(path, Operand{}).together(); err != nil {
			return nil, err
		}
		before = path
	}
	return counts, nil
}

type counter struct {
	uses   map[*Loop]use
	known  map[string]int // by the loop and the variables that it uses
	vars   []int
	around []part // the loops of vars, with fixed values
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
			if node.When.holds(c.vars) {
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
		c.vars, c.around = append(c.vars, v), append(c.around, part{l, v, v})
		n := c.nodes(l.Body)
		c.vars, c.around = c.vars[:len(c.vars)-1], c.around[:len(c.around)-1]
		return n
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
		part := trips / 2
		return c.plus(c.stretch(l, first, part, in),
			c.stretch(l, first+part*l.Step, trips-part, in))
	}
	for i := 0; i < trips && !c.beyond; i++ {
		sum = c.plus(sum, in(first+i*l.Step))
	}
	return sum
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
	at := checker{around: append(slices.Clone(c.around),
		part{l, min(first, last), max(first, last)})}
	return at.degree(l.Body)
}

func (c *checker) degree(nodes []Node) (degree int, ok bool) {
	for _, node := range nodes {
		inner := 0
		switch node := node.(type) {
		case *Loop:
			if len(node.From) > 1 || len(node.To) > 1 {
				return 0, false
			}
			trips := minus(node.To[0], node.From[0]) // by step 1
			if node.Step < 0 {
				trips = negated(trips)
			}
			most, above := c.bound(trips)
			least, below := c.bound(negated(trips))
			least = -least
			if !above || !below || least < 0 || least != most && node.Step*node.Step != 1 {
				return 0, false
			}
			if least != most {
				inner++
			}
			c.around = append(c.around, c.all(node))
			more, ok := c.degree(node.Body)
			c.leave()
			if !ok {
				return 0, false
			}
			inner += more
		case *If:
			always, never := c.decides(node.When)
			if always == never {
				return 0, false
			}
			body := node.Else
			if always {
				body = node.Then
			}
			if inner, ok = c.degree(body); !ok {
				return 0, false
			}
		}
		degree = max(degree, inner)
	}
	return degree, true
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
