package session

import (
	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/simcache/cpu"
)

// ThisMachine is results.ThisMachine, and of an arm64 CPU, which says no brand to
// Linux, the name of its core, as cpu.Name has it of the CPUs that threads are pinned to.
func ThisMachine(pinned ...int) results.Machine {
	return named(results.ThisMachine(), cpu.Name(pinned...))
}

func named(m results.Machine, core string) results.Machine {
	if m.CPU == "" && core != "" {
		m.CPU, m.CPUFrom = core, "midr"
	}
	return m
}
