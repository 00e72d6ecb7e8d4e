package probe

import (
	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/layouts"
)

// This file measures loops over elements of memory. They reach less bandwidth than vector kernels,
// which prefetch and store past the caches, if the CPU's prefetchers do not keep up with a loop.

// A Stream is the time of a unit-stride loop over elements of 8 bytes in memory, on small pages.
type Stream struct {
	Op string `yaml:"op" json:"op"` // sum, fill or copy
	// Ns is per line that is read or written. A copy counts one line of each.
	Ns float64 `yaml:"ns" json:"ns"`
	// All is the ns between any two lines while all cores stream together. It is 0 if not measured
	// or with one core.
	All float64 `yaml:"all-ns,omitempty" json:"allNs,omitzero"`
}

var streamOps = []access.Op{access.Sum, access.Fill, access.Copy}

// streams measures them over the largest working set, by one core and by all workers.
func (s *sampler) streams(m *Machine) error {
	const elems = line / 8
	share := streamsShare / bandwidthTimes / float64(len(streamOps))
	var now []Stream
	for _, op := range streamOps {
		stream := func(bytes int) access.Spec { return streaming(op, bytes) }
		of := Stream{Op: op.String()}
		ns, err := s.moment(1, []access.Spec{stream(s.MaxSize)}, 2, .6*share,
			access.PagesSmall, nil)
		if err != nil {
			return err
		}
		of.Ns = elems * ns[0]
		if len(s.Workers) > 1 {
			if ns, err = s.moment(1, []access.Spec{s.byAll(stream)(s.MaxSize)}, 2, .4*share,
				access.PagesSmall, nil); err != nil {
				return err
			}
			of.All = elems * ns[0]
		}
		now = append(now, of)
	}
	for i, before := range m.Streamed {
		now[i].Ns, now[i].All = min(now[i].Ns, before.Ns), min(now[i].All, before.All)
	}
	m.Streamed = now
	return nil
}

func streaming(op access.Op, bytes int) access.Spec {
	const dtype = layouts.Int64
	if op == access.Copy {
		bytes /= 2
	}
	return access.Spec{Op: op, DType: dtype, Shape: []int{bytes / dtype.Size()}}
}
