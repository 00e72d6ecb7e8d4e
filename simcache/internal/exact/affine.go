package exact

type term struct{ slot, coef int }

// An affine is a constant plus terms, each a coefficient times a slot's number. Running loops keep
// their induction variables in the machine's slots.
type affine struct {
	c     int
	terms []term
}

func (a *affine) at(slots []int) int {
	v := a.c
	for _, t := range a.terms {
		v += t.coef * slots[t.slot]
	}
	return v
}

func (a affine) plus(m int, b affine) affine {
	sum := affine{c: a.c + m*b.c, terms: append([]term(nil), a.terms...)}
	for _, t := range b.terms {
		sum.add(t.slot, m*t.coef)
	}
	return sum
}

func (a *affine) add(slot, coef int) {
	for i := range a.terms {
		if a.terms[i].slot == slot {
			if a.terms[i].coef += coef; a.terms[i].coef == 0 {
				a.terms = append(a.terms[:i], a.terms[i+1:]...)
			}
			return
		}
	}
	if coef != 0 {
		a.terms = append(a.terms, term{slot, coef})
	}
}

func (a *affine) coef(slot int) int {
	for _, t := range a.terms {
		if t.slot == slot {
			return t.coef
		}
	}
	return 0
}

// split splits off the terms of the slots that inside selects.
func (a affine) split(inside func(slot int) bool) (out affine, in []term) {
	out.c = a.c
	for _, t := range a.terms {
		if inside(t.slot) {
			in = append(in, t)
		} else {
			out.terms = append(out.terms, t)
		}
	}
	return out, in
}

func (a *affine) same(b *affine) bool {
	if a.c != b.c || len(a.terms) != len(b.terms) {
		return false
	}
	for _, t := range a.terms {
		if b.coef(t.slot) != t.coef {
			return false
		}
	}
	return true
}

// bounds bounds the function, for numbers of slots within lows and highs.
func (a *affine) bounds(lows, highs []int) (low, high int) {
	return bounds(a.c, a.terms, lows, highs)
}

// bounds bounds c plus terms.
func bounds(c int, terms []term, lows, highs []int) (low, high int) {
	low, high = c, c
	for _, t := range terms {
		x, y := t.coef*lows[t.slot], t.coef*highs[t.slot]
		low, high = low+min(x, y), high+max(x, y)
	}
	return low, high
}

// floor rounds a down to a multiple of g, a power of two.
func floor(a, g int) int { return a &^ (g - 1) }
