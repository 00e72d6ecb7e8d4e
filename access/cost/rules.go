package cost

import (
	_ "embed"
	"encoding/json"
	"sync"
)

// Rules are what the model takes to be alike on all machines. What instructions
// take is in units of Times.Hit, which is 4 or 5 cycles everywhere.
type Rules struct {
	SumRun, SumStep                        float64 // an iteration of a sum, over elements side by side and over others
	FillRun, FillStep                      float64 // of a fill
	CopyRun, CopyStep                      float64 // of a copy
	Add                                    float64 // of an addition
	FloatSum                               float64 // by how much longer that of a sum of float32 takes, which is converted
	HalfSum, HalfAdd, BFloatSum, BFloatAdd float64 // of float16 and bfloat16, which are converted
	Row, Block, Walk                       float64 // a start of the innermost loop, of the one around it, and of all of a nest
	SumRow, SumWalk                        float64 // of a sum, Row and Walk
	Vector                                 float64 // of Times.Byte, a byte of vectors in rows
	Tile                                   float64 // a line that vectors move in transposed tiles, to and from buffers too
	Compiled                               float64 // an access of one element in a loop that a C++ compiler made (Model.Vectors)
	Overlap                                float64 // order of the norm that a loop and its memory take together: 1 if one waits for the other, infinite if neither does
	InFlight, Crowded                      float64 // loads in flight at once; in crowded sets
	Walks                                  float64 // walks of the page table at once
	Walked                                 float64 // order of the norm that lines and walks of one tensor take together, as Overlap
	Window, Pending                        float64 // iterations that the CPU looks ahead; that stores wait, also after they retired
	Queue                                  float64 // iterations that it looks ahead whose stores all wait
	Stores                                 float64 // by how much longer a far line takes that is written between reads
	Asked                                  float64 // lines of a stream that one takes at most which is not beside the last, that vectors ask for ahead
	Pairs                                  float64 // lines that memory moves for one of a stride
	Past                                   float64 // of Level.Past, a line stored past the caches
}

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
	Name          string
	Patterns      int
	Median, Tenth float64 // the error in the median, and what one in ten exceeds, as shares of the measured time
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
