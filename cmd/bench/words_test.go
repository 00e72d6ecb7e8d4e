package main

import (
	"slices"
	"testing"
)

func TestParseThreads(t *testing.T) {
	if got, err := parseThreads("1,2,all"); err != nil || !slices.Equal(got, []int{1, 2, 0}) {
		t.Error(got, err)
	}
	for _, wrong := range []string{"", "0", "-1", "a", "1,,2", "1.5", "ALL"} {
		if got, err := parseThreads(wrong); err == nil {
			t.Errorf("%q is %v", wrong, got)
		}
	}
}
