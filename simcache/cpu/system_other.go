//go:build !linux && !darwin && !windows

package cpu

func thisSystem() system { return system{topology: cpuidTopology(), cpuid: cpuidLeaves()} }
