package cpu

import (
	"errors"
	"testing"

	"golang.org/x/sys/unix"
)

// TestManyCPUs: a kernel for 8192 CPUs refuses smaller sets, and is asked with larger ones; what
// it refuses otherwise, or always, is not asked for without end.
func TestManyCPUs(t *testing.T) {
	kernel := func(cpus int) func(int, unix.CPUSetDynamic) error {
		return func(_ int, set unix.CPUSetDynamic) error {
			if 64*len(set) < cpus {
				return unix.EINVAL
			}
			set.Set(5000)
			return nil
		}
	}
	if set, err := affinity(kernel(8192)); err != nil || set.Count() != 1 || !set.IsSet(5000) {
		t.Errorf("%d CPUs, %v", set.Count(), err)
	}
	if _, err := affinity(kernel(16 << 20)); !errors.Is(err, unix.EINVAL) {
		t.Error(err)
	}
	asked := 0
	if _, err := affinity(func(int, unix.CPUSetDynamic) error {
		asked++
		return unix.EPERM
	}); !errors.Is(err, unix.EPERM) || asked != 1 {
		t.Error(asked, err)
	}
}

// TestPinBeyond: a CPU that is not there is refused, and the thread may run where it could.
func TestPinBeyond(t *testing.T) {
	before := allowed()
	undo, err := RunOn(maxCPU)
	undo()
	if err == nil || len(allowed()) != len(before) {
		t.Errorf("%v, and then %v of %v", err, allowed(), before)
	}
}
