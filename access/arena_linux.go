package access

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/stridebench/stridebench/simcache"
)

// mapArena maps size bytes on the given NUMA nodes, or on any if nodes is nil. The memory starts at
// a huge page boundary even if its pages are small. AMD predicts the way of level 1 by a hash of
// the virtual address. Pages on two sides of a high power of two can have equal hashes and evict
// each other; 8 KiB then take four times as long (Lipp et al., "Take A Way", AsiaCCS 2020).
func mapArena(size int, pages Pages, nodes []int) (mem arena, free func() error, err error) {
	page := max(hugePage, pages.Size())
	length, flags := (size+page-1)/page*page+page, unix.MAP_PRIVATE|unix.MAP_ANON
	if pages == PagesHuge {
		flags |= unix.MAP_HUGETLB | unix.MAP_HUGE_2MB
	}
	all, err := unix.Mmap(-1, 0, length, unix.PROT_READ|unix.PROT_WRITE, flags)
	if err != nil {
		return nil, nil, mapError(size, pages, err)
	}
	free = func() error { return unix.Munmap(all) }
	if err := takeFrom(all, nodes); err != nil {
		return nil, nil, errors.Join(err, free())
	}
	if pages == PagesHuge {
		return all[:size:size], free, nil
	}
	advice := unix.MADV_NOHUGEPAGE
	if pages == PagesTHP {
		advice = unix.MADV_HUGEPAGE
	}
	// A kernel without huge pages returns EINVAL; hugeBytes then returns no huge pages.
	if err := unix.Madvise(all, advice); err != nil && !errors.Is(err, unix.EINVAL) {
		return nil, nil, errors.Join(mapError(size, pages, err), free())
	}
	start := -uintptr(unsafe.Pointer(unsafe.SliceData(all))) % uintptr(page)
	return all[start:][:size:size], free, nil
}

// takeFrom binds an untouched mapping to NUMA nodes (mbind(2) with MPOL_BIND).
func takeFrom(mem []byte, nodes []int) error {
	if nodes == nil {
		return nil
	}
	const mpolBind = 2
	mask := make([]uint64, slices.Max(nodes)/64+1)
	for _, n := range nodes {
		mask[n/64] |= 1 << (n % 64)
	}
	// The kernel reads one bit less than maxnode.
	_, _, errno := unix.Syscall6(unix.SYS_MBIND, uintptr(unsafe.Pointer(unsafe.SliceData(mem))),
		uintptr(len(mem)), mpolBind,
		uintptr(unsafe.Pointer(unsafe.SliceData(mask))), uintptr(64*len(mask)+1), 0)
	if errno != 0 {
		return fmt.Errorf("membind %s: mbind: %w (want nodes that have memory, and a container "+
			"that allows the call)", listed(nodes), errno)
	}
	return nil
}

// populate has the kernel touch all pages on the node of this thread (MADV_POPULATE_WRITE, since
// Linux 5.14). On a virtual machine this takes 0.5 us a page instead of 11.7 us. Older kernels
// allocate pages on first touch.
func (mem arena) populate() { _ = unix.Madvise(mem, unix.MADV_POPULATE_WRITE) }

func mapError(size int, pages Pages, err error) error {
	if pages == PagesHuge && errors.Is(err, unix.ENOMEM) {
		return fault("pages", pages, fmt.Errorf(
			"%s cannot be had: reserve huge pages by vm.nr_hugepages, each %d MiB",
			simcache.Bytes((size+hugePage-1)/hugePage*hugePage), hugePage>>20))
	}
	return fault("pages", pages, fmt.Errorf("mapping %s: %w", simcache.Bytes(size), err))
}

// hugeBytes returns the bytes of written memory that lie in huge pages. Without /proc, as in a
// chroot, they are unknown and 0.
func (mem arena) hugeBytes() (int, error) {
	f, err := os.Open("/proc/self/smaps")
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer f.Close()
	huge, err := hugeBytes(f, uintptr(unsafe.Pointer(unsafe.SliceData(mem))))
	return min(huge, len(mem)), err
}

// hugeBytes reads the bytes in huge pages of the mapping that contains addr.
func hugeBytes(text io.Reader, addr uintptr) (int, error) {
	lines := bufio.NewScanner(text)
	inside, size, huge := false, 0, 0
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) == 0 {
			continue
		}
		if from, to, ok := strings.Cut(fields[0], "-"); ok { // the head of a mapping
			if inside {
				break
			}
			low, err1 := strconv.ParseUint(from, 16, 64)
			high, err2 := strconv.ParseUint(to, 16, 64)
			inside = err1 == nil && err2 == nil && uint64(addr) >= low && uint64(addr) < high
			continue
		}
		if !inside || len(fields) < 2 {
			continue
		}
		kib, err := strconv.Atoi(fields[1])
		switch {
		case err != nil:
		case fields[0] == "Size:":
			size = kib << 10
		case fields[0] == "AnonHugePages:":
			huge += kib << 10
		case fields[0] == "KernelPageSize:" && kib<<10 >= hugePage:
			huge = size
		}
	}
	return huge, lines.Err()
}
