package probe

import (
	"fmt"
	"slices"
	"text/tabwriter"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/layouts"
)

// This file measures what loops get of memory one element after the other: less than vectors, which ask for
// lines ahead and store past the caches, on CPUs whose prefetchers do not keep up with a loop.

// A Stream is what a loop over elements of 8 bytes that lie side by side takes of memory, on small pages.
type Stream struct {
	Op access.Op // sum, fill or copy
	Ns float64   // of a line, which is read or written; of a copy of one that is read and one that is written
	// Ints is the same of elements of 4 bytes, whose loop takes about as long as memory does by itself; 0 where it was not measured.
	Ints float64
	All  float64 // how far apart lines are, whichever core they go to, where all cores stream together; 0 where it was not measured, and of one core
}

var streamOps = []access.Op{access.Sum, access.Fill, access.Copy}

// streams measures them, by one core and by all workers, over the largest working set, at one of the moments that bandwidths are measured at.
func (s *sampler) streams(m *Machine) error {
	const elems = line / 8
	share := streamsShare / bandwidthTimes / float64(len(streamOps))
	var now []Stream
	for _, op := range streamOps {
		stream := func(bytes int) access.Spec { return streaming(op, layouts.Int64, bytes) }
		of := Stream{Op: op}
		ns, err := s.moment(1, []access.Spec{stream(s.MaxSize)}, 2, .35*share, access.PagesSmall, nil)
		if err != nil {
			return err
		}
		of.Ns = elems * ns[0]
		if ns, err = s.moment(1, []access.Spec{streaming(op, layouts.Int32, s.MaxSize)}, 2, .25*share, access.PagesSmall, nil); err != nil {
			return err
		}
		of.Ints = 2 * elems * ns[0]
		if len(s.Workers) > 1 {
			if ns, err = s.moment(1, []access.Spec{s.byAll(stream)(s.MaxSize)}, 2, .4*share, access.PagesSmall, nil); err != nil {
				return err
			}
			of.All = elems * ns[0]
		} else {
			s.done += .4 * share
		}
		now = append(now, of)
	}
	for i, before := range m.Streamed {
		now[i].Ns, now[i].Ints, now[i].All = min(now[i].Ns, before.Ns), min(now[i].Ints, before.Ints), min(now[i].All, before.All)
	}
	m.Streamed = now
	return nil
}

// streaming goes over so many bytes one element after the other, of a copy half to read and half to write.
func streaming(op access.Op, dtype layouts.DType, bytes int) access.Spec {
	if op == access.Copy {
		bytes /= 2
	}
	return access.Spec{Op: op, DType: dtype, Shape: []int{bytes / dtype.Size()}}
}

// writeStreams writes a table of them.
func (m Machine) writeStreams(t *tabwriter.Writer) {
	if len(m.Streamed) == 0 {
		return
	}
	fmt.Fprintln(t)
	writeRow(t, "lines of memory by plain loops", m.Streamed, func(s Stream) string { return s.Op.String() })
	writeRow(t, "one after the other", m.Streamed, func(s Stream) string { return timeCell(s.Ns) })
	if m.Streamed[0].Ints > 0 {
		writeRow(t, "of int32", m.Streamed, func(s Stream) string { return timeCell(s.Ints) })
	}
	if m.Threads > 1 {
		writeRow(t, fmt.Sprintf("by %d threads together", m.Threads), m.Streamed, func(s Stream) string { return timeCell(s.All) })
	}
}

// A stream is the part of the section measured that a [Stream] is.
type stream struct {
	Op   string  `yaml:"op"`
	Ns   float64 `yaml:"ns"`
	Ints float64 `yaml:"int32-ns,omitempty"`
	All  float64 `yaml:"all-ns,omitempty"`
}

// MarshalYAML implements yaml.BytesMarshaler.
func (s stream) MarshalYAML() ([]byte, error) { type plain stream; return flow(plain(s)) }

// stream is what it stands for.
func (s stream) stream() (Stream, error) {
	op, err := access.ParseOp(s.Op)
	if err != nil || !slices.Contains(streamOps, op) {
		return Stream{}, fmt.Errorf("op %q (want sum, fill or copy)", s.Op)
	}
	return Stream{op, s.Ns, s.Ints, s.All}, nil
}

// checkStreams refuses what nothing can be concluded from, and tells the path of the part at fault.
func (s section) checkStreams() (path string, err error) {
	known := map[string]bool{}
	for i, of := range s.Streamed {
		path := fmt.Sprintf("streamed[%d]", i)
		if _, err := of.stream(); err != nil {
			return path, err
		}
		if known[of.Op] {
			return path, fmt.Errorf("a second time of op %s", of.Op)
		}
		known[of.Op] = true
		if !positive(of.Ns) || of.Ints != 0 && !positive(of.Ints) || of.All != 0 && !positive(of.All) {
			return path, fmt.Errorf("%v ns, of int32 %v ns, by all cores %v ns (want positive times, or no int32-ns or all-ns)", of.Ns, of.Ints, of.All)
		}
	}
	return "", nil
}

type jsonStream struct {
	Op   string  `json:"op"`
	Ns   float64 `json:"ns"`
	Ints float64 `json:"int32Ns,omitzero"`
	All  float64 `json:"allNs,omitzero"`
}
