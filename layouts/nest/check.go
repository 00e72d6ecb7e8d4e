package nest

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
)

// Check refuses a program that cannot be walked. It refuses loops without bounds or with step 0,
// functions of more variables than there are loops around them, and widths that are not positive.
// It refuses more accesses than an int can count, and executed accesses outside of 0 to 2^63-1.
//
// Check judges addresses of executed accesses. It uses the bounds of the loops first. If these
// prove too little, it tries smaller and smaller parts of the outermost loop, then of the next.
func (p Program) Check() error {
	c := checker{}
	if err := c.shape(p); err != nil {
		return err
	}
	if c.accesses > math.MaxInt/2 {
		return fmt.Errorf("about %.3g accesses are more than an int can count", c.accesses)
	}
	return c.nodes(p)
}

// A checker is a place in a program: the loops around it, each with a range of its variable.
type checker struct {
	around   []part
	accesses float64 // at most
}

// A part is a range of a loop's variable, both ends included.
type part struct {
	loop      *Loop
	low, high int
}

// shape checks everything except addresses, and bounds the number of accesses.
func (c *checker) shape(nodes []Node) error {
	for _, node := range nodes {
		switch node := node.(type) {
		case Operand:
			if node.Width <= 0 {
				return fmt.Errorf("access of %s: width %d is not positive", node.Tensor, node.Width)
			}
			if len(node.Strides) > len(c.around) {
				return fmt.Errorf("access of %s: %d strides inside of %d loops", node.Tensor,
					len(node.Strides), len(c.around))
			}
			c.accesses += c.times()
		case *Loop:
			if err := c.loopShape(node); err != nil {
				return err
			}
		case *If:
			for _, all := range node.When {
				if err := c.known(all); err != nil {
					return fmt.Errorf("condition: %w", err)
				}
			}
			for _, body := range [][]Node{node.Then, node.Else} {
				if err := c.shape(body); err != nil {
					return err
				}
			}
		default:
			return fmt.Errorf("a %T is not a node of a program", node)
		}
	}
	return nil
}

func (c *checker) loopShape(l *Loop) error {
	if len(l.From) == 0 || len(l.To) == 0 || l.Step == 0 {
		return fmt.Errorf("loop %s: %d first values, %d ends, step %d (want at least one of "+
			"each, and a step)", l.Name, len(l.From), len(l.To), l.Step)
	}
	if err := c.known(slices.Concat(l.From, l.To)); err != nil {
		return fmt.Errorf("loop %s: %w", l.Name, err)
	}
	all := c.all(l)
	if all.low > all.high {
		return nil // it has no iteration
	}
	c.around = append(c.around, all)
	defer c.leave()
	return c.shape(l.Body)
}

// known refuses functions of variables that do not exist at this place, or whose values may
// overflow an int.
func (c *checker) known(list []Affine) error {
	for _, a := range list {
		if len(a.Coef) > len(c.around) {
			return fmt.Errorf("a function of %d variables inside of %d loops", len(a.Coef),
				len(c.around))
		}
		_, above := c.bound(negated(a))
		_, below := c.bound(a)
		if !above || !below {
			return errors.New("a function of the variables leaves the range of an int")
		}
	}
	return nil
}

func (c *checker) leave() { c.around = c.around[:len(c.around)-1] }

// times bounds how often the code at this place runs.
func (c *checker) times() float64 {
	product := 1.0
	for _, p := range c.around {
		product *= math.Floor((float64(p.high)-float64(p.low))/math.Abs(float64(p.loop.Step))) + 1
	}
	return product
}

// all returns a range that contains all values of a loop's variable at this place.
func (c *checker) all(l *Loop) part {
	least, most := l.From, l.To // of a rising loop
	if l.Step < 0 {
		least, most = most, least
	}
	p := part{l, math.MinInt, math.MaxInt}
	for _, a := range least {
		low, _ := c.bound(negated(a))
		p.low = max(p.low, -low)
	}
	for _, a := range most {
		high, _ := c.bound(a)
		p.high = min(p.high, high)
	}
	if l.Step > 0 {
		p.high--
	} else {
		p.low++
	}
	return p
}

