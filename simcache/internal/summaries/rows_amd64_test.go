package summaries

import "testing"

// TestWithoutVectors is TestEqualsReference where the CPU has no AVX2.
func TestWithoutVectors(t *testing.T) {
	defer func(had bool) { hasAVX2 = had }(hasAVX2)
	hasAVX2 = false
	for seed := range uint64(600) {
		checkSeed(t, 1<<32+seed)
	}
}
