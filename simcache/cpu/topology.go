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

// A Logical is a CPU of the operating system: a core, or with SMT a thread of one.
type Logical struct {
	CPU  int // number
	Core int // lowest CPU number of its core
	Node int // NUMA node; 0 if there are none
}

// Workers returns the CPUs that this process may run on, in the order in which threads of a task
// are pinned. First comes one of each core, from the last core down, because the first ones serve
// most interrupts; then further SMT siblings. Linux's sysfs says which CPUs share a core; elsewhere
// each CPU counts as a core.
func Workers() []Logical { return thisSystem().workers(allowed()) }

func (s system) workers(allowed []int) []Logical {
	if len(allowed) == 0 { // the system does not state them
		for cpu := range runtime.NumCPU() {
			allowed = append(allowed, cpu)
		}
	}
	online := s.list("sys/devices/system/cpu/online")
	if !slices.ContainsFunc(allowed, func(cpu int) bool { return slices.Contains(online, cpu) }) {
		online = nil // LXCFS numbers a container's CPUs from 0, whichever they are
	}
	nodes := s.nodes()
	var all []Logical
	turn := map[int]int{} // index of the next sibling of each core
	turns := map[int]int{}
	allowed = slices.Clone(allowed)
	slices.Sort(allowed)
	for _, cpu := range slices.Backward(allowed) {
		if online != nil && !slices.Contains(online, cpu) {
			continue
		}
		l := Logical{CPU: cpu, Core: cpu}
		folder := fmt.Sprintf("sys/devices/system/cpu/cpu%d/topology", cpu)
		// the second name is for Linux before 5.4
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
	CPUs   []int `json:"cpus"`   // online; empty for a node of memory only
	Memory int   `json:"memory"` // bytes; 0 for a node without memory
	// to each node, in tenths of the local distance (ACPI's SLIT); empty if unknown
	Distances []int `json:"distances"`
}

// Nodes returns the NUMA nodes in Linux's sysfs (Documentation/ABI/stable/sysfs-devices-node), none
// elsewhere.
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

func (s system) list(name string) []int {
	list, err := ParseList(s.text(name))
	if err != nil {
		return nil
	}
	return list
}

// FormatList formats CPUs or nodes for ParseList.
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

// maxCPU exceeds every system's CPU numbers.
const maxCPU = 1 << 20

// ParseList reads a list of CPUs or nodes as the kernel writes it, such as "0-3,8", and keeps its
// order. An empty or malformed list, or a repeated number, is an error.
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
