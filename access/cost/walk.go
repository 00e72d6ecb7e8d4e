package cost

import "cmp"

// A Walk is the references and misses of any program's loops.
type Walk struct {
	Refs   float64
	Levels []float64 // misses per level
	// Missed is the misses of the first level. Near counts misses of accesses that the innermost
	// loop moves past a line within a page. Far counts misses of those that it moves to another
	// page.
	Missed, Near, Far float64
}

// Walked returns about how many ns a walk takes: the loop's accesses, and each line by the stride
// of the innermost loop. The lines overlap as Rules say.
func (m Model) Walked(w Walk) float64 {
	near, far := w.Near/max(w.Missed, 1), w.Far/max(w.Missed, 1)
	memory := 0.0
	for i, missed := range w.Levels {
		if i+1 < len(w.Levels) {
			missed -= w.Levels[i+1]
		}
		l := m.serving(i)
		apart := l.Latency / m.rules().InFlight
		each := (1 - near - far) * l.Line
		each += near*max(l.Line, cmp.Or(l.Near, apart)) + far*max(l.Line, apart)
		memory += max(missed, 0) * each
	}
	return together(w.Refs*m.rules().Compiled*m.hit(), memory, m.rules().Overlap)
}
