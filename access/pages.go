package access

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
)

// hugePage is the bytes of a reserved huge page. All memory is aligned to it.
const hugePage = 2 << 20

// Pages are the kind of pages that back the tensors.
type Pages uint8

// The kinds of pages. Only Linux has more than the first.
const (
	// the system's: 4 KiB, or 16 KiB on Apple silicon, or 64 KiB on some arm64 Linuxes
	PagesSmall Pages = iota
	PagesTHP         // transparent huge pages, as the kernel gives them
	PagesHuge        // reserved huge pages (hugetlb) of 2 MiB, or an error
)

func pagesNames() []string {
	return []string{fmt.Sprintf("%dk", os.Getpagesize()>>10), "thp", "hugetlb"}
}

// String returns "4k" (or "16k" or "64k", by the system's page size), "thp" or "hugetlb".
func (p Pages) String() string {
	if names := pagesNames(); int(p) < len(names) {
		return names[p]
	}
	return fmt.Sprintf("Pages(%d)", uint8(p))
}

// Size returns the page size in bytes of the simulated TLB, whatever pages the kernel gives.
func (p Pages) Size() int {
	switch p {
	case PagesSmall:
		return os.Getpagesize()
	case PagesTHP:
		return transparentPage()
	}
	return hugePage
}

// transparentPage is the size of transparent huge pages, which one page of a page table maps: 2 MiB
// for pages of 4 KiB, 32 MiB for 16 KiB, 512 MiB for 64 KiB
// (Documentation/admin-guide/mm/transhuge.rst).
var transparentPage = sync.OnceValue(func() int {
	text, _ := os.ReadFile("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size")
	if n, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil && n >= hugePage &&
		n&(n-1) == 0 {
		return n
	}
	return hugePage
})
