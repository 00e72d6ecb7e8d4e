package access

import (
	"errors"
	"runtime"
	"syscall"
	_ "unsafe" // for go:linkname
)

// pin locks the goroutine to its thread and asks for a performance core. macOS cannot pin a thread
// to a CPU, so pinned is -1. The thread's class of service selects the kind of core (sys/qos.h).
func pin(int) (pinned int, undo func()) {
	runtime.LockOSThread()
	setClass(userInteractive)
	return -1, func() {
		setClass(byDefault)
		runtime.UnlockOSThread()
	}
}

// pinThread asks for a performance core, as pin does.
func pinThread(int) error {
	setClass(userInteractive)
	return errors.ErrUnsupported
}

// Classes of sys/qos.h: of work that a user waits for, which macOS keeps off efficiency cores if
// possible, and of threads without a class.
const (
	userInteractive = 0x21
	byDefault       = 0x15
)

// setClass sets the class of the calling thread, if it can.
func setClass(class uintptr) { _, _, _ = call(classTrampoline, class, 0, 0) }

// call calls a C function of libSystem without cgo, as golang.org/x/sys/unix does.
//
//go:linkname call syscall.syscall
func call(fn, a1, a2, a3 uintptr) (r1, r2 uintptr, err syscall.Errno)

// classTrampoline is the address of a jump to pthread_set_qos_class_self_np (pin_darwin.s). The
// function takes a class and a priority within it.
var classTrampoline uintptr

//go:cgo_import_dynamic libc_pthread_set_qos_class_self_np pthread_set_qos_class_self_np "/usr/lib/libSystem.B.dylib"
