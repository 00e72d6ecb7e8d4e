package access

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime/debug"
	"time"
	"unsafe"

	"github.com/stridebench/stridebench/simcache"
)

// Options say how patterns are measured.
type Options struct {
	Count     int           // samples of each pattern, at least 1
	MinTime   time.Duration // least length of a sample; it is made of as many passes as that takes
	MaxMemory int           // bytes that the tensors of a pattern may take; 0 for no limit
	Pages     Pages         // of the tensors' memory
	// Obtained, where it is not nil, is told what the memory is made of before
	// the first sample.
	Obtained func(Backing)
}

// A Sample is one measurement: so many passes over one pattern took so long. Of
// a pass of a Chase that is longer than a sample need be, as much is timed as a
// sample takes, and Elapsed is what the whole would take at that pace: every
// part of it is like another, and many samples tell more than a long one.
type Sample struct {
	Pattern int // index into the patterns measured
	Passes  int
	Elapsed time.Duration
}

// PerPass is the time of one pass in ns.
func (s Sample) PerPass() float64 { return float64(s.Elapsed.Nanoseconds()) / float64(s.Passes) }

// MemoryError tells that a pattern needs more memory than there is.
type MemoryError struct {
	Need, Have int // bytes
}

// Error gives both figures.
func (e *MemoryError) Error() string {
	return fmt.Sprintf("the tensors need %s of memory, this machine has %s available", gib(e.Need), gib(e.Have))
}

func gib(bytes int) string { return fmt.Sprintf("%.1f GiB", float64(bytes)/(1<<30)) }

// Measure times patterns that are to be compared with each other and yields
// the samples as they come. All use the same memory, one after the other, so
// that none has the luckier pages. Samples are interleaved: a round takes one
// of each pattern, starting with another pattern every time, so that a drift
// of the machine falls on all alike.
//
// Before the first sample each pattern is run once and compared with a plain
// reference. Before each sample one pass is walked off the clock, so that what
// is timed is the steady state, and not what the pattern before left behind.
// The goroutine is locked to its thread and, where the system lets us, pinned
// to one CPU; the garbage collector is off.
//
// When the context is done, Measure ends between samples with its error.
func Measure(ctx context.Context, patterns []Pattern, o Options) iter.Seq2[Sample, error] {
	return func(yield func(Sample, error) bool) {
		defer pin()()
		defer debug.SetGCPercent(debug.SetGCPercent(-1))
		meters, free, err := newMeters(ctx, patterns, o)
		if err != nil {
			yield(Sample{}, err)
			return
		}
		defer free()
		for round := range o.Count {
			for i := range meters {
				if err := ctx.Err(); err != nil {
					yield(Sample{}, err)
					return
				}
				k := (round + i) % len(meters)
				sample, err := meters[k].sample()
				sample.Pattern = k
				if !yield(sample, err) || err != nil {
					return
				}
			}
		}
	}
}

// A meter measures one pattern.
type meter struct {
	runner
	sum    float64 // that every pass returns
	passes int     // of a sample
	links  int     // of a sample that is a part of a pass; 0 for whole passes
}

// newMeters makes the memory, and a meter for each pattern. The caller frees
// the memory when it is done with them.
func newMeters(ctx context.Context, patterns []Pattern, o Options) (meters []meter, free func(), err error) {
	memory := 0
	for _, p := range patterns {
		memory = max(memory, p.Memory)
		if err := Measurable(p, o.MaxMemory); err != nil {
			return nil, nil, err
		}
		for _, q := range patterns {
			if err := together(p, q); err != nil {
				return nil, nil, fmt.Errorf("%s and %s cannot be measured together: %w", p.Spec.Name(), q.Spec.Name(), err)
			}
		}
	}
	mem, unmap, err := mapArena(memory, o.Pages)
	if err != nil {
		return nil, nil, err
	}
	free = func() { _ = unmap() } // it is a mapping of ours, whole
	for _, p := range patterns {
		m, err := newMeter(ctx, p, mem, o.MinTime)
		if err != nil {
			free()
			return nil, nil, fmt.Errorf("%s: %w", p.Spec.Name(), err)
		}
		meters = append(meters, m)
	}
	if o.Obtained != nil { // after all of it was written
		b, err := mem.backing()
		if err != nil {
			free()
			return nil, nil, err
		}
		o.Obtained(b)
	}
	return meters, free, nil
}

