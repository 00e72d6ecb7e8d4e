package session

import (
	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/simcache/cpu"
)

// ThisMachine returns results.ThisMachine. On Linux, an arm64 CPU has no brand string; it gets the
// name of the pinned CPUs' core from cpu.Name.
func ThisMachine(pinned ...int) results.Machine {
	return named(results.ThisMachine(), cpu.Name(pinned...))
}

func named(m results.Machine, core string) results.Machine {
	if m.CPU == "" && core != "" {
		m.CPU, m.CPUFrom = core, "midr"
	}
	return m
}
