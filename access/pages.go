package access

import (
	"fmt"
	"slices"
	"strings"
)

// hugePage is the size that huge pages are asked for and aligned to.
const hugePage = 2 << 20

// Pages are what the memory of the tensors is made of.
type Pages uint8

// The kinds of pages. Other systems than Linux have the first only, in whatever
// size is theirs.
const (
	Pages4K   Pages = iota // the smallest that there are
	PagesTHP               // transparent huge pages, as many as the kernel gives
	PagesHuge              // reserved huge pages (hugetlb), or an error
)

var pagesNames = []string{"4k", "thp", "hugetlb"}

// String is "4k", "thp" or "hugetlb".
func (p Pages) String() string {
	if int(p) >= len(pagesNames) {
		return fmt.Sprintf("Pages(%d)", uint8(p))
	}
	return pagesNames[p]
}

// Size is the page size in bytes that the TLB is simulated with: 4 KiB, and 2 MiB
// of huge pages, whatever the kernel then gives.
func (p Pages) Size() int {
	if p == Pages4K {
		return alignment
	}
	return hugePage
}

// ParsePages reads what String writes.
func ParsePages(name string) (Pages, error) {
	if i := slices.Index(pagesNames, name); i >= 0 {
		return Pages(i), nil
	}
	return 0, fmt.Errorf("no such pages (known: %s)", strings.Join(pagesNames, ", "))
}

// Backing is what was obtained for one arena, in bytes: its size, and how much
// of it lies in huge pages. It is known once the memory was written.
type Backing struct{ Size, Huge int }
