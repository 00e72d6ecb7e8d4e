package cpu

import (
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"github.com/stridebench/stridebench/simcache"
)

func (s system) folder() string { return fmt.Sprintf("sys/devices/system/cpu/cpu%d", s.cpu) }

func (s system) text(name string) string {
	if s.files == nil {
		return ""
	}
	text, _ := fs.ReadFile(s.files, name)
	return strings.TrimSpace(string(text))
}

// fromSysfs reads index0, index1, ... of Linux's cache folder
// (Documentation/ABI/testing/sysfs-devices-system-cpu), which on arm64 has the figures of the device
// tree. Missing figures are 0; many arm64 boards give only level and type.
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
			Source: ofSysfs,
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

func waysOf(size, sets, line int) int {
	if sets <= 0 || line <= 0 {
		return 0
	}
	return size / sets / line
}

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
