package probe_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stridebench/stridebench/access/probe"
)

// TestSavedIsRegular: a machine is not read from what is no regular file, such as a pipe, in which
// a run would wait without end, where nobody named it.
func TestSavedIsRegular(t *testing.T) {
	f := probe.Files{Saved: filepath.Join(t.TempDir(), "measured.yaml")}
	if err := os.Symlink(os.DevNull, f.Saved); err != nil {
		t.Fatal(err)
	}
	_, _, own := f.Own(probe.Host{CPU: "one CPU"})
	_, named := f.Machine(probe.SavedName)
	for _, err := range []error{own, named} {
		if err == nil || !strings.Contains(err.Error(), "measured.yaml: it is not a regular file") {
			t.Error(err)
		}
	}
}
