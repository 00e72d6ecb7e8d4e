package nest

import (
	"encoding/binary"
	"errors"
	"maps"
	"math"
	"slices"
)

// Count is the number of accesses that the program makes. Loops whose bodies do
// the same in each iteration are multiplied, and of others an iteration is looked
// at once for all values of the variables that do not matter to it: a triangle
// takes as long as its outer loops have iterations. It errs if there are more
// than an int can count.
//
// Law: it is the length of W(p).
func (p Program) Count() (int, error) {
	c := counter{uses: map[*Loop]use{}, known: map[string]int{}}
	c.inspect(p, 0)
	n := c.nodes(p)
	if c.beyond {
		return 0, errors.New("more accesses than an int can count")
	}
	return n, nil
}

// A counter remembers how many accesses a loop makes.
type counter struct {
	uses   map[*Loop]use
	known  map[string]int // by the loop and the variables that it uses
	vars   []int
	beyond bool
}

// A use says on which variables, by their depths, the count of a loop depends.
type use struct {
	number int
	outer  []int
	own    bool // the body's count depends on the loop's own
}

// inspect finds the depths of the variables that the counts of nodes depend on.
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

// mark adds the depths of the variables that functions depend on.
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
	if len(u.outer) < len(c.vars) { // or else these values do not come again
		bytes := binary.AppendVarint(nil, int64(u.number))
		for _, d := range u.outer {
			bytes = binary.AppendVarint(bytes, int64(c.vars[d]))
		}
		key = string(bytes)
		if n, ok := c.known[key]; ok {
			return n
		}
	}
	sum := 0
	for i := 0; i < trips && !c.beyond; i++ {
		sum = c.plus(sum, in(first+i*l.Step))
	}
	if key != "" && len(c.known) < 1<<20 {
		c.known[key] = sum
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
