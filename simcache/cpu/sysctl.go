package cpu

import (
	"github.com/klauspost/cpuid/v2/topology"
	"github.com/stridebench/stridebench/simcache"
)

// fromSysctl reads macOS's sizes of the performance cores (sysctl.h: level 0 is the fastest cores;
// hw.l1dcachesize is the slowest cores'). It states no ways, and not the first level's line
// (core.line).
func (s system) fromSysctl() []Cache {
	if s.sysctl == nil {
		return nil
	}
	const level0 = "hw.perflevel0."
	logical, physical := s.sysctl(level0+"logicalcpu"), s.sysctl(level0+"physicalcpu")
	threads := 0
	if physical > 0 {
		threads = logical / physical
	}
	line := s.sysctl("hw.cachelinesize")
	var caches []Cache
	for _, part := range []struct {
		level  int
		kind   topology.CacheType
		name   string
		line   int
		shared int
	}{
		{1, topology.Data, "l1dcachesize", 0, threads},
		{1, topology.Instruction, "l1icachesize", 0, threads},
		{2, topology.Unified, "l2cachesize", line, s.sysctl(level0 + "cpusperl2")},
		{3, topology.Unified, "l3cachesize", line, s.sysctl(level0 + "cpusperl3")},
	} {
		if size := s.sysctl(level0 + part.name); size > 0 {
			caches = append(caches, Cache{Level: part.level, Type: part.kind.String(),
				Shared:   part.shared,
				Geometry: simcache.Geometry{Size: size, Line: part.line},
				Source:   ofSysctl})
		}
	}
	return caches
}
