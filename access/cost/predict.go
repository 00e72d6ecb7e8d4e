package cost

import (
	"math"
	"slices"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/simcache"
)

// A Model is a machine's times and the caches that are simulated.
type Model struct {
	Times  Times
	Caches simcache.Config // of which sizes, ways and lines count, all LRU
	// Window is the number of accesses up to which a nest is simulated whole (see
	// Count), at least LeastWindow; 0 is DefaultWindow. A smaller one is faster, and
	// what it counts says less of large nests.
	Window int
	Rules  *Rules // what is alike on all machines; nil for those that scripts/fit found
	// Without is a rule of Parts that is left out; "" for none.
	Without string
	// Vectors says that loops are those of PyTorch, whatever the kernel of the pattern:
	// in vectors of 32 bytes where elements lie side by side, and what a C++ compiler
	// makes of them elsewhere.
	Vectors bool
	// Threads is how many threads are to share each pattern that is made to be priced,
	// such as those of a bill; 0 is one. Prices go by the parts of a pattern.
	Threads int

	// Of one thread of several, see among: how many have a portion of the last level each,
	// which is what Caches have, and the levels as they are.
	sharers int
	busy    float64 // see Times.busy; 0 is 1
	levels  []simcache.Level
}

// A Prediction is what a pass over a pattern takes.
type Prediction struct {
	Ns           float64
	Loop, Memory float64 // ns of each, were there no other
	Tensors      []Tensor
}

// A Tensor is what the accesses to one tensor cost.
type Tensor struct {
	Name   string
	Refs   float64
	Levels []float64 // misses of each level of the caches
	TLB    []float64 // and of the TLB
	Lines  []float64 // ns for the lines that each level missed and the next one had
	Walks  float64   // ns for the misses of the TLB
	Stride Stride    // of the larger part of its lines
}

// Ns is all that a tensor costs beyond the loop.
func (t Tensor) Ns() float64 {
	sum := t.Walks
	for _, ns := range t.Lines {
		sum += ns
	}
	return sum
}

// Missed is how often all tensors missed level i.
func (p Prediction) Missed(i int) float64 {
	sum := 0.0
	for _, t := range p.Tensors {
		sum += t.Levels[i]
	}
	return sum
}

// Walked is how often all tensors missed the last level of the TLB.
func (p Prediction) Walked() float64 {
	sum := 0.0
	for _, t := range p.Tensors {
		if last := len(t.TLB) - 1; last >= 0 {
			sum += t.TLB[last]
		}
	}
	return sum
}

// Predict simulates a pass over the pattern in the steady state and prices it.
func (m Model) Predict(p access.Pattern) (Prediction, error) {
	if p.Ring != nil && len(m.Caches.Levels) > 0 {
		return m.chase(p), nil
	}
	if p.Parts() != nil {
		return m.shared(p)
	}
	walks, err := m.Count(p)
	if err != nil {
		return Prediction{}, err
	}
	return m.Price(p, walks), nil
}

// chase is what a pointer chase takes: the latency of the first level that has
// all its lines, and of the translation, since no load begins before the one
// before it is done. A ring that is longer than a level misses it at every step,
// as under LRU.
func (m Model) chase(p access.Pattern) Prediction {
	var sum Prediction
	steps := float64(len(p.Ring))
	sum.Loop = steps * m.Times.Hit
	t := sum.tensor("x", m.Caches)
	t.Refs, t.Stride = steps, Stride{Far: 1, loop: -1}
	at, size := m.Times.Hit, p.Spec.DType.Size()
	counts := map[int]int{} // by size of a block
	touched := func(block int) int {
		if _, known := counts[block]; !known {
			counts[block] = distinct(p.Ring, size, block)
		}
		return counts[block]
	}
	for i, l := range m.Caches.Levels {
		if lines := touched(l.Line); lines > l.Size/l.Line {
			from := m.serving(i)
			share, known := m.missing(i, float64(lines*l.Line))
			if !known {
				share = 1
			}
			t.Levels[i] = steps * share
			t.Lines[i] = t.Levels[i] * max(from.Latency-at, 0)
			at = max(at, from.Latency)
		}
	}
	for i, l := range m.Caches.TLB {
		if touched(l.Page) > l.Entries {
			t.TLB[i] = steps
			t.Walks = steps * m.Times.Walks[min(i, len(m.Times.Walks)-1)]
		}
	}
	sum.Memory = t.Ns()
	sum.Ns = sum.Loop + sum.Memory
	return sum
}

// distinct is how many blocks elements of so many bytes at these places touch.
func distinct(places []uint32, size, block int) int {
	seen := make([]bool, int(slices.Max(places))*size/block+1)
	count := 0
	for _, at := range places {
		if b := int(at) * size / block; !seen[b] {
			seen[b] = true
			count++
		}
	}
	return count
}

// Price is what walks of the pattern's nests take that missed so often.
func (m Model) Price(p access.Pattern, walks []Counted) Prediction {
	var sum Prediction
	for _, w := range walks {
		loop, swaps := m.loop(p, w.Nest), m.swaps(w.Nest)
		memory, bursts := m.memory(&sum, w, p)
		sum.Loop += loop + swaps
		sum.Ns += together(loop, memory-bursts, m.rules().Overlap) + bursts + swaps
	}
	return sum
}

// tensor is the part of a prediction that is about a tensor.
func (p *Prediction) tensor(name string, c simcache.Config) *Tensor {
	for i := range p.Tensors {
		if p.Tensors[i].Name == name {
			return &p.Tensors[i]
		}
	}
	p.Tensors = append(p.Tensors, Tensor{Name: name, Levels: make([]float64, len(c.Levels)),
		TLB: make([]float64, len(c.TLB)), Lines: make([]float64, len(c.Levels))})
	return &p.Tensors[len(p.Tensors)-1]
}

// Lines is the ns of lines of a stream that each level missed so often.
func (m Model) Lines(misses []float64) (ns float64) {
	for i, missed := range misses {
		if i+1 < len(misses) {
			missed -= misses[i+1]
		}
		ns += max(missed, 0) * m.serving(i).Line
	}
	return ns
}

// Error is how far a prediction is off a measured time, as a share of it.
func Error(predicted, measured float64) float64 { return math.Abs(predicted-measured) / measured }

// together is what a loop and its memory take, of which either may run ahead of the other: the
// longer, if they overlap as much as can be, and a share of the shorter that grows with how alike
// they are, since then each is now and then what the other waits for. It is the norm of the two of
// that order: their sum if it is 1, the longer if it is infinite.
func together(loop, memory, overlap float64) float64 {
	long := max(loop, memory)
	if long == 0 {
		return 0
	}
	return long * math.Pow(1+math.Pow(min(loop, memory)/long, overlap), 1/overlap)
}

// beyond is what memory takes of which a loop is known to take so long together with it, at least
// nothing.
func beyond(all, loop, overlap float64) float64 {
	if all <= loop {
		return 0
	}
	return all * math.Pow(1-math.Pow(loop/all, overlap), 1/overlap)
}
