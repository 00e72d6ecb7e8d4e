package probe

import (
	"fmt"
	"text/tabwriter"

	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/machines"
)

// This file measures what a last level serves of working sets that are a little too large for it. How much that is depends on how soon a
// pass comes again: others put theirs in its place meanwhile, and its replacement is not quite LRU. So it is read as fast as can
// be, beside the ladder of latencies, whose passes take tens of times as long.

// A Reading is what sums in the best vectors get that go over a working set again and again: from about half of what the last level
// serves on, beyond which it misses the more the longer a pass takes.
type Reading struct {
	Size    int     // bytes, for each of the last levels
	Read    float64 // B/s of one core
	ReadAll float64 // B/s that all cores have together; 0 where it was not measured
}

// readLadder prepares the points of the ladder of reads, and tells over how many bytes one core reads for each, and all, of which
// those on each last level have so many; 0 is for what there is no memory for. There are none where nothing lies behind a last level.
func (s *sampler) readLadder(m *Machine) (one, all []int) {
	last := m.Levels[len(m.Levels)-1]
	if len(m.Levels) < 2 || m.Memory == (Speed{}) {
		return nil, nil
	}
	known := m.ReadLadder != nil // of a moment before
	for _, size := range sizes(MinSize, min(max(mostRead*last.Capacity, last.Stated), s.MaxSize)) {
		if 2*size < last.Capacity {
			continue
		}
		if !known {
			m.ReadLadder = append(m.ReadLadder, Reading{Size: size})
		}
		one, all = append(one, size), append(all, size*s.number(last))
		if all[len(all)-1] > s.behindAll() {
			all[len(all)-1] = 0
		}
	}
	return one, all
}

// mostRead is how many times as much as the last level serves the ladder of reads goes up to; further if the level is stated to be
// larger: of 300 MiB a chase found 20 on an Emerald Rapids, and sixteen cores read 140 MiB at twice the pace of memory.
const mostRead = 4

// writeReads writes a table of them.
func (m Machine) writeReads(t *tabwriter.Writer) {
	if len(m.ReadLadder) == 0 {
		return
	}
	fmt.Fprintln(t)
	writeRow(t, "reads again and again of", m.ReadLadder, func(r Reading) string { return simcache.Bytes(r.Size) })
	writeRow(t, "by one core", m.ReadLadder, func(r Reading) string { return bandwidthCell(r.Read) })
	if m.Threads > 1 {
		writeRow(t, fmt.Sprintf("by %d threads together", m.Threads), m.ReadLadder, func(r Reading) string { return bandwidthCell(r.ReadAll) })
	}
}

// A readRung is the part of the section measured that a [Reading] is.
type readRung struct {
	Size    machines.Size `yaml:"size"`
	Read    float64       `yaml:"read-GB/s"`
	ReadAll float64       `yaml:"read-all-GB/s,omitempty"`
}

// MarshalYAML implements yaml.BytesMarshaler.
func (r readRung) MarshalYAML() ([]byte, error) { type plain readRung; return flow(plain(r)) }

// checkReads refuses what nothing can be concluded from, and tells the path of the part at fault.
func (s section) checkReads() (path string, err error) {
	before := machines.Size(0)
	for i, r := range s.ReadLadder {
		if r.Size <= before || !positive(r.Read) || r.ReadAll != 0 && !positive(r.ReadAll) {
			return fmt.Sprintf("read-ladder[%d]", i), fmt.Errorf("%s after %s, of %v GB/s and of all cores %v (want sizes that ascend and positive bandwidths, or no read-all-GB/s)", r.Size, before, r.Read, r.ReadAll)
		}
		before = r.Size
	}
	return "", nil
}

type jsonReading struct {
	Size    int     `json:"size"`
	Read    float64 `json:"readBytesPerSecond"`
	ReadAll float64 `json:"readAllBytesPerSecond,omitzero"`
}
