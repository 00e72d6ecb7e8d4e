package results

import (
	"bufio"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"

	"github.com/klauspost/cpuid/v2"
)

// A Fact is one thing known of the machine, and where it came from.
type Fact struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Source string `json:"source"`
}

// A Machine is what is known of this machine apart from its caches.
type Machine struct {
	GOOS, GOARCH string
	GoVersion    string
	CPU          string // brand name, "" if unknown
	CPUs         int    // logical CPUs that this process may use
	Hypervisor   string // of a virtual machine, "" if none tells
	Memory       int    // bytes in all, 0 if unknown
	Available    int    // bytes that can be allocated now, 0 if unknown

	Governors []string // of the frequencies of the CPUs, each once; none if unknown
	Turbo     string   // "on", "off", or "" if unknown
}

// ThisMachine asks the Go runtime, cpuid and, on Linux, /proc.
func ThisMachine() Machine {
	m := Machine{
		GOOS: runtime.GOOS, GOARCH: runtime.GOARCH, GoVersion: runtime.Version(),
		CPU:        strings.Join(strings.Fields(cpuid.CPU.BrandName), " "),
		CPUs:       runtime.NumCPU(),
		Hypervisor: cpuid.CPU.HypervisorVendorString,
	}
	if f, err := os.Open("/proc/meminfo"); err == nil {
		defer f.Close()
		m.Memory, m.Available = parseMeminfo(f)
	}
	// A container's limit (cgroup v2) counts where it is lower.
	if limit, err := os.ReadFile("/sys/fs/cgroup/memory.max"); err == nil {
		if n, err := strconv.Atoi(strings.TrimSpace(string(limit))); err == nil && n > 0 {
			m.Memory, m.Available = min(m.Memory, n), min(m.Available, n)
		}
	}
	m.setFrequency()
	return m
}

// parseMeminfo reads MemTotal and MemAvailable of Linux's /proc/meminfo, in
// bytes; 0 is unknown.
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

// Facts lists what is known, with its sources.
func (m Machine) Facts() []Fact {
	facts := []Fact{
		{"goos", m.GOOS, "go"},
		{"goarch", m.GOARCH, "go"},
		{"goversion", m.GoVersion, "go"},
		{"cpus", strconv.Itoa(m.CPUs), "go"},
	}
	if m.CPU != "" {
		facts = append(facts, Fact{"cpu", m.CPU, "cpuid"})
	}
	if m.Hypervisor != "" {
		facts = append(facts, Fact{"hypervisor", m.Hypervisor, "cpuid"})
	}
	if m.Memory > 0 {
		facts = append(facts, Fact{"memory", Bytes(m.Memory), "/proc/meminfo"},
			Fact{"memory available", Bytes(m.Available), "/proc/meminfo"})
	}
	if len(m.Governors) > 0 {
		facts = append(facts, Fact{"governor", strings.Join(m.Governors, " "), "sysfs"})
	}
	if m.Turbo != "" {
		facts = append(facts, Fact{"turbo", m.Turbo, "sysfs"})
	}
	return facts
}

// Load is the system's load averages over 1, 5 and 15 minutes, "" if unknown.
func Load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return ""
	}
	fields := strings.Fields(string(text))
	return strings.Join(fields[:min(3, len(fields))], " ")
}
