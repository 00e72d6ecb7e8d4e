//go:build !amd64

package summaries

func meet(row, heads []uint32) (missing uint64) { return meetGo(row, heads) }

func moveLines(lines []uint32, movers []mover, plain bool) { moveGo(lines, movers) }

func vectors(ways int) bool { return false }

func applyRows(to, tags, heads []uint32, off int, missing []uint8) {}

func marchRows(rows []uint32, line uint32, missing []uint8) (sum int) { return 0 }

func everyRow(s *state, at, strides []int, left int, out []uint64) int { return 0 }
