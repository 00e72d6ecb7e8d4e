//go:build !amd64

package lookup

const hasAVX2 = false

// filter looks refs up, in order, and appends to out what goes on to the next
// level; see filterGo.
func (l *rows) filter(refs, out []uint64) int { return l.filterGo(refs, out) }
