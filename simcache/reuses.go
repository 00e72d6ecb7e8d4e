package simcache

import "github.com/stridebench/stridebench/simcache/internal/engine"

// A Since says when the line of a reference was touched before, by whatever
// operand.
type Since uint8

// The times of a line's last touch.
const (
	// Never: the reference is the line's first touch.
	Never Since = Since(engine.Never)
	// ThisIteration: an operand before it in the same iteration.
	ThisIteration Since = Since(engine.ThisIteration)
	// ThisLoop: an earlier iteration of a loop of the nest, the outermost whose
	// index is another now.
	ThisLoop Since = Since(engine.ThisLoop)
	// ThisPass: another nest, earlier in the same pass.
	ThisPass Since = Since(engine.ThisPass)
	// EarlierPass: a pass before, or an earlier run or access.
	EarlierPass Since = Since(engine.EarlierPass)
)

var sinceNames = []string{"never", "this iteration", "this loop", "this pass", "earlier pass"}

// String is such as "this loop".
func (s Since) String() string { return sinceNames[s] }

// MarshalText writes String.
func (s Since) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads what MarshalText writes.
func (s *Since) UnmarshalText(text []byte) error {
	return oneOf(s, "time of a last touch", sinceNames, text)
}

// A Reuse counts the references of one operand of a nest that reached a level and
// whose line was touched last at one time. Lines are those of the first level, at
// all of them; of a reference to two, the first that is absent there counts, else
// the lower.
type Reuse struct {
	Nest    int    `json:"nest"` // in the order in which different canonical nests were first run
	Operand int    `json:"operand"`
	Tensor  string `json:"tensor"`
	Since   Since  `json:"since"`
	Loop    int    `json:"loop"` // of ThisLoop: in Nest.Canonical, the outermost is 0
	Refs    uint64 `json:"refs"`
	// Those that missed, by class (LevelCounts).
	Compulsory uint64 `json:"compulsory,omitzero"`
	Capacity   uint64 `json:"capacity,omitzero"`
	Conflict   uint64 `json:"conflict,omitzero"`
	// Lines is how many different lines were touched from the last touch on, the
	// reference's own included: of the first of them that missed, or if none did of
	// the first. It is 0 for Never, and where that is too many references ago.
	Lines uint64 `json:"lines,omitzero"`
}

// Misses is the number of the references that missed.
func (r Reuse) Misses() uint64 { return r.Compulsory + r.Capacity + r.Conflict }

// reusesOf are those that an engine counted.
func reusesOf(counted []engine.Reuse) (all []Reuse) {
	for _, r := range counted {
		all = append(all, Reuse{Nest: r.Nest, Operand: r.Operand, Tensor: r.Tensor,
			Since: Since(r.Since), Loop: r.Loop, Refs: r.Refs,
			Compulsory: r.Compulsory, Capacity: r.Capacity, Conflict: r.Conflict, Lines: r.Lines})
	}
	return all
}
