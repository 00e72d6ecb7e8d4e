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

// A MemoryLimit is what a system lets this process take of the memory.
type MemoryLimit struct {
	Bytes  int
	Left   int    // bytes of it that can still be taken
	Source string // file that says so, or the command that set it
}

// A quota is how many CPUs a control group may use on average.
type quota struct {
	cpus   float64 // 0 for no limit
	source string
}

// A controlGroup is one that this process is in, or one above it, as folders of a
// system; those of version 2 have all controllers.
type controlGroup struct {
	controller string // of version 1: memory or cpu; "" for version 2
	folder     string
}

// controlGroups are those that this process is in, each from its own up to the
// highest that it sees, as /proc/self/cgroup and mountinfo say (cgroups(7),
// proc_pid_mountinfo(5)). Both are of a container, or not, as its runtime has it.
func controlGroups(root fs.FS) (all []controlGroup) {
	inside := map[string]string{} // by controller, the path of the group
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

// groupsOf are a group and those above it, up to where the groups are mounted. Of
// what is mounted, top is the highest; the path is that of the group, and outside of
// it if the one that says it and the one that is mounted are not of one container.
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

// memory is the limit of a group, if it has one. What files are cached of is given
// back before the limit is reached. A sixteenth of the limit is for what a process
// takes besides, such as tables of pages.
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

// cpus is the quota of a group.
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

// readQuota is the least quota of all groups.
func readQuota(root fs.FS) (least quota) {
	for _, g := range controlGroups(root) {
		if q := g.cpus(root); q.cpus > 0 && (least.cpus == 0 || q.cpus < least.cpus) {
			least = q
		}
	}
	return least
}

// resources are the limits that a shell's ulimit sets, as /proc names them, with
// what counts against them, and what Go's runtime and its threads take, which
// reserve more than they use: in all, so many bytes and more for each CPU, and
// some of it only as a program goes on.
var resources = []struct {
	name, taken, command string
	least, perCPU, spare int
}{
	{"Max address space", "VmSize:", "ulimit -v", 1792 << 20, 128 << 20, 256 << 20},
	{"Max data size", "VmData:", "ulimit -d", 256 << 20, 16 << 20, 128 << 20},
}

// CheckResources refuses limits (ulimit -v, -d) under which Go's runtime may fail
// wherever it is, which it does with a traceback.
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

// readMemoryLimits are all limits below the memory of the machine (0 is unknown),
// the one that leaves least first.
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

// resource is a limit of /proc/self/limits in bytes, if there is one.
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

// number reads a file that holds one, and not "max" or what version 1 has for it,
// the greatest that fits.
func number(root fs.FS, file string) (n int, ok bool) {
	n, err := strconv.Atoi(fileText(root, file))
	return n, err == nil && n >= 0 && n < math.MaxInt64-1<<20
}

// fileText is what a small file holds, "" if it cannot be read.
func fileText(root fs.FS, file string) string {
	data, _ := fs.ReadFile(root, strings.TrimPrefix(file, "/"))
	return strings.TrimSpace(string(data))
}

func fileLines(root fs.FS, file string) iter.Seq[string] {
	return strings.SplitSeq(fileText(root, file), "\n")
}
