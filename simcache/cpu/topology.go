package cpu

import (
	"errors"
	"fmt"
	"path"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// A Logical is a CPU of the operating system's: a core, or with SMT a thread of one.
type Logical struct {
	CPU  int // number
	Core int // number of the first CPU of its core
	Node int // NUMA node; 0 where there are none
}

// Workers returns the CPUs that this process may run on, in the order in which
// threads that share a task are pinned to them: one of each core, from the last
// core on (the first ones serve most interrupts), and then, core by core, further
// SMT siblings. On Linux sysfs says which CPUs share a core; elsewhere each counts
// as one.
func Workers() []Logical { return thisSystem().workers(allowed()) }

// workers orders the CPUs that are allowed and online.
func (s system) workers(allowed []int) []Logical {
	if len(allowed) == 0 { // as the system does not tell
		for cpu := range runtime.NumCPU() {
			allowed = append(allowed, cpu)
		}
	}
	online := s.list("sys/devices/system/cpu/online")
	if !slices.ContainsFunc(allowed, func(cpu int) bool { return slices.Contains(online, cpu) }) {
		online = nil // LXCFS counts a container's CPUs from 0, wherever they are
	}
	nodes := s.nodes()
	var all []Logical
	turn := map[int]int{} // of the next sibling of a core
	turns := map[int]int{}
	allowed = slices.Clone(allowed)
	slices.Sort(allowed)
	for _, cpu := range slices.Backward(allowed) {
		if online != nil && !slices.Contains(online, cpu) {
			continue
		}
		l := Logical{CPU: cpu, Core: cpu}
		folder := fmt.Sprintf("sys/devices/system/cpu/cpu%d/topology", cpu)
		// the second one before Linux 5.4
		for _, name := range []string{"core_cpus_list", "thread_siblings_list"} {
			if siblings := s.list(path.Join(folder, name)); siblings != nil {
				l.Core = siblings[0]
				break
			}
		}
		for _, n := range nodes {
			if slices.Contains(n.CPUs, cpu) {
				l.Node = n.ID
			}
		}
		turns[cpu] = turn[l.Core]
		turn[l.Core]++
		all = append(all, l)
	}
	slices.SortStableFunc(all, func(a, b Logical) int { return turns[a.CPU] - turns[b.CPU] })
	return all
}

// A Node is a NUMA node.
type Node struct {
	ID     int   `json:"id"`
	CPUs   []int `json:"cpus"`   // that are online; none of a node that is memory alone
	Memory int   `json:"memory"` // bytes; 0 of a node without memory
	// to each node, in their order, in tenths of what is local (ACPI's SLIT); empty if unknown
	Distances []int `json:"distances"`
}

// Nodes returns the NUMA nodes that Linux's sysfs lists
// (Documentation/ABI/stable/sysfs-devices-node), none elsewhere.
func Nodes() []Node { return thisSystem().nodes() }

func (s system) nodes() []Node {
	var all []Node
	for _, id := range s.list("sys/devices/system/node/online") {
		folder := fmt.Sprintf("sys/devices/system/node/node%d", id)
		n := Node{ID: id, CPUs: append([]int{}, s.list(path.Join(folder, "cpulist"))...),
			Distances: []int{}}
		for _, field := range strings.Fields(s.text(path.Join(folder, "distance"))) {
			if d, err := strconv.Atoi(field); err == nil {
				n.Distances = append(n.Distances, d)
			}
		}
		// Node 0 MemTotal: 24689424 kB
		for line := range strings.Lines(s.text(path.Join(folder, "meminfo"))) {
			if fields := strings.Fields(line); len(fields) == 5 && fields[2] == "MemTotal:" {
				kib, _ := strconv.Atoi(fields[3])
				n.Memory = kib << 10
			}
		}
		all = append(all, n)
	}
	return all
}

// list reads a file of a list of CPUs or nodes; nil where it cannot be read, or is
// empty.
func (s system) list(name string) []int {
	list, err := ParseList(s.text(name))
	if err != nil {
		return nil
	}
	return list
}

// FormatList writes CPUs or nodes as ParseList reads them, ranges as such.
func FormatList(list []int) string {
	var parts []string
	for i := 0; i < len(list); i++ {
		from := i
		for i+1 < len(list) && list[i+1] == list[i]+1 {
			i++
		}
		text := strconv.Itoa(list[from])
		if i > from {
			text += "-" + strconv.Itoa(list[i])
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ",")
}

// maxCPU is more than any system numbers.
const maxCPU = 1 << 20

// ParseList reads a list of CPUs or nodes as the kernel writes it, such as "0-3,8",
// and returns the numbers in its order. It refuses what is no such list, numbers
// that are given twice, and an empty one.
func ParseList(text string) ([]int, error) {
	var list []int
	seen := map[int]bool{}
	for part := range strings.SplitSeq(text, ",") {
		from, to, ranged := strings.Cut(part, "-")
		if !ranged {
			to = from
		}
		a, errA := strconv.ParseUint(from, 10, 32)
		b, errB := strconv.ParseUint(to, 10, 32)
		if errA != nil || errB != nil || b < a || b > maxCPU {
			return nil, errors.New("want numbers and ranges, such as 0-3,8")
		}
		for n := int(a); n <= int(b); n++ {
			if seen[n] {
				return nil, fmt.Errorf("%d is there twice", n)
			}
			seen[n] = true
			list = append(list, n)
		}
	}
	return list, nil
}
