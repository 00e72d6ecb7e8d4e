package cost

import (
	_ "embed"
	"encoding/json"
	"sync"
)

// Rules are what the model takes to be alike on all machines. What instructions
// take is in units of Times.Hit, which is 4 or 5 cycles everywhere.
type Rules struct {
	// a start of the innermost loop, of the one around it, and of all of a nest
	Row, Block, Walk float64
	SumRow, SumWalk  float64 // of a sum, Row and Walk
	// an access of one element in a loop that a C++ compiler made (Model.Vectors)
	Compiled float64
	// Overlap is the order of the norm that a loop and its memory take together: 1 if one waits for
	// the other, infinite if neither does.
	Overlap  float64
	InFlight float64 // loads in flight at once
	// iterations that the CPU looks ahead; that stores wait, also after they retired
	Window, Pending float64
}

// Parts are the rules besides those that can be left out, to see what each is worth.
var Parts = []string{"bursts", "rows", "sets-beside", "lost", "loops-stream", "served"}

// has tells whether a rule of Parts is not left out.
func (m Model) has(part string) bool { return m.Without != part }

// A Fit is rules, and how well they were found to predict: cross-validated, each
// family of patterns by rules that were fitted to the others.
type Fit struct {
	Rules    Rules
	All      FitError // of all machines
	Machines []FitOf
}

// A FitOf is how well the times of one machine are predicted.
type FitOf struct {
	When     string // day, CPU and load of the measurement
	All      FitError
	Unseen   FitError // by rules that were fitted to the other machines alone
	Families []FitError
}

// A FitError is how far predictions of some patterns are off measured times.
type FitError struct {
	Name     string
	Patterns int
	// the error in the median, and what one in ten exceeds, as shares of the measured time
	Median, Tenth float64
	Rank          float64 // Spearman's rank correlation of the times of an element
}

//go:embed fitted.json
var fitted []byte

// Fitted are the rules of every Model that has no others: scripts/fit writes them.
var Fitted = sync.OnceValue(func() *Fit {
	f := &Fit{}
	if err := json.Unmarshal(fitted, f); err != nil {
		panic(err) // the file is part of the program
	}
	return f
})

// rules are those of the model: fitted ones unless it has its own.
func (m Model) rules() *Rules {
	if m.Rules != nil {
		return m.Rules
	}
	return &Fitted().Rules
}
