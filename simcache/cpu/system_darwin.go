package cpu

import (
	"encoding/binary"

	"golang.org/x/sys/unix"
)

func thisSystem() system {
	return system{sysctl: sysctlNumber, topology: cpuidTopology(), cpuid: cpuidLeaves()}
}

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
