package enginetest

import "testing"

// Cases returns how many random cases a test draws: all, or with -short a twentieth, at least one.
func Cases(all int) int {
	if testing.Short() {
		return max(1, all/20)
	}
	return all
}
