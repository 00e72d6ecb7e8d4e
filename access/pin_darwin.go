package access

import (
	"errors"
	"runtime"
	"syscall"
	_ "unsafe" // for go:linkname
)

// pin locks the goroutine to its thread, asks for a performance core, and returns
// what undoes both. macOS has no call that pins a thread to a CPU, which is -1: what
// decides between kinds of cores is the thread's class of service (sys/qos.h).
func pin(int) (pinned int, undo func()) {
	runtime.LockOSThread()
	setClass(userInteractive)
	return -1, func() {
		setClass(byDefault)
		runtime.UnlockOSThread()
	}
}

// pinThread asks for a performance core, as pin does: a thread has no CPU of its own.
func pinThread(int) error {
	setClass(userInteractive)
	return errors.ErrUnsupported
}

// Classes of sys/qos.h: that of work that a user waits for, which is kept off
// efficiency cores where it can be, and that of threads that name none.
const (
	userInteractive = 0x21
	byDefault       = 0x15
)

// setClass sets the class of the calling thread. Where it is refused, the thread
// stays what it was.
func setClass(class uintptr) { _, _, _ = call(classTrampoline, class, 0, 0) }

// call calls a C function of libSystem, as golang.org/x/sys/unix does, without cgo.
//
//go:linkname call syscall.syscall
func call(fn, a1, a2, a3 uintptr) (r1, r2 uintptr, err syscall.Errno)

// classTrampoline is the address of a jump to pthread_set_qos_class_self_np
// (pin_darwin.s), which takes the class and a priority relative to it.
var classTrampoline uintptr

//go:cgo_import_dynamic libc_pthread_set_qos_class_self_np pthread_set_qos_class_self_np "/usr/lib/libSystem.B.dylib"
