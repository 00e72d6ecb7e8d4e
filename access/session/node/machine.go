// Package node is the program's own and promises nothing. It says what a run records of the machine
// that it runs on: its CPU, memory and limits, what else the machine did, and its share of the run.
package node

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/klauspost/cpuid/v2"

	"github.com/stridebench/stridebench/results/show"
	"github.com/stridebench/stridebench/simcache/cpu"
)

// A Fact is one property of the machine, with its source.
type Fact struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Source string `json:"source"`
}

// A Machine describes this machine, without its caches.
type Machine struct {
	GOOS, GOARCH string
	GoVersion    string
	CPU          string // brand name, "" if unknown
	CPUFrom      string // source of CPU
	CPUs         int    // logical CPUs that this process may use
	Hypervisor   string // of a virtual machine, "" if unknown
	Memory       int    // bytes in total, 0 if unknown
	Available    int    // bytes that can be allocated now, 0 if unknown

	MemoryLimit int     // of this process, if LimitFrom is set
	LimitFrom   string  // its file, or the command that set it
	CPUQuota    float64 // CPUs that this process may use on average, 0 for no limit

	Governors []string // frequency governors of the CPUs, each once; empty if unknown
	Turbo     string   // "on", "off", or "" if unknown
}

// ThisMachine asks Go, cpuid and, on Linux, /proc, the control group, and sysfs. On Linux, an arm64
// CPU has no brand string; it gets the name of the pinned CPUs' core from cpu.Name.
func ThisMachine(pinned ...int) Machine {
	m := Machine{
		GOOS: runtime.GOOS, GOARCH: runtime.GOARCH, GoVersion: runtime.Version(),
		CPU: strings.Join(strings.Fields(cpuid.CPU.BrandName), " "), CPUFrom: "cpuid",
		CPUs:       runtime.NumCPU(),
		Hypervisor: cpuid.CPU.HypervisorVendorString,
	}
	if f, err := os.Open(meminfo); err == nil {
		defer f.Close()
		m.Memory, m.Available = parseMeminfo(f)
	}
	m.named(cpu.Name(pinned...))
	m.setLimits(os.DirFS("/"))
	m.setFrequency()
	return m
}

func (m *Machine) named(core string) {
	if m.CPU == "" && core != "" {
		m.CPU, m.CPUFrom = core, "midr"
	}
}

const meminfo = "/proc/meminfo"

// parseMeminfo returns MemTotal and MemAvailable in bytes, 0 if unknown.
func parseMeminfo(r io.Reader) (total, available int) {
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) != 3 || fields[2] != "kB" {
			continue
		}
		n, err := strconv.Atoi(fields[1])
		if err != nil {
			continue
		}
		switch fields[0] {
		case "MemTotal:":
			total = n << 10
		case "MemAvailable:":
			available = n << 10
		}
	}
	return total, available
}

// Facts returns the known facts, with their sources.
func (m Machine) Facts() []Fact {
	bytes := func(n int) string {
		if n <= 0 {
			return ""
		}
		return show.Bytes(n)
	}
	quota, limit := "", ""
	if m.CPUQuota > 0 {
		quota = fmt.Sprintf("%.4g CPUs", m.CPUQuota)
	}
	if m.LimitFrom != "" {
		limit = show.Bytes(m.MemoryLimit)
	}
	return Known([]Fact{
		{"goos", m.GOOS, "go"}, {"goarch", m.GOARCH, "go"}, {"goversion", m.GoVersion, "go"},
		{"cpus", strconv.Itoa(m.CPUs), "go"}, {"cpu", m.CPU, m.CPUFrom},
		{"hypervisor", m.Hypervisor, "cpuid"}, {"cpu quota", quota, cpuLimit},
		{"memory", bytes(m.Memory), meminfo}, {"memory limit", limit, m.LimitFrom},
		{"memory available", bytes(m.Available), cmp.Or(m.LimitFrom, meminfo)},
		{"governor", strings.Join(m.Governors, " "), "sysfs"}, {"turbo", m.Turbo, "sysfs"},
	})
}

// Known returns the facts that have a value.
func Known(facts []Fact) []Fact {
	return slices.DeleteFunc(facts, func(f Fact) bool { return f.Value == "" })
}

// Load returns the load averages over 1, 5 and 15 minutes, "" if unknown.
func Load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return ""
	}
	fields := strings.Fields(string(text))
	return strings.Join(fields[:min(3, len(fields))], " ")
}

// WriteFacts writes a table of facts.
func WriteFacts(w io.Writer, facts []Fact) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "machine\tvalue\tfrom")
	for _, f := range facts {
		fmt.Fprintf(t, "%s\t%s\t%s\n", f.Name, f.Value, f.Source)
	}
	return t.Flush()
}
