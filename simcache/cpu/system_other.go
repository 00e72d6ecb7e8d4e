//go:build !linux && !darwin

package cpu

func thisSystem() system { return system{topology: cpuidTopology(), cpuid: cpuidLeaves()} }
