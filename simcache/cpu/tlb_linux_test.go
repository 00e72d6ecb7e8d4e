package cpu

import (
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// TestCPUIDWhereMeant: cpuid is asked for the TLB on the CPU that is meant, and the thread may
// run afterwards where it could before.
func TestCPUIDWhereMeant(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	affinity := func() (set unix.CPUSet) {
		if err := unix.SchedGetaffinity(0, &set); err != nil {
			t.Fatal(err)
		}
		return set
	}
	before, last, asked := affinity(), lastCPU(), 0
	s := system{cpu: last, cpuid: func(uint32, uint32) (r registers) {
		asked++
		if set := affinity(); set.Count() != 1 || !set.IsSet(last) {
			t.Error("cpuid is asked on another CPU")
		}
		return r
	}}
	if s.cpuidTLB(); asked == 0 {
		t.Error("cpuid is not asked")
	}
	if affinity() != before {
		t.Error("the thread is left where cpuid was asked")
	}
}
