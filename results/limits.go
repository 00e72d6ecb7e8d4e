package results

import (
	"cmp"
	"fmt"
	"io/fs"
	"iter"
	"math"
	"os"
	"path"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// A MemoryLimit is the memory granted to this process.
type MemoryLimit struct {
	Bytes  int
	Left   int    // bytes still available
	Source string // its file, or the command that set it
}

type quota struct {
	cpus   float64 // 0 for no limit
	source string
}

// A controlGroup holds this process. One of version 2 has all controllers.
type controlGroup struct {
	controller string // of version 1: memory or cpu; "" for version 2
	folder     string
}

// controlGroups returns this process's groups, each from its own up to the highest visible one,
// from /proc/self/cgroup and mountinfo (cgroups(7), proc_pid_mountinfo(5)). Either file may show
// the container's view.
func controlGroups(root fs.FS) (all []controlGroup) {
	inside := map[string]string{} // group's path by controller
	for line := range fileLines(root, "proc/self/cgroup") {
		if parts := strings.SplitN(line, ":", 3); len(parts) == 3 {
			for controller := range strings.SplitSeq(parts[1], ",") {
				inside[controller] = parts[2]
			}
		}
	}
	for line := range fileLines(root, "proc/self/mountinfo") {
		mount, system, _ := strings.Cut(line, " - ")
		fields, kind := strings.Fields(mount), strings.Fields(system)
		if len(fields) < 5 || len(kind) < 3 {
			continue
		}
		switch kind[0] {
		case "cgroup2":
			all = append(all, groupsOf("", fields[4], fields[3], inside[""])...)
		case "cgroup":
			for _, controller := range []string{"memory", "cpu"} {
				if slices.Contains(strings.Split(kind[2], ","), controller) {
					all = append(all, groupsOf(controller, fields[4], fields[3],
						inside[controller])...)
				}
			}
		}
	}
	return all
}

// groupsOf returns a group and those above it, up to the mounted top. inside lies outside top if
// the two files show different containers.
func groupsOf(controller, mount, top, inside string) (all []controlGroup) {
	below, ok := strings.CutPrefix(inside, strings.TrimSuffix(top, "/"))
	if !ok {
		below = "/"
	}
	for at := path.Join("/", below); ; at = path.Dir(at) {
		all = append(all, controlGroup{controller, path.Join(mount, at)})
		if at == "/" {
			return all
		}
	}
}

// memory returns a group's limit. Cached file pages are reclaimed before the limit is reached, so
// they do not count as taken. A sixteenth is kept for other needs, such as page tables.
func (g controlGroup) memory(root fs.FS) (limit MemoryLimit, ok bool) {
	most, used, cached := "memory.max", "memory.current", []string{"inactive_file", "active_file"}
	switch g.controller {
	case "memory":
		most, used, cached = "memory.limit_in_bytes", "memory.usage_in_bytes",
			[]string{"total_inactive_file", "total_active_file"}
	case "cpu":
		return limit, false
	}
	n, known := number(root, path.Join(g.folder, most))
	if !known {
		return limit, false
	}
	limit = MemoryLimit{Bytes: n, Left: n - n/16, Source: path.Join(g.folder, most)}
	taken, _ := number(root, path.Join(g.folder, used))
	for line := range fileLines(root, path.Join(g.folder, "memory.stat")) {
		if name, value, _ := strings.Cut(line, " "); slices.Contains(cached, name) {
			n, _ := strconv.Atoi(value)
			taken -= n
		}
	}
	limit.Left = max(0, limit.Left-max(0, taken))
	return limit, true
}

func (g controlGroup) cpus(root fs.FS) quota {
	var most, period string
	source := path.Join(g.folder, "cpu.max")
	switch g.controller {
	case "":
		most, period, _ = strings.Cut(fileText(root, source), " ")
	case "cpu":
		source = path.Join(g.folder, "cpu.cfs_quota_us")
		most, period = fileText(root, source),
			fileText(root, path.Join(g.folder, "cpu.cfs_period_us"))
	}
	of, err1 := strconv.ParseFloat(most, 64)
	each, err2 := strconv.ParseFloat(period, 64)
	if err1 != nil || err2 != nil || of <= 0 || each <= 0 { // "max", or -1
		return quota{}
	}
	return quota{of / each, source}
}

func readQuota(root fs.FS) (least quota) {
	for _, g := range controlGroups(root) {
		if q := g.cpus(root); q.cpus > 0 && (least.cpus == 0 || q.cpus < least.cpus) {
			least = q
		}
	}
	return least
}

// resources are the limits of ulimit as /proc names them, and the /proc/self/status line that
// counts against each. Go's runtime reserves least and perCPU bytes more than it uses, and spare
// bytes while it runs.
var resources = []struct {
	name, taken, command string
	least, perCPU, spare int
}{
	{"Max address space", "VmSize:", "ulimit -v", 1792 << 20, 128 << 20, 256 << 20},
	{"Max data size", "VmData:", "ulimit -d", 256 << 20, 16 << 20, 128 << 20},
}

// CheckResources returns an error for limits (ulimit -v, -d) under which Go's runtime may fail with
// a traceback.
func CheckResources() error { return checkResources(os.DirFS("/"), runtime.GOMAXPROCS(0)) }

func checkResources(root fs.FS, cpus int) error {
	for _, r := range resources {
		least := r.least + cpus*r.perCPU
		if limit, ok := resource(root, r.name); ok && limit < least {
			return fmt.Errorf("%s %d: want at least %d or unlimited, since Go's runtime reserves "+
				"more memory than it uses (%s on %d CPUs)",
				r.command, limit>>10, least>>10, Bytes(least), cpus)
		}
	}
	return nil
}

// readMemoryLimits returns the limits below the machine's memory (0 if unknown), the tightest
// first.
func readMemoryLimits(root fs.FS, memory int) (all []MemoryLimit) {
	for _, g := range controlGroups(root) {
		if l, ok := g.memory(root); ok && l.Bytes < cmp.Or(memory, math.MaxInt) {
			all = append(all, l)
		}
	}
	for _, r := range resources {
		limit, ok := resource(root, r.name)
		if !ok {
			continue
		}
		taken := 0
		for line := range fileLines(root, "proc/self/status") {
			if f := strings.Fields(line); len(f) == 3 && f[0] == r.taken {
				n, _ := strconv.Atoi(f[1])
				taken = n << 10
			}
		}
		all = append(all, MemoryLimit{Bytes: limit, Left: max(0, limit-taken-r.spare),
			Source: r.command})
	}
	slices.SortStableFunc(all, func(a, b MemoryLimit) int { return cmp.Compare(a.Left, b.Left) })
	return all
}

func resource(root fs.FS, name string) (limit int, ok bool) {
	for line := range fileLines(root, "proc/self/limits") {
		if rest, found := strings.CutPrefix(line, name); found {
			if f := strings.Fields(rest); len(f) > 0 {
				n, err := strconv.Atoi(f[0])
				return n, err == nil // or unlimited
			}
		}
	}
	return 0, false
}

// number reads a number, but not "max" or version 1's value for no limit.
func number(root fs.FS, file string) (n int, ok bool) {
	n, err := strconv.Atoi(fileText(root, file))
	return n, err == nil && n >= 0 && n < math.MaxInt64-1<<20
}

func fileText(root fs.FS, file string) string {
	data, _ := fs.ReadFile(root, strings.TrimPrefix(file, "/"))
	return strings.TrimSpace(string(data))
}

func fileLines(root fs.FS, file string) iter.Seq[string] {
	return strings.SplitSeq(fileText(root, file), "\n")
}
