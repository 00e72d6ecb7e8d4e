//go:build !amd64

package lookup

const hasAVX2 = false

func (l *rows) filter(refs, out []uint64) int { return l.filterGo(refs, out) }
