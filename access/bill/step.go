package bill

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/cost"
	"github.com/stridebench/stridebench/access/operators"
	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/simcache"
)

// A Step is the calls of an execution trace, simulated one after the other on one
// hierarchy of caches, which each finds as the one before left it.
type Step struct {
	Sources  []string   `json:"sources"`
	Warnings []string   `json:"warnings,omitempty"`
	Model    string     `json:"cost_model"`
	OnDevice bool       `json:"on_device,omitzero"` // the trace is of a GPU, and times are those of a CPU
	Memory   int64      `json:"memory"`             // bytes of all storages
	Ns       float64    `json:"predicted_ns"`
	Misses   []Miss     `json:"misses"`
	Calls    []StepCall `json:"calls"`   // in their order
	Fusions  []Fusion   `json:"fusions"` // those that save most first

	brief string // what is predicted for
	tally operators.Tally
}

// A StepCall is one call that touches memory.
type StepCall struct {
	Number int     `json:"number"` // from 1
	Op     string  `json:"op"`
	Text   string  `json:"tensors"`
	Ns     float64 `json:"predicted_ns"`
	Misses []Miss  `json:"misses"`
	Found  []Found `json:"found"`
	// Problem is why it is not simulated, if it is not.
	Problem string `json:"problem,omitempty"`
}

// A Found is an operand of a call that was in the caches still: by level, how many
// fewer misses it had than on cold caches.
type Found struct {
	Tensor string `json:"tensor"`
	From   int    `json:"from"` // the call that touched its storage last
	Fewer  []Miss `json:"fewer"`
}

// A Fusion is two neighbours, of which the second reads what the first wrote: what
// they would save as one.
type Fusion struct {
	First  int     `json:"first"` // numbers of calls
	Second int     `json:"second"`
	Ns     float64 `json:"ns"`
	Saved  []Miss  `json:"saved"` // misses of reading it, and of writing it where nothing else reads it
}

// errNoStep tells that a profile does not say where its tensors lie.
var errNoStep = errors.New("a step needs one execution trace, which says where tensors are in memory (ExecutionTraceObserver, scripts/capture/capture.py)")

// firstStorage is where the storages begin, behind the buffers of copies.
const firstStorage = access.Origin + 1<<24

// storageAlignment is that of PyTorch's allocator for CPUs (c10/core/alignment.h).
const storageAlignment = 64

// maxIterations is how long a loop of a step may be, and maxAddress where its last
// storage may end: more is no step of a machine's.
const (
	maxIterations = 1 << 33
	maxAddress    = 1 << 52
)

// A stepper simulates a step.
type stepper struct {
	profile *operators.Profile
	model   cost.Model
	caches  *simcache.Hierarchy
	lowered []lowered
	errs    []error
	at      map[uint64]uint64 // addresses of storages
	scratch uint64            // the address of what operators have inside
	cold    map[int]counts    // by operator: on cold caches
	touched map[uint64]int    // the last call that touched a storage
}

// counts are misses by the number of an operand and then by level.
type counts map[int][]float64

// StepOf simulates a profile's step.
func StepOf(ctx context.Context, p *operators.Profile, m cost.Model, begin Begin) (*Step, error) {
	if len(p.Step) == 0 {
		return nil, errNoStep
	}
	m.Caches.TLB, m.Vectors = nil, true
	s := stepper{profile: p, model: m, at: map[uint64]uint64{}, cold: map[int]counts{},
		touched: map[uint64]int{}}
	var err error
	if s.caches, err = s.newCaches(); err != nil {
		return nil, err
	}
	inside := callsOf(p.Operators)
	for _, op := range p.Operators {
		l, err := lowered{}, error(nil)
		if op.Class.Touches() {
			l, err = lower(op, inside)
		}
		s.lowered, s.errs = append(s.lowered, l), append(s.errs, err)
	}
	step := &Step{Sources: p.Sources, Warnings: p.Warnings, Model: m.String(), brief: m.Brief(),
		OnDevice: p.OnDevice, tally: p.Tally, Fusions: []Fusion{}}
	if step.Memory, err = s.place(); err != nil {
		return nil, err
	}
	all := make([]counts, len(p.Step))
	done := begin.phase("simulating", len(p.Step), "call")
	for n, call := range p.Step {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		one, found, err := s.call(n, call)
		if err != nil {
			one.Problem = err.Error()
		}
		all[n] = found
		step.Calls = append(step.Calls, one)
		step.Ns += one.Ns
		done()
	}
	step.Misses = s.named(make([]float64, len(m.Caches.Levels)))
	for _, c := range step.Calls {
		for l, miss := range c.Misses {
			step.Misses[l].Count += miss.Count
		}
	}
	s.fuse(step, all)
	return step, nil
}

