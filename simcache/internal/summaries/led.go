package summaries

import (
	"cmp"
	"slices"
)

// The accesses of a stencil walk behind each other: A[i][j] comes to each line that A[i][j+1] came to, at most a
// line later. Where nothing else comes to the line's set in the meantime, it is there, and the first of its set,
// so that only the ones that lead need be made.

// mostLed is how many accesses a loop has at most in which those that lead are looked for.
const mostLed = 64

// leaders are the accesses of a loop, all of which move alike, that no other is ahead of by a line or less; nil if
// that is all of them, or they do not move alike.
func (in *inner) leaders(line int) (led []moving) {
	if len(in.refs) < 2 {
		return nil
	}
	stride := in.refs[0].stride
	differ := func(r moving) bool { return r.stride != stride }
	if stride <= 0 || line%stride != 0 || !in.plain || len(in.refs) > mostLed || slices.ContainsFunc(in.refs, differ) {
		return nil
	}
	ahead := make([]int, len(in.refs))
	for i := range ahead {
		ahead[i] = i
	}
	slices.SortStableFunc(ahead, func(i, k int) int { return cmp.Compare(in.refs[k].base.c, in.refs[i].base.c) })
	var lead []int
	for _, i := range ahead {
		if !slices.ContainsFunc(lead, func(k int) bool { return in.leads(k, i, line) }) {
			lead = append(lead, i)
		}
	}
	if len(lead) == len(in.refs) {
		return nil
	}
	slices.Sort(lead)
	for _, i := range lead {
		led = append(led, in.refs[i])
	}
	return led
}

// leads reports whether one access comes to each line before another does, and that at most a line later. In one
// iteration the one that stands first comes first.
func (in *inner) leads(k, i, line int) bool {
	at, by := in.refs[i].base, in.refs[k].base.c-in.refs[i].base.c
	at.c += by
	return by <= line && (k < i && by >= 0 || by >= in.refs[k].stride) && at.same(&in.refs[k].base)
}

// fewestSpaced is how many sets a level has at least in which a line and the two beside it are in sets of their own.
const fewestSpaced = 3

// spaced reports whether the accesses that lead are so far from each other, in sets, that none comes to the set of a
// line between a touch of it by another and one by those behind that. It is said of where the addresses are.
//
// Between its leader's first touch of a line and its last the leader goes on by less than two lines, as all others do, and
// those behind another are at most a line behind it. So the other's are in the line's set only if it is less than two
// lines ahead of it, or three behind.
func (in *inner) spaced(s *state) bool {
	if s.sets < fewestSpaced {
		return false
	}
	line, span := 1<<s.shift, s.sets<<s.shift
	for i, at := range in.at {
		for _, other := range in.at[:i] {
			if away := modulo(at-other, span); away < 4*line || away > span-4*line {
				return false
			}
		}
	}
	return true
}

// follow runs so many iterations of a loop by the accesses that lead, and reports whether it did: where
// they are far enough from each other. All are made once, for what those behind are at.
func (m *machine) follow(n *node, c *context, y, end int) bool {
	in, led := n.inside, n.inside.led
	if led == nil {
		return false
	}
	for i := range led.refs {
		r := &led.refs[i]
		led.at[i] = r.base.at(m.slots) + r.stride*y
	}
	if !led.spaced(c.states[0]) {
		return false
	}
	in.touchAll(c)
	m.did.Touched += len(in.refs)
	m.did.Led++
	led.start(c.states[0].shift)
	m.runs(led, c, end-y)
	return true
}
