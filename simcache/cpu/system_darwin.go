package cpu

import (
	"encoding/binary"

	"golang.org/x/sys/unix"
)

func thisSystem() system {
	brand, _ := unix.Sysctl("machdep.cpu.brand_string")
	return system{sysctl: sysctlNumber, brand: brand, topology: cpuidTopology(),
		cpuid: cpuidLeaves()}
}

// sysctlNumber reads a number of 32 or 64 bits.
func sysctlNumber(name string) int {
	value, err := unix.SysctlRaw(name)
	switch {
	case err != nil:
		return 0
	case len(value) == 4:
		return int(int32(binary.NativeEndian.Uint32(value)))
	case len(value) == 8:
		return int(binary.NativeEndian.Uint64(value))
	}
	return 0
}
