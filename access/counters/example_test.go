package counters_test

import (
	"fmt"
	"runtime"

	"github.com/stridebench/stridebench/access/counters"
)

// Count what a loop does, where the kernel has counters.
func Example() {
	open, why := counters.Hardware()
	if open == nil { // as in most virtual machines
		fmt.Println("done", why == "")
		return
	}
	// 1. Open them on the thread that runs the loop.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	reader, err := open()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer reader.Close()
	// 2. Count between Start and Stop.
	if err := reader.Start(); err != nil {
		fmt.Println(err)
		return
	}
	sum := 0
	for i := range 1000 {
		sum += i
	}
	values, err := reader.Stop()
	// 3. The values are in the order of the events that are counted.
	if err != nil || len(values) != len(reader.Events()) || sum == 0 {
		fmt.Println("not what was asked for")
	}
	fmt.Println("done", why == "")
	// Output: done false
}
