package machines_test

import (
	"fmt"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/machines"
)

// A machine of one's own, from a description to counts.
func Example() {
	// 1. Describe it in the words of simcache.Config. File has the descriptions
	// of real machines, to copy and change.
	const text = `name: small
description: 4 KiB and 64 KiB
levels:
  - {name: L1, size: 4KiB, ways: 4, line: 64}
  - {name: L2, size: 64KiB, ways: 8, line: 64, policy: tree-plru}
tlb:
  - {entries: 16, ways: 4, page: 4KiB}
`
	// 2. Read it. An error has file, line and column, and says what would be
	// right.
	if _, err := machines.Parse("typo.yaml", []byte("levels:\n  - {size: 4KB, ways: 4, line: 64}\n")); err != nil {
		fmt.Println(err)
	}
	m, err := machines.Parse("small.yaml", []byte(text))
	if err != nil {
		fmt.Println(err)
		return
	}

	// 3. Simulate it.
	h, err := simcache.NewHierarchy(m.Config)
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range uint64(1024) { // twice over 32 KiB
		h.Access(nest.Read, i%512*64, 4)
	}
	for _, l := range h.Levels() {
		fmt.Println(m.Name, l.Name, l.Misses(), "misses of", l.Refs())
	}
	// Output:
	// typo.yaml:2:12: "4KB" is not a size (want a whole number of bytes, such as 32KiB, 1.25MiB or 4096; units: B, KiB or K, MiB or M, GiB or G)
	// small L1 1024 misses of 1024
	// small L2 512 misses of 1024
}
