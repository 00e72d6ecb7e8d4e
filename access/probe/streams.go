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
	Op  access.Op // sum, fill or copy
	Ns  float64   // of a line, which is read or written; of a copy of one that is read and one that is written
	All float64   // how far apart lines are, whichever core they go to, where all cores stream together; 0 where it was not measured, and of one core
}

var streamOps = []access.Op{access.Sum, access.Fill, access.Copy}

// streams measures them, by one core and by all workers, over the largest working set, at one of the moments that bandwidths are measured at.
func (s *sampler) streams(m *Machine) error {
	const elems = line / 8
	share := streamsShare / bandwidthTimes / float64(len(streamOps))
	var now []Stream
	for _, op := range streamOps {
		stream := func(bytes int) access.Spec {
			if op == access.Copy {
				bytes /= 2
			}
			return access.Spec{Op: op, DType: layouts.Int64, Shape: []int{bytes / layouts.Int64.Size()}}
		}
		of := Stream{Op: op}
		ns, err := s.moment(1, []access.Spec{stream(s.MaxSize)}, 2, .6*share, access.PagesSmall, nil)
		if err != nil {
			return err
		}
		of.Ns = elems * ns[0]
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
		now[i].Ns, now[i].All = min(now[i].Ns, before.Ns), min(now[i].All, before.All)
	}
	m.Streamed = now
	return nil
}

// writeStreams writes a table of them.
func (m Machine) writeStreams(t *tabwriter.Writer) {
	if len(m.Streamed) == 0 {
		return
	}
	fmt.Fprintln(t)
	writeRow(t, "lines of memory by plain loops", m.Streamed, func(s Stream) string { return s.Op.String() })
	writeRow(t, "one after the other", m.Streamed, func(s Stream) string { return timeCell(s.Ns) })
	if m.Threads > 1 {
		writeRow(t, fmt.Sprintf("by %d threads together", m.Threads), m.Streamed, func(s Stream) string { return timeCell(s.All) })
	}
}

// A stream is the part of the section measured that a [Stream] is.
type stream struct {
	Op  string  `yaml:"op"`
	Ns  float64 `yaml:"ns"`
	All float64 `yaml:"all-ns,omitempty"`
}

// MarshalYAML implements yaml.BytesMarshaler.
func (s stream) MarshalYAML() ([]byte, error) { type plain stream; return flow(plain(s)) }

// stream is what it stands for.
func (s stream) stream() (Stream, error) {
	op, err := access.ParseOp(s.Op)
	if err != nil || !slices.Contains(streamOps, op) {
		return Stream{}, fmt.Errorf("op %q (want sum, fill or copy)", s.Op)
	}
	return Stream{op, s.Ns, s.All}, nil
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
		if !positive(of.Ns) || of.All != 0 && !positive(of.All) {
			return path, fmt.Errorf("%v ns, by all cores %v ns (want positive times, or no all-ns)", of.Ns, of.All)
		}
	}
	return "", nil
}

type jsonStream struct {
	Op  string  `json:"op"`
	Ns  float64 `json:"ns"`
	All float64 `json:"allNs,omitzero"`
}
