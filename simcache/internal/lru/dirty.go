package lru

// Dirty is how many lines of a level are dirty; nothing may wait.
func (c *Chain) Dirty(level int) (sum uint64) {
	l := &c.levels[level]
	if l.wide != nil {
		for _, tag := range l.wide {
			sum += tag & 1
		}
		return sum
	}
	for set := range int(l.sets) {
		for _, tag := range l.narrow(set) {
			sum += uint64(tag & 1)
		}
	}
	return sum
}
