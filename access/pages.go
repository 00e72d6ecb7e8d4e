package access

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// hugePage is the size that reserved huge pages are asked for and all memory is
// aligned to.
const hugePage = 2 << 20

// Pages are what the memory of the tensors is made of.
type Pages uint8

// The kinds of pages. Other systems than Linux have the first only.
const (
	// the system's: 4 KiB; 16 KiB on Apple silicon, 64 KiB on some arm64 Linuxes
	PagesSmall Pages = iota
	PagesTHP         // transparent huge pages, as many as the kernel gives
	PagesHuge        // reserved huge pages (hugetlb) of 2 MiB, or an error
)

// pagesNames are those of this system.
func pagesNames() []string {
	return []string{fmt.Sprintf("%dk", os.Getpagesize()>>10), "thp", "hugetlb"}
}

// String is "4k" ("16k" or "64k" where the system's pages are), "thp" or "hugetlb".
func (p Pages) String() string {
	if names := pagesNames(); int(p) < len(names) {
		return names[p]
	}
	return fmt.Sprintf("Pages(%d)", uint8(p))
}

// Size is the page size in bytes that the TLB is simulated with, whatever the
// kernel then gives: the system's, and for huge pages theirs.
func (p Pages) Size() int {
	switch p {
	case PagesSmall:
		return os.Getpagesize()
	case PagesTHP:
		return transparentPage()
	}
	return hugePage
}

// transparentPage is the size of transparent huge pages: as many small ones as one
// page of a page table can point to, so 2 MiB by 4 KiB, 32 MiB by 16 KiB and
// 512 MiB by 64 KiB. Linux states it (Documentation/admin-guide/mm/transhuge.rst).
var transparentPage = sync.OnceValue(func() int {
	text, _ := os.ReadFile("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size")
	if n, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil && n >= hugePage &&
		n&(n-1) == 0 {
		return n
	}
	return hugePage
})

// ParsePages reads what String writes.
func ParsePages(name string) (Pages, error) {
	if i := slices.Index(pagesNames(), name); i >= 0 {
		return Pages(i), nil
	}
	return 0, fmt.Errorf("no such pages (this system has %s)", strings.Join(pagesNames(), ", "))
}

// Backing is what was obtained for one arena, in bytes: its size, and how much
// of it lies in huge pages. It is known once the memory was written.
type Backing struct{ Size, Huge int }
