package main

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestEmptyListsAreLists: what has no item is [] in JSON, not null.
func TestEmptyListsAreLists(t *testing.T) {
	for name, v := range map[string]any{"measurement": new(measurement).json(), "listed": listed([]int(nil))} {
		text, err := json.Marshal(v)
		if err != nil || strings.Contains(string(text), "null") {
			t.Errorf("%s is %s, %v", name, text, err)
		}
	}
}
