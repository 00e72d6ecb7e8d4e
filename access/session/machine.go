package session

import (
	"github.com/stridebench/stridebench/access/session/node"
	"github.com/stridebench/stridebench/simcache/cpu"
)

// ThisMachine returns node.ThisMachine. On Linux, an arm64 CPU has no brand string; it gets the
// name of the pinned CPUs' core from cpu.Name.
func ThisMachine(pinned ...int) node.Machine {
	return named(node.ThisMachine(), cpu.Name(pinned...))
}

func named(m node.Machine, core string) node.Machine {
	if m.CPU == "" && core != "" {
		m.CPU, m.CPUFrom = core, "midr"
	}
	return m
}
