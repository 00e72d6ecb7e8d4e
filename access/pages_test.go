package access

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"unsafe"
)

// TestPages: small pages are the system's, whatever their size, and read back.
func TestPages(t *testing.T) {
	for _, p := range []Pages{PagesSmall, PagesTHP, PagesHuge} {
		if got, err := ParsePages(p.String()); got != p || err != nil {
			t.Errorf("%s is read as %s, %v", p, got, err)
		}
		if size := p.Size(); size < os.Getpagesize() || size&(size-1) != 0 {
			t.Errorf("%s have %d B", p, size)
		}
	}
	small := fmt.Sprintf("%dk", os.Getpagesize()>>10)
	if got := PagesSmall.String(); got != small {
		t.Errorf("small pages are %s, want %s", got, small)
	}
	if _, err := ParsePages("2k"); err == nil || !strings.Contains(err.Error(), small+", thp, hugetlb") {
		t.Errorf("pages of 2k: %v", err)
	}
	mem := newArena(100)
	if at := uintptr(unsafe.Pointer(&mem[0])); at%uintptr(os.Getpagesize()) != 0 {
		t.Errorf("an arena is at %#x, which is in the middle of a page", at)
	}
}
