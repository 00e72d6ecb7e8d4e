//go:build !linux

package results

func addressSpace() int { return 0 }
