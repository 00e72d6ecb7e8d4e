package counters

import (
	"errors"
	"io/fs"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// open opens counters on the thread of the test, or skips it where the system
// call is forbidden.
func open(t *testing.T, events ...Event) (Reader, []missing) {
	runtime.LockOSThread()
	t.Cleanup(runtime.UnlockOSThread)
	r, missing, err := openEvents(events...)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, unix.ENOSYS) {
		t.Skipf("perf_event_open is forbidden here: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r, missing
}

// touch writes to so many fresh pages.
func touch(t *testing.T, pages int) {
	size := unix.Getpagesize()
	mem, err := unix.Mmap(-1, 0, pages*size, unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	_ = unix.Madvise(mem, unix.MADV_NOHUGEPAGE) // a kernel that knows no huge pages gives none
	for i := 0; i < len(mem); i += size {
		mem[i] = 1
	}
	if err := unix.Munmap(mem); err != nil {
		t.Fatal(err)
	}
}

// TestPageFaults: 256 fresh pages are 256 page faults, and what happens between
// Stop and Start is not counted. The runtime may take a fault of its own, so the
// fewest of a few tries count.
func TestPageFaults(t *testing.T) {
	r, missing := open(t, pageFaults)
	if len(missing) > 0 || len(r.Events()) != 1 || r.Events()[0] != pageFaults {
		t.Fatalf("counts %v, misses %v", r.Events(), missing)
	}
	fewest := 1e9
	for range 5 {
		if err := r.Start(); err != nil {
			t.Fatal(err)
		}
		touch(t, 256)
		values, err := r.Stop()
		if err != nil {
			t.Fatal(err)
		}
		fewest = min(fewest, values[0])
		touch(t, 100)
	}
	if fewest != 256 {
		t.Errorf("256 fresh pages are %v page faults", fewest)
	}
}

// TestAbsent: an event that is not there is missing, with its error, and the
// others are counted all the same. Where the CPU has counters, a loop of a
// million steps is a million instructions at least.
func TestAbsent(t *testing.T) {
	r, missing := open(t, Instructions, pageFaults)
	if err := r.Start(); err != nil {
		t.Fatal(err)
	}
	touch(t, 16)
	sum := 0
	for i := range 1_000_000 {
		sum += i ^ sum
	}
	runtime.KeepAlive(sum)
	values, err := r.Stop()
	if err != nil {
		t.Fatal(err)
	}
	if len(missing) == 0 {
		if values != nil && (values[0] < 1e6 || values[1] < 16) {
			t.Errorf("%v of %v", values, r.Events())
		}
		return
	}
	if len(missing) != 1 || missing[0].event != Instructions || missing[0].err == nil ||
		len(values) != 1 || values[0] < 16 {
		t.Errorf("counts %v as %v, misses %v", r.Events(), values, missing)
	}
}

// TestNone: where all are missing, the error is that of the first.
func TestNone(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	r, missing, err := openEvents(hardware...)
	if err == nil {
		if len(r.Events())+len(missing) != len(hardware) {
			t.Errorf("counts %v, misses %v", r.Events(), missing)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		return
	}
	if len(missing) != len(hardware) || !errors.Is(err, missing[0].err) {
		t.Errorf("%v, %v", missing, err)
	}
}
