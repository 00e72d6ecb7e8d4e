package access

import (
	"fmt"
	"slices"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/layouts/nest/touched"
)

// GrainSize is at::internal::GRAIN_SIZE (aten/src/ATen/TensorIterator.h), in elements. PyTorch
// gives a smaller walk to one thread, and each thread of a larger walk about GrainSize or more.
const GrainSize = 32768

// Parts returns what each thread walks of a pattern with several threads, cut by nest.Nest.Cut.
// There is at most one part for each Grain of elements, as in PyTorch's parallel_for
// (aten/src/ATen/ParallelOpenMP.h). If one of several nests cannot be cut, the first thread walks
// it. Each part has its own kernel and buffers.
//
// Parts returns nil for a pattern that cannot be cut, or has at most a grain of elements. A Chase
// cannot be cut, nor a copy by PyTorch's blocks, which has one buffer, nor output that iterations
// of every loop write.
func (p Pattern) Parts() []Pattern { return p.shared }

// share makes the parts, if any, from the nests before a kernel changes them.
func (p *Pattern) share(nests []nest.Nest) {
	s := p.Spec
	grain := s.Grain
	if grain == 0 {
		grain = GrainSize
	}
	workers := min(s.Threads, (p.Elems+grain-1)/grain)
	if workers < 2 || p.block > 0 || len(nests) > 1 && p.rewrites() {
		return
	}
	lists := make([][]nest.Nest, workers)
	for _, n := range nests {
		for i, part := range touched.Cut(n, workers) {
			lists[i] = append(lists[i], part)
		}
	}
	lists = slices.DeleteFunc(lists, func(l []nest.Nest) bool { return l == nil })
	if len(lists) < 2 {
		return
	}
	var parts []Pattern
	tensor, memory := nests[0].Operands[0].Tensor, p.Memory
	whole := elements(nests, tensor)
	for _, list := range lists {
		part := *p
		part.Spec.Threads, part.Nests, part.plan, part.Memory = 0, list, nil, memory
		if part.useKernel() != nil { // too short for the kernel's runs
			return
		}
		part.Bytes = moved(list)
		part.Elems = int(float64(p.Elems) / float64(whole) * float64(elements(list, tensor)))
		parts, memory = append(parts, part), part.Memory // each part has its own buffers
	}
	for i := range parts {
		parts[i].Memory = memory
	}
	p.shared, p.Memory = parts, memory
}

// rewrites reports whether output elements share memory, which two nests may write.
func (p *Pattern) rewrites() bool {
	return slices.ContainsFunc(p.operands, func(op operand) bool {
		return op.kind != nest.Read && op.view.Overlaps()
	})
}

// elements counts the visits to elements of the first operand's tensor. It leaves out nests that
// write zeros or a result.
func elements(nests []nest.Nest, tensor string) (n int) {
	for _, nest := range nests {
		if nest.Operands[0].Tensor == tensor {
			n += nest.Iterations()
		}
	}
	return n
}

func (s Spec) threadsName() string {
	switch {
	case s.Threads == 0:
		return ""
	case s.Grain == 0 || s.Grain == GrainSize:
		return fmt.Sprintf("/threads=%d", s.Threads)
	}
	return fmt.Sprintf("/threads=%d/grain=%d", s.Threads, s.Grain)
}
