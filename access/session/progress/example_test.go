package progress_test

import (
	"fmt"
	"os"

	"github.com/stridebench/stridebench/access/session/progress"
)

// What is over at once is not shown, and a file gets no bars.
func Example() {
	meter := progress.New(os.Stderr)
	defer meter.End()
	meter.Phase("counting 3 things", 3)
	for i := range 3 {
		fmt.Println("thing", i)
		meter.Step(1)
	}
	// Output:
	// thing 0
	// thing 1
	// thing 2
}
