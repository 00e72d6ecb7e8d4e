package session

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stridebench/stridebench/access/tune"
)

// TestKept: what a run keeps for the next one is not written to what is no regular file,
// such as a pipe, in which it would wait without end.
func TestKept(t *testing.T) {
	device := filepath.Join(t.TempDir(), "kept")
	if err := os.Symlink(os.DevNull, device); err != nil {
		t.Fatal(err)
	}
	if err := keep(device, tune.Calibration{}); err == nil ||
		!strings.HasSuffix(err.Error(), "it is not a regular file") {
		t.Error(err)
	}
}
