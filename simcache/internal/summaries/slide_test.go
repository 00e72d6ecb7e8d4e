package summaries

import (
	"testing"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
	"github.com/stridebench/stridebench/simcache/internal/enginetest"
)

// TestSlide compares misses and contents with what a cache is, for columns that slide from
// one iteration of the loop around to the next, over lines and rarely from line to line, of
// more or less lines than flood all sets; rows and what rests, is accessed ahead and behind,
// may share lines, and meet where they move on; conditions come and go.
func TestSlide(t *testing.T) {
	t.Parallel()
	programs, did := enginetest.Cases(3000), did{}
	for seed := range uint64(programs) {
		d := enginetest.Random(seed, 48)
		l := engine.Level{Sets: []int{4, 8, 2, 12}[d(20)/6], Ways: []int{4, 6, 8, 5, 3, 2}[d(6)], Shift: 5}
		tame := d.One(2) // most conditions hold
		if tame {
			l.Ways = []int{5, 6, 8}[d(3)]
		}
		line, span, constant := 32, 32*l.Sets, nest.Constant
		loop := func(to nest.Affine, body ...nest.Node) nest.Node {
			return &nest.Loop{From: []nest.Affine{constant(0)}, To: []nest.Affine{to}, Step: 1, Body: body}
		}
		affine := func(c int, coef ...int) nest.Affine { return nest.Affine{Const: c, Coef: coef} }
		column := []int{line + 4, line + 8, 3*line + 8, 40, -line - 8, 5 * line, span + 4, 3*line + 4, 3*line + 16, 2 * line, span}[d(23)/2%11]
		laps, grows := 60+d(40), []int{0, 0, 1, 1, -1}[d(5)]
		g := nest.GCD(column, span)
		often := max(1, line/g)
		flood := span / g * ((l.Ways + often - 1) / often)
		trips := flood + span/g*(1+d(4))/4 + 8 + []int{0, 0, 5, 40, -20}[d(5)] + max(0, -grows*laps)*d(4)/3
		if trips < 4 || trips > 900 {
			continue
		}
		rows, columns := uint64(1<<33+d(9)*4), uint64(1<<34+d(9)*4)
		op := func(base uint64, strides ...int) nest.Node {
			return nest.Operand{Base: base, Width: 4, Strides: strides}
		}
		around := []int{0, column, line, 4}[d(4)]
		end := func() uint64 { // where the row ends, or begins, or elsewhere
			return []uint64{rows + uint64(4*trips), rows + uint64(4*(trips+d(5)-2)), rows + uint64(4*d(3*trips)), rows - uint64(4*d(300)), 1<<32 + uint64(4*d(99))}[d(9)*5/9]
		}
		slide := []int{4, 4, 4, 8, 0, -4, line, column * (trips - d(30))}[d(36)/5]
		if tame {
			slide = 4
		}
		large := []nest.Node{op(columns, around, slide, column)}
		if !d.One(4) {
			large = append(large, op(rows, around, []int{0, 0, 0, 0, 0, 0, 0, 4 * (trips - d(30))}[unless(tame, d(8))], []int{4, 4, 4, 8, -4}[d(5)]))
		}
		if d.One(4) {
			large = append(large, op([]uint64{1 << 35, 1 << 35, rows, columns}[unless(tame, d(4))]+uint64(d(9)*4), around, []int{slide, 0, 4}[d(3)], []int{column, 4, 2 * line}[d(3)]))
		}
		move := func() int { return []int{4 * grows, 4, 0, 4, 8, line}[d(6)] }
		rest := op(end(), around, move(), 0)
		if !d.One(4) {
			large = append(large[:1], append([]nest.Node{rest}, large[1:]...)...)
		}
		if d.One(3) { // again, at the end of the iteration
			large = append(large, rest)
		}
		if d.One(8) && !tame { // where the column comes to
			large = append(large, op(columns+uint64(d(5)*4), around, []int{slide, 4}[d(2)], 0))
		}
		var last nest.Operand
		plain := func(most int) (list []nest.Node) {
			for range d(most) {
				o := rest.(nest.Operand)
				o.Strides = o.Strides[:2]
				switch kind := d(5); {
				case kind == 0 || kind == 2 && tame:
					o.Base -= uint64([]int{4, 4, line, o.Strides[1], 8}[d(5)])
				case kind == 1:
					o = last
				case kind == 2:
					o = op(columns-uint64(column*(d(5)/4*d(9)-1)), around, slide).(nest.Operand)
				default:
					o = op(end(), around, move()).(nest.Operand)
				}
				if o.Strides == nil {
					continue
				}
				o.Base += uint64(2 * (d(60) / 59)) // over the end of a line
				list, last = append(list, o), o
			}
			if len(list) > 1 && d.One(3) {
				list = append(list, list[0])
			}
			return list
		}
		body := plain(4)
		if d.One(2) {
			body = append(body, &nest.If{When: nest.Condition{{affine(d(laps), d(2), []int{0, 1, -1, 2}[d(4)])}}, Then: plain(3), Else: plain(3)})
		}
		to := affine(trips, d(2), grows)
		body = append(body, loop(to, large...))
		body = append(body, plain(3)...)
		outer := []nest.Node{loop(constant(laps), body...)}
		if d.One(4) { // accesses to a small array around
			outer = append(outer, op(1<<31, 4))
		}
		p := nest.Program{loop(constant(1+d(3)), outer...)}
		if accesses(p, 200000) > 200000 {
			continue
		}
		e := New([]engine.Level{l}, Options{Threshold: []int{20, 100, 500}[d(3)]})
		asReference(t, seed, e, p)
		did.add(e.did)
		if seed%4 == 0 {
			e = New(withSecond(d, l), e.options)
			asReference(t, seed, e, p)
			did.add(e.did)
		}
	}
	if t.Logf("%+v", did); did.Slid < 5*programs || did.Leapt < 5*programs || did.Settled < programs/20 {
		t.Errorf("not often enough: %+v", did)
	}
}

// unless is a number, or 0.
func unless(is bool, n int) int {
	if is {
		return 0
	}
	return n
}