func (s *stepper) newCaches() (*simcache.Hierarchy, error) {
	return simcache.NewHierarchy(simcache.Config{Levels: s.model.Caches.Levels, Brute: s.model.Caches.Brute})
}

// named are figures by level.
func (s *stepper) named(figures []float64) []Miss {
	all := []Miss{}
	for i, n := range figures {
		all = append(all, Miss{s.model.Caches.Levels[i].Name, n})
	}
	return all
}

// operandsOf are the operands of a call, with where they lie.
func operandsOf(p *operators.Profile, call operators.Call) ([]operators.Tensor, []operators.Place) {
	op := p.Operators[call.Operator]
	all := slices.Concat(op.Inputs, op.Outputs)
	return all[:min(len(all), len(call.Places))], call.Places
}

// place gives each storage an address, in the order in which they are touched, as
// large as the operands in it reach, and returns the bytes of all.
func (s *stepper) place() (int64, error) {
	sizes := map[uint64]uint64{}
	var order []uint64
	for _, call := range s.profile.Step {
		all, places := operandsOf(s.profile, call)
		for n, o := range all {
			l, err := o.Layout()
			if err != nil {
				continue
			}
			_, high := l.Extent()
			bytes := uint64(places[n].Offset+high+1) * uint64(max(o.ItemSize(), 1))
			if _, ok := sizes[places[n].Storage]; !ok {
				order = append(order, places[n].Storage)
			}
			sizes[places[n].Storage] = max(sizes[places[n].Storage], bytes)
		}
	}
	next, sum := uint64(firstStorage), uint64(0)
	for _, id := range order {
		s.at[id] = next
		sum += sizes[id]
		next += (sizes[id] + storageAlignment - 1) / storageAlignment * storageAlignment
		if next > maxAddress {
			return 0, fmt.Errorf("its storages take more than %d TiB", maxAddress>>40)
		}
	}
	s.scratch = next
	return int64(sum), nil
}

// patterns are those of a call, its operands where they lie.
func (s *stepper) patterns(call operators.Call) ([]access.Pattern, error) {
	l := s.lowered[call.Operator]
	_, places := operandsOf(s.profile, call)
	var patterns []access.Pattern
	for i, spec := range l.specs {
		spec.Operands = slices.Clone(spec.Operands)
		from := l.from[i]
		if l.results[i] != nil {
			spec.Operands = append(spec.Operands, l.results[i].Value)
		}
		for n := range spec.Operands {
			o := &spec.Operands[n]
			o.At = s.scratch
			if n < len(from) && from[n] != inside && from[n] < len(places) {
				place := places[from[n]]
				o.At = s.at[place.Storage] + uint64(place.Offset*o.DType.Size())
			}
		}
		p, err := spec.Pattern()
		if err != nil {
			return nil, err
		}
		for _, n := range p.Nests {
			if n.Iterations() > maxIterations {
				return nil, fmt.Errorf("it has %d iterations, and at most %d are simulated", n.Iterations(), maxIterations)
			}
		}
		patterns = append(patterns, p)
	}
	return patterns, nil
}

// run walks the patterns of a call on caches. It returns the misses by the call's
// operands, and the time.
func (s *stepper) run(h *simcache.Hierarchy, call operators.Call, patterns []access.Pattern) (counts, float64, error) {
	found, ns := counts{}, 0.0
	for i, p := range patterns {
		from := s.lowered[call.Operator].from[i]
		var walks []cost.Counted
		for _, n := range p.Nests {
			if n = n.Canonical(); len(n.Trips) == 0 {
				n = n.Repeat(1)
			}
			misses, err := h.RunMisses(n)
			if err != nil {
				return nil, 0, err
			}
			w := cost.Counted{Nest: n}
			for r, m := range misses {
				levels := make([]float64, len(m.Levels))
				for l, count := range m.Levels {
					levels[l] = float64(count)
				}
				w.Misses = append(w.Misses, cost.Misses{Levels: levels})
				at := inside
				if number, ok := p.Number(n.Operands[r].Tensor); ok && number < len(from) {
					at = from[number]
				}
				found.add(at, levels)
			}
			walks = append(walks, w)
		}
		ns += s.model.Price(p, walks).Ns
	}
	return found, ns, nil
}

// add adds the misses of an operand.
func (c counts) add(at int, levels []float64) {
	if c[at] == nil {
		c[at] = make([]float64, len(levels))
	}
	addTo(c[at], levels)
}

