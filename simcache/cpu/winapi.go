package cpu

import (
	"encoding/binary"
	"math/bits"

	"github.com/klauspost/cpuid/v2/topology"
	"github.com/stridebench/stridebench/simcache"
)

// fromWindows decodes SYSTEM_LOGICAL_PROCESSOR_INFORMATION_EX structures whose
// union is a CACHE_RELATIONSHIP (winnt.h), as 64-bit Windows lays them out: of
// the first CPU of the first group.
func (s system) fromWindows() []Cache {
	const relationCache, wholeRecord, full = 2, 56, 0xff
	var caches []Cache
	for rest := s.processors; len(rest) >= 8; {
		kind, size := binary.LittleEndian.Uint32(rest), int(binary.LittleEndian.Uint32(rest[4:]))
		if size < 8 || size > len(rest) {
			break
		}
		record := rest[:size]
		rest = rest[size:]
		if kind != relationCache || size < wholeRecord {
			continue
		}
		mask, group := binary.LittleEndian.Uint64(record[40:]),
			binary.LittleEndian.Uint16(record[48:])
		names := map[uint32]topology.CacheType{0: topology.Unified, 1: topology.Instruction,
			2: topology.Data}
		name, ok := names[binary.LittleEndian.Uint32(record[16:])]
		if group != 0 || mask&1 == 0 || !ok {
			continue
		}
		c := Cache{Level: int(record[8]), Type: name.String(), Shared: bits.OnesCount64(mask),
			Source: simcache.FromWindows,
			Geometry: simcache.Geometry{Ways: int(record[9]),
				Line: int(binary.LittleEndian.Uint16(record[10:])),
				Size: int(binary.LittleEndian.Uint32(record[12:]))}}
		if c.Geometry.Ways == full && c.Geometry.Line > 0 {
			c.Geometry.Ways = c.Geometry.Size / c.Geometry.Line
		}
		caches = append(caches, c)
	}
	return caches
}
