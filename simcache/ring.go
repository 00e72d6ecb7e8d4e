package simcache

import "github.com/stridebench/stridebench/layouts/nest"

// SteadyRing is SteadyPass for passes over single reads of size bytes at the addresses, in order.
// It returns the error of NewHierarchy.
func SteadyRing(c Config, size int, addrs []uint64) (pass Counts, err error) {
	h, err := NewHierarchy(c)
	if err != nil {
		return Counts{}, err
	}
	for range len(c.Levels) + 1 {
		before := h.Counts()
		for _, addr := range addrs {
			h.Access(nest.Read, addr, size)
		}
		pass = h.Counts().Sub(before)
	}
	return pass, nil
}
