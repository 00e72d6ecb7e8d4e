//go:build !linux

package node

func addressSpace() int { return 0 }
