package compiled

import (
	"fmt"
	"os"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The sizes of runtime.c.
const (
	ringWords  = 1 << 21
	ringPart   = 1 << 14
	ringSpans  = 2048
	ringFormat = 2
)

// A ring is the memory that a program reports its accesses through; the runtime's struct shared.
type ring struct {
	Version, Done, Taken, Published, Bias, Stack, Calls, First, Last, Spans uint64

	Span [ringSpans][2]uint64
	Word [ringWords]uint64
}

// newRing maps a ring, and returns the file that a program maps it from.
func newRing() (*ring, *os.File, error) {
	fd, err := unix.MemfdCreate("accesses", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, nil, fmt.Errorf("memory for accesses: %w", err)
	}
	file := os.NewFile(uintptr(fd), "accesses")
	size := int(unsafe.Sizeof(ring{}))
	if err := file.Truncate(int64(size)); err != nil {
		file.Close()
		return nil, nil, err
	}
	memory, err := unix.Mmap(fd, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		file.Close()
		return nil, nil, fmt.Errorf("memory for accesses: %w", err)
	}
	return (*ring)(unsafe.Pointer(&memory[0])), file, nil
}

// unmap gives the memory back.
func (r *ring) unmap() error {
	return unix.Munmap(unsafe.Slice((*byte)(unsafe.Pointer(r)), unsafe.Sizeof(*r)))
}

// written is up to where words are whole while the program runs.
func (r *ring) written() uint64 { return atomic.LoadUint64(&r.Published) }

// take gives words up to here back to the program.
func (r *ring) take(to uint64) { atomic.StoreUint64(&r.Taken, to) }
