//go:build !linux

package access

import (
	"errors"
	"fmt"
)

// mapArena allocates size bytes that start at a page boundary.
func mapArena(size int, pages Pages, nodes []int) (mem arena, free func() error, err error) {
	if nodes != nil {
		return nil, nil, fmt.Errorf("membind %v: only Linux takes memory from nodes", nodes)
	}
	if pages != PagesSmall {
		return nil, nil, fault("pages", pages, errors.New("only Linux has them"))
	}
	return newArena(size), func() error { return nil }, nil
}

func (mem arena) hugeBytes() (int, error) { return 0, nil }

func (mem arena) populate() {}
