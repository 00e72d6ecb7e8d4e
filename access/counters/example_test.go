package counters_test

import (
	"fmt"

	"github.com/stridebench/stridebench/access/counters"
)

// Count what a loop does, where the kernel has counters.
func Example() {
	// 1. Open what is wanted, on the thread that runs it. What this CPU or kernel
	// does not have is missing, with the reason.
	reader, missing, err := counters.Open(counters.Hardware...)
	if err != nil || len(missing) == len(counters.Hardware) {
		fmt.Println("done") // no counters here, as in most virtual machines
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
	if err != nil {
		fmt.Println(err)
		return
	}
	// 3. The values are in the order of the events that are counted.
	if len(values) != len(reader.Events()) || sum == 0 {
		fmt.Println("not what was asked for")
	}
	fmt.Println("done")
	// Output: done
}