// together refuses two patterns that cannot share their memory, as patterns that
// are measured do: of what a sum reads, which is checked at every sample, no
// other may write a byte. What copies and additions read is not checked, and a
// chase writes its links anew before each sample, so that others may write what
// these read.
func together(p, q Pattern) error {
	if p.Spec.DType != q.Spec.DType {
		return fmt.Errorf("dtypes %s and %s", p.Spec.DType, q.Spec.DType)
	}
	if p.Spec.Op != Sum {
		return nil
	}
	for _, read := range p.operands {
		for _, op := range q.operands {
			if writes := op.kind != simcache.Read || q.Spec.Op == Chase; writes && op.base < read.base+uint64(read.size) && read.base < op.base+uint64(op.size) {
				return fmt.Errorf("tensor %s of the %s is written where the %s reads", op.tensor, q.Spec.Op, p.Spec.Op)
			}
		}
	}
	return nil
}

// newMeter checks a pattern against its reference and finds how many passes
// make a sample.
func newMeter(ctx context.Context, p Pattern, mem arena, minTime time.Duration) (meter, error) {
	r, err := newRunner(p, mem)
	if err != nil {
		return meter{}, err
	}
	m := meter{runner: r, passes: 1}
	if m.sum, err = r.check(); err != nil {
		return meter{}, err
	}
	if err := m.calibrate(minTime); err != nil {
		return meter{}, err
	}
	return m, ctx.Err()
}

// newArena allocates size bytes from a page boundary on, of the heap.
func newArena(size int) arena {
	mem := make([]byte, size+alignment)
	start := -uintptr(unsafe.Pointer(unsafe.SliceData(mem))) % alignment
	return mem[start:][:size]
}

// calibrate finds how many passes last minTime, or which part of one: twice as
// many until the time can be told, then as many as follow from it.
func (m *meter) calibrate(minTime time.Duration) error {
	for {
		s, err := m.sample()
		if err != nil {
			return err
		}
		if s.Elapsed >= minTime {
			if m.part != nil && m.passes == 1 {
				m.links = min(m.length, 1+int(1.1*float64(m.length)*float64(minTime)/float64(s.Elapsed)))
			}
			return nil
		}
		m.passes *= 2
		if s.Elapsed > minTime/16 {
			m.passes = max(m.passes, 1+int(1.1*float64(s.Passes)*float64(minTime)/float64(s.Elapsed)))
		}
	}
}

// sample times the meter's passes, after one that is not timed. Where a part is
// timed, the restore is as good as that pass: it goes the same way.
func (m *meter) sample() (Sample, error) {
	if m.restore != nil {
		m.restore()
	}
	if m.links > 0 {
		return m.partial()
	}
	m.runner.passes(1)
	start := time.Now()
	sum := m.runner.passes(m.passes)
	elapsed := time.Since(start)
	// The sum is read, so that no pass can be left out, and must be right.
	if want := float64(m.passes) * m.sum; sum != want {
		return Sample{}, fmt.Errorf("%d timed passes summed to %v, plainly it is %v", m.passes, sum, want)
	}
	return Sample{Passes: m.passes, Elapsed: elapsed}, nil
}

// partial times a part of a pass.
func (m *meter) partial() (Sample, error) {
	start := time.Now()
	arrived := m.part(m.links)
	elapsed := time.Since(start)
	if !arrived {
		return Sample{}, fmt.Errorf("%d links of a chase do not lead where they should", m.links)
	}
	return Sample{Passes: 1, Elapsed: time.Duration(float64(elapsed) * float64(m.length) / float64(m.links))}, nil
}

// Measurable refuses a pattern that Measure cannot time: one without an
// element, one that computes with a dtype that is stored only, and, with a
// MemoryError, one whose tensors need more than maxMemory bytes (0 is no limit).
func Measurable(p Pattern, maxMemory int) error {
	if p.Elems == 0 {
		return errors.New("there is no element to time")
	}
	if err := p.Spec.computable(); err != nil {
		return err
	}
	if maxMemory > 0 && p.Memory > maxMemory {
		return &MemoryError{Need: p.Memory, Have: maxMemory}
	}
	return nil
}
