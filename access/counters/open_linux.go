package counters

import (
	"errors"
	"os"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

func (e Event) config() (kind uint32, config uint64) {
	readMisses := func(cache uint64) (uint32, uint64) {
		return unix.PERF_TYPE_HW_CACHE, cache | unix.PERF_COUNT_HW_CACHE_OP_READ<<8 |
			unix.PERF_COUNT_HW_CACHE_RESULT_MISS<<16
	}
	switch e {
	case L1DMisses:
		return readMisses(unix.PERF_COUNT_HW_CACHE_L1D)
	case LLCMisses:
		return readMisses(unix.PERF_COUNT_HW_CACHE_LL)
	case DTLBMisses:
		return readMisses(unix.PERF_COUNT_HW_CACHE_DTLB)
	case Instructions:
		return unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_INSTRUCTIONS
	case Cycles:
		return unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_CPU_CYCLES
	}
	return unix.PERF_TYPE_SOFTWARE, unix.PERF_COUNT_SW_PAGE_FAULTS
}

// A group is events that are counted together or not at all, so for the same passes.
type group struct {
	events []Event
	fds    []int // the first leads
	last   reading
	buffer []byte
}

// openEvents counts events of the calling thread, to which the caller must lock its goroutine
// (runtime.LockOSThread). Events that the CPU or kernel lacks are returned as missing. If all are
// missing, the error is the first one's.
func openEvents(events ...Event) (Reader, []missing, error) {
	g := &group{}
	var lacking []missing
	for _, e := range events {
		leader := -1
		if g.fds != nil {
			leader = g.fds[0]
		}
		kind, config := e.config()
		attr := unix.PerfEventAttr{Type: kind, Config: config,
			Size: uint32(unsafe.Sizeof(unix.PerfEventAttr{})),
			Read_format: unix.PERF_FORMAT_GROUP | unix.PERF_FORMAT_TOTAL_TIME_ENABLED |
				unix.PERF_FORMAT_TOTAL_TIME_RUNNING,
			Bits: unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv}
		if leader < 0 {
			attr.Bits |= unix.PerfBitDisabled // disables the whole group
		}
		fd, err := unix.PerfEventOpen(&attr, 0, -1, leader, unix.PERF_FLAG_FD_CLOEXEC)
		if err != nil {
			lacking = append(lacking, missing{e, err})
			continue
		}
		g.events, g.fds = append(g.events, e), append(g.fds, fd)
	}
	if g.fds == nil && lacking != nil {
		return nil, lacking, lacking[0].err
	}
	g.buffer = make([]byte, 8*(3+len(g.events)))
	var err error
	if g.last, err = g.read(); err != nil {
		return nil, lacking, errors.Join(err, g.Close())
	}
	return g, lacking, nil
}

// Events implements Reader.
func (g *group) Events() []Event { return g.events }

// Start implements Reader.
func (g *group) Start() error {
	return os.NewSyscallError("ioctl", unix.IoctlSetInt(g.fds[0], unix.PERF_EVENT_IOC_ENABLE,
		unix.PERF_IOC_FLAG_GROUP))
}

// Stop implements Reader. The kernel never resets times, so counts are differences too.
func (g *group) Stop() ([]float64, error) {
	if err := unix.IoctlSetInt(g.fds[0], unix.PERF_EVENT_IOC_DISABLE,
		unix.PERF_IOC_FLAG_GROUP); err != nil {
		return nil, os.NewSyscallError("ioctl", err)
	}
	before := g.last
	var err error
	if g.last, err = g.read(); err != nil {
		return nil, err
	}
	return g.last.since(before), nil
}

func (g *group) read() (reading, error) {
	n, err := unix.Read(g.fds[0], g.buffer)
	if err != nil {
		return reading{}, os.NewSyscallError("read", err)
	}
	return parseReading(g.buffer[:n], len(g.events))
}

// Close implements Reader.
func (g *group) Close() error {
	var all error
	for _, fd := range g.fds {
		all = errors.Join(all, unix.Close(fd))
	}
	return all
}

// paranoia returns the kernel's setting of who may count, or "" (see explain).
func paranoia() string {
	text, err := os.ReadFile("/proc/sys/kernel/perf_event_paranoid")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}
