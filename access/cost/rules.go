package cost

import (
	_ "embed"
	"encoding/json"
	"sync"
)

// Rules are the constants that hold on all machines. Instructions are in units of Times.Hit, which
// is 4 or 5 cycles everywhere.
type Rules struct {
	// a start of the innermost loop, of the loop around it, and of a nest
	Row, Block, Walk float64
	SumRow, SumWalk  float64 // Row and Walk of a sum
	// an access of one element in a compiled C++ loop (Model.Vectors)
	Compiled float64
	// Overlap is the order of the norm of loop and memory (see together).
	Overlap  float64
	InFlight float64 // loads in flight at once
	// iterations that the CPU looks ahead of loads, and of stores, which also wait after they
	// retire
	Window, Pending float64
}

// Parts are further rules that can be left out to measure their worth.
var Parts = []string{"bursts", "rows", "sets-beside", "lost", "loops-stream", "served"}

func (m Model) has(part string) bool { return m.Without != part }

// A Fit is a set of rules with its cross-validated errors. Each family of patterns is predicted by
// rules fitted to the other families.
type Fit struct {
	Rules    Rules
	All      FitError   // of all machines
	Kinds    []FitError // by kind of pattern, of all machines
	Machines []FitOf
}

// A FitOf is the prediction error on one machine.
type FitOf struct {
	When     string // day, CPU and load of the measurement
	All      FitError
	Unseen   FitError // by rules fitted to the other machines alone
	Families []FitError
}

// A FitError is the prediction error over some patterns.
type FitError struct {
	Name     string
	Patterns int
	// the median error and its 90th percentile, as shares of the measured time
	Median, Tenth float64
	Rank          float64 // Spearman's rank correlation of times per element
}

//go:embed fitted.json
var fitted []byte

// Fitted returns the default rules, which scripts/fit writes.
var Fitted = sync.OnceValue(func() *Fit {
	f := &Fit{}
	if err := json.Unmarshal(fitted, f); err != nil {
		panic(err) // the file is part of the program
	}
	return f
})

func (m Model) rules() *Rules {
	if m.Rules != nil {
		return m.Rules
	}
	return &Fitted().Rules
}
