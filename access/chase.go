package access

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"unsafe"

	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache"
)

// Each element of a chase holds the address of the next. No load can begin before the previous one
// ends, so the time of a load is its latency. The order is random, so that nothing is prefetched.
// It is a ring and not a nest of loops: both executors follow Pattern.Ring.

// chaseSeed fixes the order of a chase, on which exact counts depend.
const chaseSeed = 0x535452494445 // "STRIDE"

// maxRing is the most elements of a chase: 1 GiB, at one element a line.
const maxRing = 1 << 24

// ring makes the order of a Chase: a random permutation of the view's elements, closed to a ring.
// Every ring is equally likely, as from Sattolo's algorithm ("An algorithm to generate a random
// cyclic permutation", 1986). The offsets are in elements from Origin.
func (p *Pattern) ring() error {
	s, view := p.Spec, p.operands[0].view
	if err := s.without("only scalar chases, one element at a time, in a random order",
		"order", "tile", "width", "kernel"); err != nil {
		return err
	}
	switch {
	case s.DType != layouts.Int64:
		return fault("dtype", s.DType, errors.New(
			"a chase reads addresses, which are of int64: want int64"))
	case p.Memory/s.DType.Size() > math.MaxUint32:
		return fault("shape", s.Shape, errors.New("a chase reaches over at most 32 GiB"))
	case p.Elems > maxRing:
		return fault("shape", s.Shape,
			fmt.Errorf("a chase goes round at most %d elements (a view may take one of each "+
				"line: view(-1,8).select(1,0))", maxRing))
	case view.Overlaps():
		return fault("view", s.View, errors.New(
			"a chase wants each element once, this view has some at several places"))
	}
	p.Ring = make([]uint32, 0, p.Elems)
	for at := range view.Offsets() {
		p.Ring = append(p.Ring, uint32(at))
	}
	random := rand.NewPCG(chaseSeed, uint64(p.Elems))
	for i := len(p.Ring) - 1; i > 0; i-- {
		j, _ := bits.Mul64(random.Uint64(), uint64(i+1)) // in [0, i]
		p.Ring[i], p.Ring[j] = p.Ring[j], p.Ring[i]
	}
	p.Bytes = p.Elems * s.DType.Size()
	return nil
}

// steadyChase is simcache.SteadyPass for the ring.
func (p *Pattern) steadyChase(levels []simcache.Level) (pass simcache.Counts, err error) {
	h, err := simcache.NewHierarchy(simcache.Config{Levels: levels})
	if err != nil {
		return pass, err
	}
	size := p.Spec.DType.Size()
	for range len(levels) + 1 {
		before := h.Counts()
		for _, at := range p.Ring {
			h.Access(nest.Read, Origin+uint64(at)*uint64(size), size)
		}
		pass = h.Counts().Sub(before)
	}
	return pass, nil
}

func bindChase(p Pattern, mem arena) runner {
	data := unsafe.Slice((*uintptr)(unsafe.Pointer(unsafe.SliceData(mem))), p.Memory/8)
	link := func() {
		from := p.Ring[len(p.Ring)-1]
		for _, to := range p.Ring {
			data[from] = uintptr(unsafe.Pointer(&data[to]))
			from = to
		}
	}
	place := func(step int) unsafe.Pointer {
		return unsafe.Pointer(&data[p.Ring[step%len(p.Ring)]])
	}
	// part returns 1 if the chase ended at the right element, and 0 if not.
	part := func(from, links int) float64 {
		if chase(place(from), links) != place(from+links) {
			return 0
		}
		return 1
	}
	return runner{
		length: len(p.Ring),
		part:   part,
		prepare: func() {
			for i := range data { // so that elements outside the ring have memory too
				data[i] = uintptr(initial(i))
			}
			link()
		},
		restore:   link,
		passes:    func(n int) float64 { return float64(n) * part(0, n*len(p.Ring)) },
		reference: func() (float64, error) { return 1, checkRing(p, data) },
	}
}

func chase(from unsafe.Pointer, links int) unsafe.Pointer {
	for range links {
		from = *(*unsafe.Pointer)(from)
	}
	return from
}

func checkRing(p Pattern, data []uintptr) error {
	missing := make([]bool, len(data))
	for at := range p.operands[0].view.Offsets() {
		missing[at] = true
	}
	base, from := uintptr(unsafe.Pointer(unsafe.SliceData(data))), p.Ring[len(p.Ring)-1]
	for _, to := range p.Ring {
		if !missing[to] {
			return fmt.Errorf("the chase reaches element %d, which it visited before or which is "+
				"not in the view", to)
		}
		missing[to] = false
		if data[from] != base+8*uintptr(to) {
			return fmt.Errorf("element %d does not lead to element %d", from, to)
		}
		from = to
	}
	if slices.Contains(missing, true) {
		return errors.New("the chase leaves out an element of the view")
	}
	return nil
}
