package access

import (
	"fmt"
	"os"
	"testing"
	"unsafe"
)

// TestPages: small pages are the system's, whatever their size.
func TestPages(t *testing.T) {
	for _, p := range []Pages{PagesSmall, PagesTHP, PagesHuge} {
		if size := p.Size(); size < os.Getpagesize() || size&(size-1) != 0 {
			t.Errorf("%s have %d B", p, size)
		}
	}
	small := fmt.Sprintf("%dk", os.Getpagesize()>>10)
	if got := PagesSmall.String(); got != small {
		t.Errorf("small pages are %s, want %s", got, small)
	}
	mem := newArena(100)
	if at := uintptr(unsafe.Pointer(&mem[0])); at%uintptr(os.Getpagesize()) != 0 {
		t.Errorf("an arena is at %#x, which is in the middle of a page", at)
	}
}
