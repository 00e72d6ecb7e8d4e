package main

import (
	"slices"
	"testing"
)

// TestQuoted: a shell takes what is written for what was meant.
func TestQuoted(t *testing.T) {
	words := []string{"printf", `%s|`, "a b", "it's", "", "--view=t()", "$HOME", "x.txt", "azAZ09"}
	line := quoted(words...)
	if want := `printf '%s|' 'a b' 'it'\''s' '' '--view=t()' '$HOME' x.txt azAZ09`; line != want {
		t.Errorf("%s, want %s", line, want)
	}
}

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
