package access

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/stridebench/stridebench/layouts/nest"
)

// GrainSize is the number of elements below which PyTorch gives a walk to one
// thread, and of which it gives each thread about as many at least:
// at::internal::GRAIN_SIZE (aten/src/ATen/TensorIterator.h).
const GrainSize = 32768

// Parts are what each thread walks of a pattern whose spec has several, in the
// memory of the whole: each nest is cut as nest.Nest.Cut says, by as many threads
// as there are, but by one for each Grain of elements at most, as PyTorch's
// parallel_for does (aten/src/ATen/ParallelOpenMP.h). What of several nests cannot be cut is
// the first thread's. Kernels, and their buffers, are those of each part. There is
// none where the pattern cannot be cut: a Chase, a copy by PyTorch's blocks, which
// has one buffer, what is written by iterations of all loops alike, and at most a
// grain of elements.
func (p Pattern) Parts() []Pattern { return p.shared }

// share makes the parts of a pattern that walks these nests before a kernel changes
// them, if it can be cut.
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
		for i, part := range n.Cut(workers) {
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
		if part.useKernel() != nil { // which takes runs that the cut leaves none of
			return
		}
		part.Bytes, part.Elems = moved(list), portion(p.Elems, elements(list, tensor), whole)
		parts, memory = append(parts, part), part.Memory // behind its buffers come the next one's
	}
	for i := range parts {
		parts[i].Memory = memory
	}
	p.shared, p.Memory = parts, memory
}

// portion is n*part/whole, of a part that is no more than whole, also where the product is
// more than an int.
func portion(n, part, whole int) int {
	high, low := bits.Mul64(uint64(n), uint64(part))
	of, _ := bits.Div64(high, low, uint64(whole))
	return int(of)
}

// rewrites tells whether what is written has elements at one place, which two
// nests may write.
func (p *Pattern) rewrites() bool {
	return slices.ContainsFunc(p.operands, func(op operand) bool {
		return op.kind != nest.Read && op.view.Overlaps()
	})
}

// elements is how often nests go over an element of the tensor that they begin with:
// not where they write zeros or a result besides.
func elements(nests []nest.Nest, tensor string) (n int) {
	for _, nest := range nests {
		if nest.Operands[0].Tensor == tensor {
			n += nest.Iterations()
		}
	}
	return n
}

// threadsName is what a name ends with where threads are asked for.
func (s Spec) threadsName() string {
	switch {
	case s.Threads == 0:
		return ""
	case s.Grain == 0 || s.Grain == GrainSize:
		return fmt.Sprintf("/threads=%d", s.Threads)
	}
	return fmt.Sprintf("/threads=%d/grain=%d", s.Threads, s.Grain)
}

// Threaded has each benchmark once for each number of threads, the names saying
// which, and, in elements, the grain where it is not GrainSize. They stay compared.
// Left out are benchmarks of more than one thread whose pattern has no parts; alone
// are the names of these, without threads. What a spec does not allow is for its
// Pattern to say.
func Threaded(all []Comparison, threads []int, grain int) (threaded []Comparison, alone []string) {
	for _, c := range all {
		var more Comparison
		for _, b := range c {
			single := b.Spec.Op == Chase
			for _, n := range threads {
				s := b.Spec
				s.Threads, s.Grain = n, grain
				if n > 1 && !single {
					p, err := s.Pattern()
					single = err == nil && len(p.Parts()) == 0
				}
				if n > 1 && single {
					continue
				}
				more = append(more, Benchmark{b.Name + s.threadsName(), s})
			}
			if single && slices.Max(threads) > 1 {
				alone = append(alone, b.Name)
			}
		}
		if more != nil {
			threaded = append(threaded, more)
		}
	}
	return threaded, alone
}
