package session

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/simcache/cpu"
)

// Threads says how many threads walk each benchmark, and where they and the memory are. The zero
// value changes nothing.
type Threads struct {
	Counts  []int // each benchmark runs with each count; 0 is all CPUs
	Grain   int   // elements, see access.Spec; 0 for access.GrainSize
	Pin     []int // CPUs to pin threads to, in order; nil for cpu.Workers
	CPUBind []int // NUMA nodes to whose CPUs threads are pinned
	MemBind []int // NUMA nodes of the memory
}

// Among returns the plan with its benchmarks walked by threads. It leaves out benchmarks that
// threads cannot share, and numbers of threads above the CPUs' if others remain; remarks say so. It
// returns an access.FieldError of threads, pin, cpubind or membind if this machine lacks what t
// names.
func (p Plan) Among(t Threads) (Plan, error) {
	return p.among(t, place{cpu.Workers(), cpu.Nodes(), runtime.GOOS})
}

type place struct {
	workers []cpu.Logical
	nodes   []cpu.Node
	system  string
}

func (p Plan) among(t Threads, at place) (Plan, error) {
	cpus, err := at.cpus(t)
	if err != nil {
		return p, err
	}
	if err := at.check("membind", t.MemBind, func(n cpu.Node) bool {
		return n.Memory > 0
	}, "memory"); err != nil {
		return p, err
	}
	remark := func(key, value string) {
		p.Remarks = append(slices.Clone(p.Remarks), results.Pair{Key: key, Value: value})
	}
	if t.MemBind != nil {
		p.MemBind = t.MemBind
		remark("membind", cpu.FormatList(t.MemBind))
	}
	if t.Pin != nil || t.CPUBind != nil || t.Counts != nil {
		p.CPUs = cpus
		if at.system == "linux" { // only Linux pins
			remark("pinned-to", cpu.FormatList(cpus))
		}
	}
	if t.Counts == nil {
		return p, nil
	}
	counts, more := t.upTo(len(cpus))
	if counts == nil {
		return p, fault("threads", strconv.Itoa(more[0]),
			fmt.Errorf("%s for them (want at most %d, or all)", thereAre(len(cpus)), len(cpus)))
	}
	if more != nil {
		remark("threads", fmt.Sprintf("left out, as %s: %s", thereAre(len(cpus)),
			strings.Trim(fmt.Sprint(more), "[]")))
	}
	if from := at.shared(cpus[:slices.Max(counts)]); from != "" {
		remark("threads", from)
	}
	timed := len(p.Comparisons)
	var alone []string
	if p.Comparisons, alone = threaded(p.Comparisons, counts, t.Grain); len(alone) > 0 {
		of := fmt.Sprintf("%d benchmarks, such as %s", len(alone), alone[0])
		if len(alone) == 1 {
			of = alone[0]
		}
		lead := "one thread only for "
		if !slices.Contains(counts, 1) {
			lead = "left out, as 1 is not among the numbers of threads: "
		}
		remark("threads", lead+of+": "+t.uncut())
	}
	if timed > 0 && len(p.Comparisons) == 0 {
		return p, fault("threads", strconv.Itoa(slices.Max(counts)),
			errors.New("no benchmark can be cut among threads: "+t.uncut()))
	}
	return p, nil
}

// upTo returns the distinct numbers of threads up to cpus, and those above. A list may be for
// machines of all sizes.
func (t Threads) upTo(cpus int) (counts, more []int) {
	for _, n := range t.Counts {
		if n == 0 {
			n = cpus
		}
		if n > cpus {
			more = append(more, n)
		} else if !slices.Contains(counts, n) {
			counts = append(counts, n)
		}
	}
	return counts, more
}

// shared says where further threads use another NUMA node or share cores: a curve of bandwidth by
// threads may bend there.
func (at place) shared(cpus []int) string {
	var said, nodes []string
	cores, known := map[int]bool{}, map[int]bool{}
	siblings := 0
	for i, c := range cpus {
		w := slices.IndexFunc(at.workers, func(l cpu.Logical) bool { return l.CPU == c })
		if w < 0 {
			continue
		}
		l := at.workers[w]
		if cores[l.Core] && siblings == 0 {
			siblings = i + 1
		}
		if !known[l.Node] {
			nodes = append(nodes, fmt.Sprintf("on NUMA node %d from %d on", l.Node, i+1))
		}
		cores[l.Core], known[l.Node] = true, true
	}
	if len(nodes) > 1 {
		said = nodes
	}
	if siblings > 0 {
		said = append(said, fmt.Sprintf("from %d on SMT siblings share cores", siblings))
	}
	return strings.Join(said, ", ")
}

