package compiled

import "path/filepath"

func (a *Arrangement) place(size uint64) uint64 {
	at := a.Origin
	a.Origin = (at + size + a.Align - 1) / a.Align * a.Align
	return at
}

// arrangeParameter places an array if a driver allocated it, and reports whether one did.
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

func (p *Program) lineCode(r Region) (spans []span) {
	for i, e := range p.lines {
		if filepath.Base(e.at.File) != r.File || e.at.Line < r.From || e.at.Line > r.To {
			continue
		}
		spans = append(spans, span{e.addr, p.lines[i+1].addr - e.addr})
	}
	return spans
}
