//go:build !race

package reuse

const slow = false
