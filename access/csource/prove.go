package csource

import (
	"fmt"

	"github.com/stridebench/stridebench/layouts/nest"
)

// mostAhead is how far above a loop's variable its condition may look.
const mostAhead = 1 << 20

// goesAhead reports whether p is the loop's variable, or a little above it in a loop that goes up.
// It then stays in range if the first and last values do, which the loop has to check.
func (b *builder) goesAhead(p piece) bool {
	if p.kind != leaf {
		return false
	}
	over := plus(p.affine, -1, b.asked.v.at)
	by := over.Const
	if len(over.Coef) > 0 || by != 0 && (b.asked.step <= 0 || by < 0 || by > mostAhead) {
		return false
	}
	b.asked.wraps, b.asked.ahead = true, max(b.asked.ahead, by)
	return true
}

// within demands that a value stays in a range by the bounds of the loops around.
func (b *builder) within(e *expr, p piece, low, high int, why string) {
	if b.asked != nil {
		if _, most := b.asked.v.t.limits(); low == 0 && high >= most && b.goesAhead(p) {
			return // the loop checks it
		}
	}
	if least, most, ok := b.spanOf(p); !ok || least < low || most > high {
		panic(e.fails("%s, as far as the bounds of the loops around it tell", why))
	}
}

// build builds the region and proves that no access leaves its array.
func (b *builder) build(lines []string) error {
	all := items(b.main.CompoundStatement)
	whole := len(b.region) > 0 && b.region[len(b.region)-1] == all[len(all)-1]
	err := tried(func() { b.items(b.region, whole) })
	if b.again {
		return nil
	}
	if err == nil {
		err = b.prove()
	}
	if err != nil {
		return err
	}
	b.file.Program = append(nest.Program{}, b.nodes...)
	statements, accesses := b.statements, []named{}
	for i := range statements {
		statements[i].text = &b.file.Statements[i].Text
	}
	b.file.Accesses = make([]Access, len(b.accesses))
	for i, a := range b.accesses {
		b.file.Accesses[i] = a.Access
		accesses = append(accesses, named{a.Pos, &b.file.Accesses[i].Text, a.node})
	}
	b.name(statements, lines)
	b.name(accesses, lines)
	if err := b.file.Program.Check(); err != nil {
		return &Error{Pos: Pos{File: b.unit.name}, Why: err.Error()}
	}
	return nil
}

// prove returns an error if an access may leave its array.
func (b *builder) prove() *Error {
	number := 0
	for _, node := range b.nodes {
		program := nest.Program{node}
		for n := range program.Operands() {
			a := b.accesses[number]
			number++
			for _, c := range a.checks {
				vars, found, err := program.Find(n, c.bad)
				says, link := *c.says, " where "
				if err != nil {
					says.Outside, says.Why = false, fmt.Sprintf("whether it stays in range is "+
						"not decided: %v; write simpler conditions around it", err)
					return &says
				}
				for d, v := range vars {
					says.Why += fmt.Sprintf("%s%s = %d", link, a.loops[d].loop.Name, v)
					link = ", "
				}
				if found {
					return &says
				}
			}
		}
	}
	return nil
}
