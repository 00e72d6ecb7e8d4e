//go:build !race

package explain

const slow = false
