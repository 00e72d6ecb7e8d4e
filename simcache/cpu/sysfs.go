package cpu

import (
	"encoding/binary"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"github.com/klauspost/cpuid/v2/topology"
	"github.com/stridebench/stridebench/simcache"
)

// folder is Linux's of the CPU that is meant.
func (s system) folder() string { return fmt.Sprintf("sys/devices/system/cpu/cpu%d", s.cpu) }

// text is a file's, "" where it cannot be read.
func (s system) text(name string) string {
	if s.files == nil {
		return ""
	}
	text, _ := fs.ReadFile(s.files, name)
	return strings.TrimSpace(string(text))
}

// fromSysfs reads index0, index1, ... of Linux's cache folder of the CPU
// (Documentation/ABI/testing/sysfs-devices-system-cpu). What it does not tell is 0;
// on many arm64 boards that is all but level and type.
func (s system) fromSysfs() []Cache {
	if s.files == nil {
		return nil
	}
	entries, _ := fs.Glob(s.files, path.Join(s.folder(), "cache/index*"))
	online := s.list("sys/devices/system/cpu/online")
	var caches []Cache
	for _, entry := range entries {
		number := func(name string) int {
			n, _ := strconv.Atoi(s.text(path.Join(entry, name)))
			return max(n, 0)
		}
		c := Cache{Level: number("level"), Type: s.text(path.Join(entry, "type")),
			Source: simcache.FromSysfs,
			Geometry: simcache.Geometry{Size: sysfsSize(s.text(path.Join(entry, "size"))),
				Ways: number("ways_of_associativity"), Line: number("coherency_line_size")},
			Shared: len(s.list(path.Join(entry, "shared_cpu_list"))),
		}
		c.Only = online != nil && c.Shared >= len(online)
		if c.Geometry.Ways == 0 {
			c.Geometry.Ways = waysOf(c.Geometry.Size, number("number_of_sets"), c.Geometry.Line)
		}
		if c.Level > 0 && c.Type != "" {
			caches = append(caches, c)
		}
	}
	return caches
}

// waysOf divides a size by sets and lines, 0 where any is unknown.
func waysOf(size, sets, line int) int {
	if sets <= 0 || line <= 0 {
		return 0
	}
	return size / sets / line
}

// sysfsSize reads "32K" or "8M" as bytes, 0 if it is neither.
func sysfsSize(text string) int {
	unit := 1
	switch {
	case strings.HasSuffix(text, "K"):
		unit = 1 << 10
	case strings.HasSuffix(text, "M"):
		unit = 1 << 20
	}
	n, err := strconv.Atoi(strings.TrimRight(text, "KM"))
	if err != nil || n > 1<<40 {
		return 0
	}
	return n * unit
}

// fromDeviceTree reads the cache properties of the CPU's node and of the nodes
// that its next-level-cache leads to (Devicetree Specification v0.4, sections
// 3.8.1 and 3.9), for kernels whose sysfs does not have them.
func (s system) fromDeviceTree() []Cache {
	if s.files == nil {
		return nil
	}
	node := path.Join(s.folder(), "of_node")
	var caches []Cache
	add := func(level int, kind topology.CacheType, prefix string) bool {
		cell := func(name string) int { return s.cell(path.Join(node, prefix+"cache-"+name)) }
		g := simcache.Geometry{Size: cell("size"), Line: cell("line-size")}
		if g.Line == 0 {
			g.Line = cell("block-size") // which the line is, unless told otherwise
		}
		g.Ways = waysOf(g.Size, cell("sets"), g.Line)
		if g.Size > 0 {
			caches = append(caches, Cache{Level: level, Type: kind.String(), Geometry: g,
				Source: simcache.FromDeviceTree})
		}
		return g.Size > 0
	}
	split := add(1, topology.Data, "d-")
	if split = add(1, topology.Instruction, "i-") || split; !split {
		add(1, topology.Unified, "")
	}
	for level := 2; level <= 4; level++ {
		if node = s.withPhandle(s.cell(path.Join(node, "next-level-cache"))); node == "" {
			break
		}
		add(level, topology.Unified, "")
	}
	return caches
}

// cell is a property of the device tree of 32 bits, which is big-endian.
func (s system) cell(name string) int {
	value, err := fs.ReadFile(s.files, name)
	if err != nil || len(value) != 4 {
		return 0
	}
	return int(binary.BigEndian.Uint32(value))
}

// withPhandle finds the node of a cache: they are at the root, beside the CPUs, or
// in them.
func (s system) withPhandle(phandle int) string {
	if phandle == 0 {
		return ""
	}
	for _, pattern := range []string{"*", "cpus/*", "cpus/*/*"} {
		found, _ := fs.Glob(s.files, path.Join("sys/firmware/devicetree/base", pattern, "phandle"))
		for _, name := range found {
			if s.cell(name) == phandle {
				return path.Dir(name)
			}
		}
	}
	return ""
}
