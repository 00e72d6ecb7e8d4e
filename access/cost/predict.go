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
	Caches simcache.Config // sizes, ways and lines count; all are LRU
	// Window is the most accesses of a nest that is simulated whole (see Count), at least
	// LeastWindow; 0 means DefaultWindow. A smaller window is faster and less accurate.
	Window int
	Rules  *Rules // nil for those that scripts/fit found
	// Without is a rule of Parts to leave out; "" for none.
	Without string
	// Vectors prices the loops of PyTorch, whatever the pattern's kernel: vectors of 32 bytes where
	// elements are adjacent, and compiled C++ elsewhere.
	Vectors bool
	// Threads is how many threads share each pattern that a caller makes to be priced, such as the
	// patterns of a bill. 0 means one. Price itself goes by the parts of a pattern.
	Threads int

	// For one thread of several (see among): sharers is how many threads divide the last level.
	// Caches have one thread's portion, and levels the undivided levels.
	sharers int
	busy    float64 // see Times.busy; 0 is 1
	levels  []simcache.Level
}

// A Prediction is the predicted time of a pass over a pattern.
type Prediction struct {
	Ns           float64
	Loop, Memory float64 // ns of each alone
	Tensors      []Tensor
}

// A Tensor is the cost of the accesses to one tensor.
type Tensor struct {
	Name   string
	Refs   float64
	Levels []float64 // misses per level
	TLB    []float64 // misses per TLB level
	Lines  []float64 // ns per level of lines that it missed and the next level hit
	Walks  float64   // ns of TLB misses
	Stride Stride    // of most of its lines
}

// Ns returns the ns that a tensor costs beyond the loop.
func (t Tensor) Ns() float64 {
	sum := t.Walks
	for _, ns := range t.Lines {
		sum += ns
	}
	return sum
}

// Missed returns the misses of level i by all tensors.
func (p Prediction) Missed(i int) float64 {
	sum := 0.0
	for _, t := range p.Tensors {
		sum += t.Levels[i]
	}
	return sum
}

// Walked returns the misses of the last TLB level by all tensors.
func (p Prediction) Walked() float64 {
	sum := 0.0
	for _, t := range p.Tensors {
		if last := len(t.TLB) - 1; last >= 0 {
			sum += t.TLB[last]
		}
	}
	return sum
}

// Predict simulates a pass over the pattern in the steady state and returns its price.
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

// chase returns the time of a pointer chase. Each load takes the latency of the first level that
// holds the ring, plus the translation. As under LRU, a longer ring misses at every step.
func (m Model) chase(p access.Pattern) Prediction {
	var sum Prediction
	steps := float64(len(p.Ring))
	sum.Loop = steps * m.Times.Hit
	t := sum.tensor("x", m.Caches)
	t.Refs, t.Stride = steps, Stride{Far: 1, loop: -1}
	at, size := m.Times.Hit, p.Spec.DType.Size()
	counts := map[int]int{} // by block size
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

// Price returns the price of a pattern whose nests were counted.
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

// Lines returns the ns of stream lines, given the misses of each level.
func (m Model) Lines(misses []float64) (ns float64) {
	for i, missed := range misses {
		if i+1 < len(misses) {
			missed -= misses[i+1]
		}
		ns += max(missed, 0) * m.serving(i).Line
	}
	return ns
}

// Error returns the prediction error as a share of the measured time.
func Error(predicted, measured float64) float64 { return math.Abs(predicted-measured) / measured }

// together returns the norm of order overlap of the times of a loop and of its memory: their sum at
// 1, the longer one at infinity.
func together(loop, memory, overlap float64) float64 {
	long := max(loop, memory)
	if long == 0 {
		return 0
	}
	return long * math.Pow(1+math.Pow(min(loop, memory)/long, overlap), 1/overlap)
}

// beyond inverts together: it returns the memory time, given the time of both and of the loop, and
// at least 0.
func beyond(all, loop, overlap float64) float64 {
	if all <= loop {
		return 0
	}
	return all * math.Pow(1-math.Pow(loop/all, overlap), 1/overlap)
}
