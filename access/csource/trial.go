package csource

import (
	"slices"

	"modernc.org/cc/v4"

	"github.com/stridebench/stridebench/layouts/nest"
)

// paces finds the paths of walkers in a loop, by building what an iteration does for nothing: once with symbols for what they are in
// front of it, and for those that have no pace then, with their values, until these come again.
func (b *builder) paces(h *header, l *nest.Loop) *Error {
	defer b.settle(h)
	if h.find(b); len(h.paths) == 0 {
		return nil
	}
	t := trial{builder: b, header: h, loop: l, values: make([][]walker, len(h.paths)), dropped: make([]bool, len(h.paths))}
	given := b.written[h.node].given
	for i, p := range h.paths {
		if isPointer(p.v) && given[p.v] {
			t.values[i] = []walker{p.from}
		}
	}
	for {
		if again, err := t.turns(); err != nil || !again {
			return err
		}
	}
}

// settle says of paths whether they go round, where that is not by few values, and where the loop is left early that none is lost by it.
func (b *builder) settle(h *header) {
	for i := range h.paths {
		p := &h.paths[i]
		few := p.round != nil && (p.from.points() || len(p.round) <= maxWraps)
		if found := *p; (p.lost != nil || p.round != nil) && !few && found.goesRound(maxLoops+b.symbols+i) && b.entersRing(found) {
			*p = found
			p.round = nil
		}
		p.lost = h.orApart(p.lost)
	}
}

// A trial is the iterations of a loop that are built for nothing.
type trial struct {
	builder *builder
	header  *header
	loop    *nest.Loop

	values  [][]walker // of each path that is tried with its values, those in front of one iteration after the other; else nil
	dropped []bool     // paths of which nothing is found out
	first   []path     // what is known of any values
	failed  *Error     // of an iteration with symbols
}

// maxRound is after how many iterations values come again at most.
const maxRound = 12

// turns builds iterations until the values in front of one come again, and tells whether it has to begin anew, with more paths that are
// tried with their values, or dropped.
func (t *trial) turns() (again bool, err *Error) {
	for i, v := range t.values {
		if t.values[i] = v[:min(len(v), 1)]; t.dropped[i] {
			t.values[i] = nil
		}
	}
	if !t.byValues() && t.first != nil {
		t.header.paths = t.first
		return false, nil
	} else if !t.byValues() && t.failed != nil {
		return false, t.failed
	}
	for turn := range maxRound + 1 {
		end, assumed, err := t.builder.tried(t.header, t.loop, func(i int) walker { return t.begins(i, turn) })
		if err != nil {
			return t.fails(err)
		}
		symbolic := !t.byValues()
		again, back := t.learn(end, assumed, turn)
		if symbolic && t.first == nil {
			t.first = slices.Clone(t.header.paths)
		}
		switch {
		case again:
			return true, nil
		case back:
			t.keep(turn)
			return false, nil
		}
	}
	t.drop()
	return true, nil
}

// byValues tells whether some path is tried with its values.
func (t *trial) byValues() bool {
	return slices.ContainsFunc(t.values, func(v []walker) bool { return v != nil })
}

// begins is what path i is in front of an iteration.
func (t *trial) begins(i, turn int) walker {
	switch p := t.header.paths[i]; {
	case t.dropped[i]:
		return walker{lost: p.lost}
	case t.values[i] != nil:
		return t.values[i][turn]
	default:
		return p.from.to(piece{affine: nest.Variable(maxLoops + t.builder.symbols + i)})
	}
}

// fails says what follows where an iteration cannot be built: of what a symbol cannot be, such as a divisor, it is tried with values.
func (t *trial) fails(err *Error) (again bool, _ *Error) {
	switch {
	case err.below > 0:
		return false, err
	case t.first != nil:
		t.header.paths = t.first
		return false, nil
	case t.failed != nil:
		return false, t.failed
	}
	for i, p := range t.header.paths {
		if !t.dropped[i] {
			t.values[i] = []walker{p.from}
		}
	}
	copied := *err
	copied.apart = append(slices.Clip(err.apart), apart{t.header.node})
	t.failed = &copied
	return true, nil
}

// learn takes from an iteration what walkers are behind it, and tells whether some path has to be tried otherwise, and whether all values are
// those in front of the first iteration.
func (t *trial) learn(end map[*cc.Declarator]walker, assumed []assumption, turn int) (again, back bool) {
	back = true
	for i := range t.header.paths {
		p := &t.header.paths[i]
		switch {
		case t.dropped[i]:
		case t.values[i] == nil:
			pace := p.pace
			p.assumed = assumed
			if p.measure(end, maxLoops+t.builder.symbols+i); p.lost == nil && turn > 0 && p.pace != pace {
				p.lose(lostPace)
			}
			if p.lost != nil {
				t.values[i], again = []walker{p.from}, true
			}
		default:
			w, known := end[p.v]
			if known && w.lost == nil && !t.builder.changesInside(w) {
				t.values[i] = append(t.values[i], w)
				back = back && w.equals(p.from)
				continue
			}
			if p.lost == nil {
				if p.lose(lostAnew); w.lost != nil {
					p.lost = w.lost
				}
			}
			t.dropped[i], again = true, true
		}
	}
	return again, back
}

// keep keeps the values in front of the iterations up to a turn as those that come again and again.
func (t *trial) keep(turn int) {
	for i, v := range t.values {
		if v != nil {
			t.header.paths[i].round, t.header.paths[i].lost = v[:turn+1], nil
		}
	}
}

// drop drops the paths whose values do not come again, or all if there is none whose do not.
func (t *trial) drop() {
	one := false
	for i, list := range t.values {
		if list != nil && !slices.ContainsFunc(list[1:], t.header.paths[i].from.equals) {
			t.dropped[i], one = true, true
		}
	}
	for i, list := range t.values {
		t.dropped[i] = t.dropped[i] || !one && list != nil
		if p := &t.header.paths[i]; t.dropped[i] && p.lost == nil {
			p.lose(lostAnew)
		}
	}
}