func (c *checker) nodes(nodes []Node) error {
	for _, node := range nodes {
		var err error
		switch node := node.(type) {
		case Operand:
			err = c.address(node)
		case *Loop:
			err = c.loop(node)
		case *If:
			err = c.branch(node)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// loop checks a loop's body for its whole range. If that proves too little and all variables around
// it are fixed, it checks either half.
func (c *checker) loop(l *Loop) error {
	all := c.all(l)
	if all.low > all.high {
		return nil
	}
	return c.part(all)
}

func (c *checker) part(p part) error {
	fixed := c.fixed()
	c.around = append(c.around, p)
	err := c.nodes(p.loop.Body)
	c.leave()
	if err == nil || !fixed || p.low == p.high {
		return err
	}
	// With all outer variables fixed, the loop's first value and step are known.
	vars := make([]int, len(c.around))
	for d, a := range c.around {
		vars[d] = a.low
	}
	first, trips := p.loop.Bounds(vars)
	last := first + (trips-1)*p.loop.Step
	if p.loop.Step < 0 {
		first, last = last, first
	}
	clipped := part{p.loop, max(p.low, first), min(p.high, last)}
	switch {
	case clipped.low > clipped.high:
		return nil
	case clipped != p:
		return c.part(clipped)
	}
	step := max(p.loop.Step, -p.loop.Step)
	middle := p.low + ((p.high-p.low)/step-1)/2*step
	if err := c.part(part{p.loop, p.low, middle}); err != nil {
		return err
	}
	return c.part(part{p.loop, middle + step, p.high})
}

func (c *checker) fixed() bool {
	return !slices.ContainsFunc(c.around, func(p part) bool { return p.low != p.high })
}

func (c *checker) branch(n *If) error {
	always, never := c.decides(n.When)
	if !never {
		if err := c.nodes(n.Then); err != nil {
			return err
		}
	}
	if !always {
		return c.nodes(n.Else)
	}
	return nil
}

// decides reports whether a condition always or never holds at this place.
func (c *checker) decides(when Condition) (always, never bool) {
	never = true
	for _, all := range when {
		holds, fails := true, false
		for _, a := range all {
			if low, ok := c.bound(negated(a)); !ok || low > 0 {
				holds = false
			}
			if high, ok := c.bound(a); ok && high < 0 {
				fails = true
			}
		}
		always, never = always || holds, never && fails
	}
	return always, never
}

func (c *checker) address(op Operand) error {
	if op.Base > math.MaxInt {
		return fmt.Errorf("access of %s: base %#x is beyond 2^63", op.Tensor, op.Base)
	}
	at := Affine{int(op.Base), op.Strides}
	low, above := c.bound(negated(at))
	last, below := c.bound(at)
	if !above || low > 0 || !below || last > math.MaxInt-op.Width {
		return fmt.Errorf("access of %s at %#x with strides %v leaves the address space", op.Tensor,
			op.Base, op.Strides)
	}
	return nil
}

// Most returns an upper bound of a function in these loops, the outermost first, that follows from
// their bounds. It returns false if there is none or if it may overflow an int. A nil loop has no
// known bounds. If many loops have many bounds each, Most considers only some of them.
func Most(a Affine, around []*Loop) (most int, ok bool) {
	var parts []part
	for _, l := range around {
		parts = append(parts, part{l, math.MinInt, math.MaxInt})
	}
	looks := 1 << 8
	return mostIn(parts, a, &looks)
}

func (c *checker) bound(a Affine) (most int, ok bool) {
	looks := math.MaxInt
	return mostIn(c.around, a, &looks)
}

// mostIn is Most for ranges of loops. It tries at most looks bounds, and at least one per loop.
//
// It replaces the innermost variable by a bound of its loop, which is a function of the variables
// further out, and so on outwards. Of several bounds it uses the tightest. The result is exact for
// loops of step 1 that have one bound on either side and at least one iteration.
func mostIn(around []part, a Affine, looks *int) (most int, ok bool) {
	depth := len(a.Coef)
	for depth > 0 && a.Coef[depth-1] == 0 {
		depth--
	}
	if depth == 0 {
		return a.Const, true
	}
	if depth > len(around) || around[depth-1].loop == nil {
		return 0, false
	}
	p := around[depth-1]
	try := func(by Affine, plus int) {
		if *looks--; *looks < 0 && ok {
			return
		}
		if b, fits := substituted(a, depth-1, by, plus); fits {
			if high, fits := mostIn(around[:depth-1], b, looks); fits && (!ok || high < most) {
				most, ok = high, true
			}
		}
	}
	up, rising := a.Coef[depth-1] > 0, p.loop.Step > 0
	if up {
		try(Constant(p.high), 0)
	} else {
		try(Constant(p.low), 0)
	}
	if p.low == p.high {
		return most, ok
	}
	bounds, beside := p.loop.From, 0
	switch {
	case up && rising:
		bounds, beside = p.loop.To, -1
	case !up && !rising:
		bounds, beside = p.loop.To, 1
	}
	for _, by := range bounds {
		try(by, beside)
	}
	return most, ok
}

// substituted replaces a's variable of a depth by a function of the variables further out, plus a
// number. It returns false if a coefficient overflows.
func substituted(a Affine, depth int, by Affine, beside int) (Affine, bool) {
	by, fits := plus(by, 1, Constant(beside))
	b, also := plus(Affine{a.Const, a.Coef[:depth]}, a.Coef[depth], by)
	return b, fits && also
}

// plus returns a + factor*b, and false if a number overflows.
func plus(a Affine, factor int, b Affine) (sum Affine, fits bool) {
	sum.Const, fits = addMul(a.Const, factor, b.Const)
	sum.Coef = make([]int, max(len(a.Coef), len(b.Coef)))
	for d := range sum.Coef {
		var ok bool
		sum.Coef[d], ok = addMul(a.coef(d), factor, b.coef(d))
		fits = fits && ok
	}
	return sum, fits
}

// addMul returns a + b*c, and false if it overflows.
func addMul(a, b, c int) (int, bool) {
	product, ok := mul(b, c)
	sum := a + product
	return sum, ok && ((sum > a) == (product > 0) || product == 0)
}

func negated(a Affine) Affine {
	n := Affine{Const: -a.Const, Coef: slices.Clone(a.Coef)}
	for d, c := range n.Coef {
		n.Coef[d] = -c
	}
	return n
}

// mul returns a product, and false if it overflows.
func mul(a, b int) (int, bool) {
	high, low := bits.Mul64(uint64(max(a, -a)), uint64(max(b, -b)))
	return a * b, high == 0 && low <= math.MaxInt
}
