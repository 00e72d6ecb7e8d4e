package simcache

// PageLevels returns the levels of a TLB as caches whose lines are pages. A hierarchy of these
// levels alone has the TLB's counts, since a TLB is independent of caches. It finds its own steady
// state.
func PageLevels(levels []TLB) []Level {
	var caches []Level
	for i, t := range levels {
		caches = append(caches, Level{Name: t.name(i), Geometry: t.geometry(), Modulo: true})
	}
	return caches
}

func (t TLB) geometry() Geometry {
	return Geometry{Size: t.Entries * t.Page, Ways: t.Ways, Line: t.Page}
}
