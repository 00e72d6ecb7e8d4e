//go:build !race

package summaries

const slow = false
