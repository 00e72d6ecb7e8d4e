package compiled

import (
	"cmp"
	"path/filepath"
	"slices"
)

// An arranger gives arrays new addresses.
type arranger struct {
	Arrangement
	next uint64
}

func newArranger(a *Arrangement) *arranger {
	if a == nil {
		return nil
	}
	return &arranger{*a, a.Origin}
}

// place returns where an array of some bytes goes.
func (a *arranger) place(size uint64) uint64 {
	at := a.next
	a.next = (at + size + a.Align - 1) / a.Align * a.Align
	return at
}

// arrangeGlobals places the arrays of the file, and hides its other variables.
func (d *decoder) arrangeGlobals() {
	all := slices.Clone(d.program.globals)
	slices.SortStableFunc(all, func(a, b global) int { return cmp.Compare(a.order, b.order) })
	for _, g := range all {
		if g.order == 0 { // of a library
			continue
		}
		p := placed{span: span{g.from + d.program.bias, g.size}, object: d.objects.named(g.name)}
		if g.array {
			p.move = d.arrange.place(g.size) - p.from
		} else {
			p.hidden = true
		}
		if g.from != 0 {
			d.objects.put(p)
		}
	}
}

// arrangeParameter places what a driver allocated, and reports whether it did.
func (d *decoder) arrangeParameter(s span, by Place) bool {
	names := d.arrange.Parameters
	if filepath.Base(by.File) != ParameterFile || by.Line < 1 || by.Line > len(names) {
		return false
	}
	d.objects.changed++
	d.objects.put(placed{span: s, object: d.objects.named(names[by.Line-1]),
		move: d.arrange.place(s.size) - s.from})
	return true
}

// lineCode returns the code of a region.
func (p *Program) lineCode(r Region) (spans []span) {
	for i, e := range p.lines[:max(len(p.lines)-1, 0)] {
		if filepath.Base(e.file) != r.File || e.line < r.From || e.line > r.To {
			continue
		}
		next := p.lines[i+1].addr
		if n := len(spans); n > 0 && spans[n-1].end() == e.addr {
			spans[n-1].size = next - spans[n-1].from
		} else if next > e.addr {
			spans = append(spans, span{e.addr, next - e.addr})
		}
	}
	return spans
}
