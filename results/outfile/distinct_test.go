package outfile_test

import (
	"testing"

	"github.com/stridebench/stridebench/results/outfile"
)

// TestDistinct: two paths to one file are not distinct, whatever they are called.
func TestDistinct(t *testing.T) {
	dir := t.TempDir()
	if err := outfile.WriteFile(dir+"/a", []byte("a")); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{dir + "/a": false, dir + "/./a": false, dir + "/b": true} {
		if outfile.Distinct(dir+"/a", path) != want {
			t.Errorf("%s and a: distinct is not %v", path, want)
		}
	}
}
