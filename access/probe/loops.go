package probe

import (
	"fmt"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/layouts"
)

// This file measures the plain loops of operations on data in the first level.

// A Loop is the ns per element of an operation by the scalar kernel in the first level.
type Loop struct {
	Op    string `yaml:"op" json:"op"`
	DType string `yaml:"dtype" json:"dtype"`
	// elements of all operands are adjacent
	Run  float64 `yaml:"run-ns" json:"runNs"`
	Step float64 `yaml:"step-ns" json:"stepNs"` // x is every other element
}

// The measured operations and dtypes: one dtype of each size, and the converted ones.
var (
	loopOps    = []access.Op{access.Sum, access.Fill, access.Copy, access.Add}
	loopDTypes = []layouts.DType{layouts.Int8, layouts.Int16, layouts.Int32, layouts.Int64,
		layouts.Float16, layouts.BFloat16, layouts.Float32, layouts.Float64}
)

// loopBytes is the size of x in a measured loop. Subtracting the time of loopLess cancels the
// overhead. Three such tensors fit in the first level.
const (
	loopBytes = 8 << 10
	loopLess  = 2 << 10
)

// loopTimes is how often loops are measured, between other stages. A busy host slows down all
// samples of one moment.
const loopTimes = 3

// loops measures the loops and keeps the least times of all calls.
func (s *sampler) loops(m *Machine) error {
	var now []Loop
	for _, dtype := range loopDTypes {
		for _, op := range loopOps {
			var specs []access.Spec
			for _, step := range []int{1, 2} {
				specs = append(specs, loopOf(op, dtype, loopBytes, step),
					loopOf(op, dtype, loopLess, step))
			}
			ns, err := s.least(specs, 3, loopsShare/loopTimes/float64(len(loopDTypes)*len(loopOps)),
				s.pages, nil)
			if err != nil {
				return err
			}
			// half of a pass bounds what a disturbed sample leaves
			each := func(k int) float64 {
				return max((loopBytes*ns[k]-loopLess*ns[k+1])/(loopBytes-loopLess), ns[k]/2)
			}
			now = append(now, Loop{op.String(), dtype.String(), each(0), each(2)})
		}
	}
	for i, l := range m.Loops {
		now[i].Run, now[i].Step = min(l.Run, now[i].Run), min(l.Step, now[i].Step)
	}
	m.Loops = now
	return nil
}

func loopOf(op access.Op, dtype layouts.DType, bytes, step int) access.Spec {
	n := bytes / dtype.Size() / step
	s := access.Spec{Op: op, DType: dtype, Shape: []int{n * step}}
	if step > 1 {
		s.View = layouts.MustParseChain(fmt.Sprintf("slice(0,0,%d,%d)", n*step, step))
	}
	if op == access.Add {
		s.With = []int{n}
	}
	return s
}
