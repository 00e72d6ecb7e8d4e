//go:build !amd64

package exact

func meet(row, heads []uint32) (missing uint64) { return meetGo(row, heads) }

func front(row []uint32, line uint32) (place int) { return frontGo(row, line) }

func moveLines(lines []uint32, movers []mover) { moveGo(lines, movers) }

func vectors(ways int) bool { return false }

func applyRows(to []uint32, e *summary, off int, missing []uint8) {}

func advanceRows(rows []uint32, line uint32, missing []uint8) (sum int) { return 0 }

func (in *inner) everyFar(c *context, left int) bool { return false }

func (s *state) bringLines(lines []uint32, ops []uint16) bool { return false }

func (s *state) sendRows(e *state, rows, heads uint64, first, off int) bool { return false }
