package enginetest

import "testing"

// Cases returns how many of all random cases a test draws: with -short a twentieth.
func Cases(all int) int {
	if testing.Short() {
		return max(1, all/20)
	}
	return all
}
