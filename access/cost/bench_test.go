package cost

import (
	"testing"

	"github.com/stridebench/stridebench/access"
)

// BenchmarkPredictSuite is what the predictions of a default run take, on one
// core.
func BenchmarkPredictSuite(b *testing.B) {
	var patterns []access.Pattern
	for _, c := range access.Suite(false) {
		for _, one := range c {
			patterns = append(patterns, pattern(b, one.Spec))
		}
	}
	for b.Loop() {
		for _, p := range patterns {
			if _, err := generic.Predict(p); err != nil {
				b.Fatal(err)
			}
		}
	}
}
