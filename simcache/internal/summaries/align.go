package summaries

import "github.com/stridebench/stridebench/layouts/nest"

// Of a loop that goes over an array whose sets turn against those of another, which rests in
// the loop and is elsewhere in the next instance, chunks from the first iteration on come again
// only when the other is where it was, modulo the sets. But in a period the two come to all
// distances that they can have. So chunks begin where that is the least: those of the next
// instance then do, too, and find these.

// fewestAligned is how many periods an instance has at least of which some iterations are left
// ahead.
const fewestAligned = 8

// head is how many iterations of an instance from y on are left ahead of its chunks, less than a
// period, so that chunks of other instances begin alike: where the first reference that turns
// against the first of all is at its least distance from that, modulo the sets. None if there
// is no such reference.
func (u *unit) head(m *machine, y int) int {
	first := &u.refs[0]
	for i := range u.refs {
		r := &u.refs[i]
		turn := m.modSpan(r.own - first.own)
		if turn == 0 {
			continue
		}
		at := m.modSpan(r.out.at(m.slots) + r.own*y - first.out.at(m.slots) - first.own*y)
		for k := range u.period {
			if at < nest.GCD(turn, m.span) {
				return k
			}
			at = m.modSpan(at + turn)
		}
	}
	return 0
}

// aligned runs those iterations, and returns where the first chunk begins: from the smallest parts
// to the largest, which are parts of chunks, too, that end where these do.
func (m *machine) aligned(n *node, c *context, y int, each float64) int {
	head := n.unit.head(m, y)
	if head > 0 {
		m.did.Aligned++
	}
	for size := 1; size <= head; size *= 2 {
		switch {
		case head&size == 0:
			continue
		case m.splits(n, each*float64(size)):
			m.stretch(n, c, y, size, true)
			m.did.Left++
		default:
			m.iterations(n, c, y, y+size, false)
		}
		y += size
	}
	return y
}
