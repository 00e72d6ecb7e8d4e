//go:build !linux

package access

import "fmt"

// mapArena allocates size bytes from a page boundary on. This system lets no
// pages be chosen.
func mapArena(size int, pages Pages) (mem arena, free func() error, err error) {
	if pages != Pages4K {
		return nil, nil, fmt.Errorf("pages %s: only Linux has them", pages)
	}
	return newArena(size), func() error { return nil }, nil
}

// backing is unknown here.
func (mem arena) backing() (Backing, error) { return Backing{Size: len(mem)}, nil }