func thereAre(cpus int) string {
	if cpus == 1 {
		return "there is 1 CPU"
	}
	return fmt.Sprintf("there are %d CPUs", cpus)
}

// uncut says what threads cannot share; see access.Pattern.Parts.
func (t Threads) uncut() string {
	return fmt.Sprintf("a chase cannot be cut, nor a copy by PyTorch's blocks, nor a tensor of "+
		"at most %d elements (--grain), nor elements that all threads write",
		cmp.Or(t.Grain, access.GrainSize))
}

func (at place) cpus(t Threads) ([]int, error) {
	if t.Pin != nil && t.CPUBind != nil {
		return nil, fault("pin", cpu.FormatList(t.Pin),
			errors.New("cpubind says what CPUs too: give one of them"))
	}
	var cpus []int
	for _, l := range at.workers {
		if t.CPUBind == nil || slices.Contains(t.CPUBind, l.Node) {
			cpus = append(cpus, l.CPU)
		}
	}
	if err := at.check("cpubind", t.CPUBind, func(n cpu.Node) bool {
		return len(n.CPUs) > 0
	}, "CPUs"); err != nil || t.Pin == nil {
		switch {
		case err != nil || len(cpus) > 0:
		case t.CPUBind == nil:
			err = errors.New("this process may run on no CPU")
		default:
			err = fault("cpubind", cpu.FormatList(t.CPUBind),
				errors.New("this process may run on none of its CPUs"))
		}
		return cpus, err
	}
	if at.system != "linux" {
		return nil, fault("pin", cpu.FormatList(t.Pin), errors.New("only Linux pins threads"))
	}
	for _, c := range t.Pin {
		if !slices.Contains(cpus, c) {
			slices.Sort(cpus)
			return nil, fault("pin", cpu.FormatList(t.Pin),
				fmt.Errorf("this process may not run on CPU %d (it may on %s)", c,
					cpu.FormatList(cpus)))
		}
	}
	return t.Pin, nil
}

// check refuses nodes that do not exist, or have no memory or CPUs.
func (at place) check(flag string, nodes []int, has func(cpu.Node) bool, what string) error {
	if nodes == nil {
		return nil
	}
	refuse := func(err error) error { return fault(flag, cpu.FormatList(nodes), err) }
	if at.system != "linux" {
		return refuse(errors.New("only Linux binds to NUMA nodes"))
	}
	var known []int
	for _, n := range at.nodes {
		if has(n) {
			known = append(known, n.ID)
		}
	}
	for _, n := range nodes {
		if len(known) == 0 {
			return refuse(errors.New("this system shows no NUMA nodes"))
		}
		if !slices.Contains(known, n) {
			return refuse(fmt.Errorf("node %d with %s does not exist (want %s)", n, what,
				cpu.FormatList(known)))
		}
	}
	return nil
}

// threaded returns each benchmark once for each number of threads. Names have the threads and,
// unless it is access.GrainSize, the grain in elements. It leaves out several threads for patterns
// without parts, whose names, without threads, are alone. The Pattern of a spec reports other
// errors.
func threaded(all []access.Comparison, threads []int,
	grain int) (some []access.Comparison, alone []string) {
	for _, c := range all {
		var more access.Comparison
		for _, b := range c {
			single := b.Spec.Op == access.Chase
			for _, n := range threads {
				s := b.Spec
				s.Threads, s.Grain = n, grain
				if n > 1 && !single {
					p, err := s.Pattern()
					single = err == nil && len(p.Parts()) == 0
				}
				if n > 1 && single {
					continue
				}
				more = append(more, access.Benchmark{
					Name: b.Name + strings.TrimPrefix(s.Name(), b.Spec.Name()), Spec: s})
			}
			if single && slices.Max(threads) > 1 {
				alone = append(alone, b.Name)
			}
		}
		if more != nil {
			some = append(some, more)
		}
	}
	return some, alone
}
