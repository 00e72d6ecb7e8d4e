package simcache

import "github.com/stridebench/stridebench/simcache/internal/engine"

// A Since says when the line of a reference was last touched, by any operand.
type Since string

// The times of a line's last touch.
const (
	// Never: this is the line's first touch.
	Never Since = "never"
	// ThisIteration: an earlier operand in the same iteration.
	ThisIteration Since = "this iteration"
	// ThisLoop: an earlier iteration of a loop of the nest, the outermost whose index has changed.
	ThisLoop Since = "this loop"
	// ThisPass: another nest, earlier in the same pass.
	ThisPass Since = "this pass"
	// EarlierPass: an earlier pass, run or access.
	EarlierPass Since = "earlier pass"
)

var sinces = map[engine.Since]Since{engine.Never: Never, engine.ThisIteration: ThisIteration,
	engine.ThisLoop: ThisLoop, engine.ThisPass: ThisPass, engine.EarlierPass: EarlierPass}

// A Reuse counts an operand's references that reached a level, by their line's last touch. Lines
// are first-level lines, at all levels. For a reference to two lines, the first absent one counts,
// else the lower.
type Reuse struct {
	Nest    int    `json:"nest"` // in the order in which distinct canonical nests first ran
	Operand int    `json:"operand"`
	Tensor  string `json:"tensor"`
	Since   Since  `json:"since"`
	Loop    int    `json:"loop"` // for ThisLoop: in Nest.Canonical, the outermost is 0
	Refs    uint64 `json:"refs"`
	// Misses by class (LevelCounts).
	Compulsory uint64 `json:"compulsory,omitzero"`
	Capacity   uint64 `json:"capacity,omitzero"`
	Conflict   uint64 `json:"conflict,omitzero"`
	// Lines is the reuse distance: the distinct lines touched since the last touch, including the
	// reference's own, for the first reference that missed, else the first. It is 0 for Never, and
	// if the touch is too far back.
	Lines uint64 `json:"lines,omitzero"`
}

// Misses returns the number of references that missed.
func (r Reuse) Misses() uint64 { return r.Compulsory + r.Capacity + r.Conflict }

func reusesOf(counted []engine.Reuse) (all []Reuse) {
	for _, r := range counted {
		all = append(all, Reuse{Nest: r.Nest, Operand: r.Operand, Tensor: r.Tensor,
			Since: sinces[r.Since], Loop: r.Loop, Refs: r.Refs,
			Compulsory: r.Compulsory, Capacity: r.Capacity, Conflict: r.Conflict, Lines: r.Lines})
	}
	return all
}
