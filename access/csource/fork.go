package csource

import (
	"maps"
	"slices"

	"modernc.org/cc/v4"

	"github.com/stridebench/stridebench/layouts/nest"
)

// A fork is a ?: that chooses where a pointer points by a condition on the loops' variables. What it is in is built twice: where the
// condition holds, with the one pointer, and elsewhere with the other. Within, what the condition says is known of others.
type fork struct {
	chooses cc.Node
	when    nest.Condition
}

// chosen is a pointer of a ?: whose condition decides it here; where it does not, it asks for a fork.
func (b *builder) chosen(e *expr, subscripts int) (lvalue, *Error) {
	fails := notInteger(e, false, "%s", pointerChosen)
	c, err := b.condition(e.args[0])
	if err != nil {
		return lvalue{}, fails
	}
	arm, known := b.arms[e.node]
	if c = b.decidedByFacts(b.decidedBySpans(c)); !known {
		switch {
		case always(c):
			arm = 1
		case never(c):
			arm = 2
		default:
			fails.fork = &fork{e.node, c}
			return lvalue{}, fails
		}
	}
	return b.pointer(e.args[arm], subscripts)
}

// decidedByFacts is a condition without what is known by the forks around.
func (b *builder) decidedByFacts(c nest.Condition) nest.Condition {
	var kept nest.Condition
	for _, all := range c {
		rows, can := []nest.Affine{}, true
		for _, a := range all {
			holds := false
			for _, fact := range b.facts {
				if less, err := plus(a, -1, fact); err == nil {
					n, fixed := piece{affine: less}.number()
					holds = holds || fixed && n >= 0
				}
				if sum, err := plus(a, 1, fact); err == nil {
					n, fixed := piece{affine: sum}.number()
					can = can && !(fixed && n < 0)
				}
			}
			if !holds {
				rows = append(rows, a)
			}
		}
		if can {
			kept = append(kept, rows)
		}
	}
	return kept
}

// forked builds something, once for each arm of the forks that it asks for.
func (b *builder) forked(f func() (exits, *Error)) (left exits, err *Error) {
	before := b.state()
	nodes, err := b.body(func() (err *Error) {
		left, err = f()
		return err
	})
	if err == nil || err.fork == nil {
		b.nodes = append(b.nodes, nodes...)
		return left, err
	}
	at := err.fork
	if (piece{when: at.when}).usesAny(func(d int) bool { return d >= len(b.loops) && d < maxLoops }) { // as in the head of a loop
		return left, err
	}
	b.restore(before)
	defer b.copying()()
	arm := func(n int, left *exits) func() *Error {
		return func() *Error {
			if b.allCopies++; b.allCopies > maxCopies {
				return &Error{Pos: err.Pos, Expr: err.Expr, Why: tooManyCopies}
			}
			arms := b.arms
			b.arms = maps.Clone(arms)
			b.arms[at.chooses] = n
			var failed *Error
			*left, failed = b.forked(f)
			b.arms = arms
			return failed
		}
	}
	var then, otherwise exits
	if err := b.when(at.when, b.where(at.when, arm(1, &then)), b.unless(at.when, arm(2, &otherwise))); err != nil {
		return left, err
	}
	return b.eitherLeft(at.when, then, otherwise), nil
}

// where is f with what a condition says, where it is one case, as a fact.
func (b *builder) where(c nest.Condition, f func() *Error) func() *Error {
	return func() *Error {
		outside := b.facts
		defer func() { b.facts = outside }()
		if len(c) == 1 {
			b.facts = append(slices.Clip(outside), c[0]...)
		}
		return f()
	}
}

// unless is f with the opposite of a condition as a fact.
func (b *builder) unless(c nest.Condition, f func() *Error) func() *Error {
	opposite, err := not(c)
	if err != nil {
		return f
	}
	return b.where(b.decidedBySpans(opposite), f)
}

// mayFork tells whether in a part of the parser's tree is a ?: of pointers.
func (b *builder) mayFork(n cc.Node) (found bool) {
	if found, known := b.forks[n]; known {
		return found
	}
	each(n, func(n cc.Node) {
		if c, is := n.(*cc.ConditionalExpression); is && c.Case == cc.ConditionalExpressionCond && c.Type() != nil && (c.Type().Kind() == cc.Ptr || c.Type().Kind() == cc.Array) {
			found = true
		}
	})
	b.forks[n] = found
	return found
}

// turnsPointers tells whether an if may give pointers one of several values.
func (b *builder) turnsPointers(s *cc.SelectionStatement) (turns bool) {
	if s.Case == cc.SelectionStatementSwitch {
		return false
	}
	turns, known := b.turning[s]
	if !known {
		writes(s, func(v *cc.Declarator, e *expr) { turns = turns || isPointer(v) && b.walkers[v] && e.op == "=" })
		b.turning[s] = turns
	}
	return turns
}

// nowOneOfSeveral tells whether there is a pointer that points to one of several and did not do so before.
func (b *builder) nowOneOfSeveral(before map[*cc.Declarator]walker) bool {
	for v, w := range b.now {
		if w.lost != nil && w.lost.Why == lostArms && isPointer(v) && (before[v].lost == nil || before[v].lost.Why != lostArms) {
			return true
		}
	}
	return false
}

// pointsOn tells whether a part of the parser's tree gives pointers values.
func pointsOn(n cc.Node) (points bool) {
	writes(n, func(v *cc.Declarator, _ *expr) { points = points || isPointer(v) })
	return points
}
