package access

import (
	"strings"
	"testing"
	"unsafe"
)

// smaps is what the kernel says of three mappings: reserved huge pages, two
// transparent ones, and none.
const smaps = `7f0000000000-7f0000400000 rw-p 00000000 00:0f 1 /anon_hugepage (deleted)
Size:               4096 kB
KernelPageSize:     2048 kB
AnonHugePages:         0 kB
VmFlags: rd wr mr mw me de ht sd
7f0001000000-7f0001600000 rw-p 00000000 00:00 0
Size:               6144 kB
KernelPageSize:        4 kB
AnonHugePages:      4096 kB
7f0001600000-7f0001700000 rw-p 00000000 00:00 0
Size:               1024 kB
KernelPageSize:        4 kB
AnonHugePages:         0 kB
`

func TestHugeBytes(t *testing.T) {
	for addr, want := range map[uintptr]int{
		0x7f0000000000: 4 << 20,
		0x7f00003fffff: 4 << 20,
		0x7f0000400000: 0, // of no mapping
		0x7f0001200000: 4 << 20,
		0x7f0001600000: 0,
	} {
		if got, err := hugeBytes(strings.NewReader(smaps), addr); got != want || err != nil {
			t.Errorf("%#x: %d B in huge pages, %v; want %d", addr, got, err, want)
		}
	}
}

func TestMapArena(t *testing.T) {
	for _, pages := range []Pages{PagesSmall, PagesTHP, PagesHuge} {
		const size = 5<<20 + 123
		mem, free, err := mapArena(size, pages, nil)
		if err != nil {
			if pages != PagesHuge || !strings.Contains(err.Error(), "pages hugetlb: ") {
				t.Errorf("%s: %v", pages, err)
			}
			continue // none are reserved
		}
		align := uintptr(max(pages.Size(), hugePage))
		if at := uintptr(unsafe.Pointer(&mem[0])); len(mem) != size || at%align != 0 {
			t.Errorf("%s: %d B at %#x", pages, len(mem), at)
		}
		for i := range mem {
			mem[i] = 1
		}
		huge, err := mem.hugeBytes()
		if err != nil || huge < 0 || huge > size {
			t.Errorf("%s: %d, %v", pages, huge, err)
		}
		if pages == PagesSmall && huge != 0 {
			t.Errorf("small pages were asked for, %d B are in huge ones", huge)
		}
		if err := free(); err != nil {
			t.Errorf("%s: %v", pages, err)
		}
	}
}

// TestMemoryOfHugePages: of these each measurement has its own, since it says how many it got.
func TestMemoryOfHugePages(t *testing.T) {
	var m Memory
	defer m.Close()
	small, _, err := m.lend(4<<20, false, Options{})
	if err != nil {
		t.Fatal(err)
	}
	huge, free, err := m.lend(4<<20, false, Options{Pages: PagesTHP})
	if err != nil {
		t.Fatal(err)
	}
	if &huge[0] == &small[0] || &m.mem[0] != &small[0] {
		t.Error("huge pages are lent of small ones, or kept")
	}
	if err := free(); err != nil {
		t.Error(err)
	}
}
