//go:build unix

package turns

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

// TestAskedToEnd: Ctrl-C in a terminal may end a program's process before this one learns of it,
// and then the error is the context's.
func TestAskedToEnd(t *testing.T) {
	for _, ending := range []string{"exit 130", "kill -INT $$", "kill -TERM $$", "kill -HUP $$"} {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(50*time.Millisecond, cancel)
		if _, err := process("/bin/sh", "sh")(ctx, "-c",
			"echo a note >&2; "+ending); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", ending, err)
		}
	}
	if _, err := process("/bin/sh", "sh")(t.Context(), "-c", "exit 3"); err == nil ||
		!strings.Contains(err.Error(), "exit status 3") {
		t.Error(err)
	}
}
