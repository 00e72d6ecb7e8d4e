package probe

import (
	"fmt"
	"text/tabwriter"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/layouts"
)

// This file measures what it takes to begin a run of lines that prefetchers do not foresee. They see a stream only after some of its
// lines, each of which a loop waits for unless its CPU looks that far ahead; and the smaller the elements, the fewer lines it looks ahead at.

// startBytes are the sizes of elements that starts are measured with, ascending.
var startBytes = []int{2, 4, 8}

// Runs of startLines lines begin so many bytes apart: a page and a line, so that all sets are used.
const (
	startLines = 16
	startApart = 4096 + line
)

// starts measures them, over the largest working set.
func (s *sampler) starts(m *Machine) error {
	if m.Memory == (Speed{}) {
		s.done += startsShare
		s.progress(0)
		return nil
	}
	for _, size := range startBytes {
		apart, side := starting(s.startRuns(), size)
		ns, err := s.least([]access.Spec{apart, side}, 2, startsShare/float64(len(startBytes)), s.pages, nil)
		if err != nil {
			return err
		}
		m.Starts = append(m.Starts, Point{size, max(ns[0]-ns[1], 0) * float64(startLines*line/size)})
	}
	return nil
}

// startRuns is how many runs go past the caches, as far as there is memory for the pages of each.
func (s *sampler) startRuns() int {
	const most = 512 << 20
	bytes := min(s.MaxSize/(startLines*line)*startApart, most)
	if s.MaxMemory > 0 {
		bytes = min(bytes, s.MaxMemory/2)
	}
	return max(bytes/startApart, 1)
}

// starting copies so many runs, of elements of so many bytes, each in a page of its own, and as many elements side by side.
func starting(runs, size int) (apart, side access.Spec) {
	dtype := map[int]layouts.DType{2: layouts.Int16, 4: layouts.Int32, 8: layouts.Int64}[size]
	each := startLines * line / size
	apart = access.Spec{Op: access.Copy, DType: dtype, Shape: []int{runs, startApart / size}, View: layouts.MustParseChain(fmt.Sprintf("narrow(1,0,%d)", each))}
	side = access.Spec{Op: access.Copy, DType: dtype, Shape: []int{runs * each}}
	return apart, side
}

// writeStarts writes a row of them.
func (m Machine) writeStarts(t *tabwriter.Writer) {
	if len(m.Starts) == 0 {
		return
	}
	fmt.Fprintln(t)
	writeRow(t, "a run of memory, in elements of", m.Starts, func(p Point) string { return fmt.Sprintf("%d B", p.Size) })
	writeRow(t, "takes to begin", m.Starts, func(p Point) string { return timeCell(p.Ns) })
}

// A start is the part of the section measured that one of [Machine.Starts] is.
type start struct {
	Bytes int     `yaml:"bytes"`
	Ns    float64 `yaml:"ns"`
}

// MarshalYAML implements yaml.BytesMarshaler.
func (s start) MarshalYAML() ([]byte, error) { type plain start; return flow(plain(s)) }

// checkStarts refuses what nothing can be concluded from, and tells the path of the part at fault.
func (s section) checkStarts() (path string, err error) {
	before := 0
	for i, of := range s.Starts {
		if of.Bytes <= before || of.Ns != 0 && !positive(of.Ns) {
			return fmt.Sprintf("starts[%d]", i), fmt.Errorf("%d bytes after %d, %v ns (want sizes that ascend, and finite times, none of them negative)", of.Bytes, before, of.Ns)
		}
		before = of.Bytes
	}
	return "", nil
}

type jsonStart struct {
	Bytes int     `json:"bytes"`
	Ns    float64 `json:"ns"`
}
