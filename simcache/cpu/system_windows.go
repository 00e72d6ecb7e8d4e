package cpu

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

func thisSystem() system {
	return system{processors: processors(), topology: cpuidTopology(), cpuid: cpuidLeaves()}
}

// processors calls GetLogicalProcessorInformationEx(RelationCache), which first
// tells how many bytes it wants, and is not in package windows.
func processors() []byte {
	const relationCache = 2
	call := windows.NewLazySystemDLL("kernel32.dll").NewProc("GetLogicalProcessorInformationEx")
	if call.Find() != nil {
		return nil
	}
	var length uint32
	call.Call(relationCache, 0, uintptr(unsafe.Pointer(&length)))
	if length == 0 {
		return nil
	}
	buffer := make([]byte, length)
	if ok, _, _ := call.Call(relationCache, uintptr(unsafe.Pointer(&buffer[0])),
		uintptr(unsafe.Pointer(&length))); ok == 0 {
		return nil
	}
	return buffer[:min(int(length), len(buffer))]
}
