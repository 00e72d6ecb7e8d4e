package main

import "testing"

// TestShare: shares in percent, or below 1.
func TestShare(t *testing.T) {
	for text, want := range map[string]float64{"5%": .05, "0.05": .05, "100%": 1, "0": 0} {
		if got, err := parseShare(text); err != nil || got != want {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "%", "1", "1.0", "5", "-1%", "10001%", "NaN"} {
		if got, err := parseShare(text); err == nil {
			t.Errorf("%s: %v", text, got)
		}
	}
}
