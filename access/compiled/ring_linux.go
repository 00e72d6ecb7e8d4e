package compiled

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The sizes in runtime/accesses.c.
const (
	ringWords  = 1 << 21
	ringPart   = 1 << 14
	ringSpans  = 2048
	ringFormat = 2
)

// A ring is the runtime's struct shared, through which a program reports its accesses.
type ring struct {
	Version     uint64
	Done        uint64        // words written in all, set when the program ends
	Taken       atomic.Uint64 // words that may be overwritten
	Published   atomic.Uint64 // words that are complete while the program runs
	Bias, Stack uint64
	Calls       uint64
	First, Last uint64
	Spans       uint64

	Span [ringSpans][2]uint64
	Word [ringWords]uint64
}

// newRing maps a ring, and returns its file for the program.
func newRing() (*ring, *os.File, error) {
	fd, err := unix.MemfdCreate("accesses", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, nil, fmt.Errorf("memory for accesses: %w", err)
	}
	file := os.NewFile(uintptr(fd), "accesses")
	const size = int(unsafe.Sizeof(ring{}))
	var memory []byte
	if err = file.Truncate(int64(size)); err == nil {
		memory, err = unix.Mmap(fd, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	}
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("memory for accesses: %w", err), file.Close())
	}
	return (*ring)(unsafe.Pointer(&memory[0])), file, nil
}

func (r *ring) unmap() error {
	return unix.Munmap(unsafe.Slice((*byte)(unsafe.Pointer(r)), unsafe.Sizeof(*r)))
}
