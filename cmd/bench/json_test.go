package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stridebench/stridebench/access/probe"
)

// TestEmptyListsAreLists: what has no item is [] in JSON, not null.
func TestEmptyListsAreLists(t *testing.T) {
	for name, v := range map[string]any{"machine": new(probe.Machine).JSON("", nil)} {
		text, err := json.Marshal(v)
		if err != nil || strings.Contains(string(text), "null") {
			t.Errorf("%s is %s, %v", name, text, err)
		}
	}
}