// addTo adds figures to a sum, by level.
func addTo(sum, levels []float64) {
	for l, n := range levels {
		sum[l] += n
	}
}

// call simulates call n.
func (s *stepper) call(n int, call operators.Call) (StepCall, counts, error) {
	op := s.profile.Operators[call.Operator]
	one := StepCall{Number: n + 1, Op: op.Op, Text: Item{Operator: op}.Tensors(),
		Misses: []Miss{}, Found: []Found{}}
	if err := s.errs[call.Operator]; err != nil {
		return one, nil, err
	}
	patterns, err := s.patterns(call)
	if err != nil {
		return one, nil, err
	}
	found, ns, err := s.run(s.caches, call, patterns)
	if err != nil {
		return one, nil, err
	}
	if _, ok := s.cold[call.Operator]; !ok {
		caches, err := s.newCaches()
		if err != nil {
			return one, nil, err
		}
		if s.cold[call.Operator], _, err = s.run(caches, call, patterns); err != nil {
			return one, nil, err
		}
	}
	one.Ns = ns
	total := make([]float64, len(s.model.Caches.Levels))
	for _, levels := range found {
		addTo(total, levels)
	}
	one.Misses = s.named(total)
	all, places := operandsOf(s.profile, call)
	for at, o := range all {
		cold, levels := s.cold[call.Operator][at], found[at]
		if cold == nil || levels == nil || o.Role == operators.Output {
			continue
		}
		fewer := make([]float64, len(levels))
		for l := range levels {
			fewer[l] = max(cold[l]-levels[l], 0)
		}
		if from, ok := s.touched[places[at].Storage]; ok && slices.Max(fewer) > 0 {
			one.Found = append(one.Found, Found{layouts.FormatShape(o.Shape), from, s.named(fewer)})
		}
	}
	for at := range all {
		s.touched[places[at].Storage] = n + 1
	}
	return one, found, nil
}

// fusable are the classes of operators that can be one with the operator before them,
// whose result they read.
var fusable = []operators.Class{operators.Elementwise, operators.Copy, operators.Rows, operators.Reduction}

// fuse finds neighbours of which the second reads what the first wrote.
func (s *stepper) fuse(step *Step, all []counts) {
	readers := s.readers()
	for n := 1; n < len(all); n++ {
		if all[n-1] == nil || all[n] == nil || !slices.Contains(fusable, s.profile.Operators[s.profile.Step[n].Operator].Class) {
			continue
		}
		saved := s.saved(n, all[n-1], all[n], readers)
		if ns := s.model.Lines(saved); ns > 0 {
			step.Fusions = append(step.Fusions, Fusion{n, n + 1, ns, s.named(saved)})
		}
	}
	slices.SortStableFunc(step.Fusions, func(x, y Fusion) int { return cmp.Compare(y.Ns, x.Ns) })
}

// saved are the misses that call n and the one before it would save as one, by level: those
// of reading what that wrote, and of writing it where nothing else reads it.
func (s *stepper) saved(n int, first, second counts, readers map[[2]int]int) []float64 {
	wrote, wrotePlaces := operandsOf(s.profile, s.profile.Step[n-1])
	read, readPlaces := operandsOf(s.profile, s.profile.Step[n])
	saved := make([]float64, len(s.model.Caches.Levels))
	for i, w := range wrote {
		for k, r := range read {
			if w.Role == operators.Input || r.Role == operators.Output || wrotePlaces[i] != readPlaces[k] || w.Bytes() != r.Bytes() {
				continue
			}
			addTo(saved, second[k])
			// What is read first, or stays behind, has to be fetched all the same.
			if w.Role == operators.Output && r.Role == operators.Input && readers[[2]int{n - 1, i}] == 1 {
				addTo(saved, first[i])
			}
		}
	}
	return saved
}

// readers counts, by call and number of an operand that it writes, the calls that
// read its storage before it is written again.
func (s *stepper) readers() map[[2]int]int {
	count := map[[2]int]int{}
	last := map[uint64][2]int{} // what wrote a storage last
	for n, call := range s.profile.Step {
		all, places := operandsOf(s.profile, call)
		read := map[[2]int]bool{}
		for at, o := range all {
			if w, ok := last[places[at].Storage]; ok && o.Role != operators.Output {
				read[w] = true
			}
		}
		for w := range read {
			count[w]++
		}
		for at, o := range all {
			if o.Role != operators.Input {
				last[places[at].Storage] = [2]int{n, at}
			}
		}
	}
	return count
}
