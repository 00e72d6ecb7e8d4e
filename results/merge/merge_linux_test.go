package merge

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestLinks: a folder that is reached by a link, as the latest of several often is, has its
// files, and so has one that links to files elsewhere. One that leads nowhere is an error.
func TestLinks(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := errors.Join(os.MkdirAll("runs/1", 0o777), os.Mkdir("linked", 0o777),
		os.Symlink("runs/1", "latest"), os.Symlink("../runs/1/0.txt", "linked/a.txt")); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join("runs", "1"), part(1, 1))
	found, err := Find([]string{"latest", "linked", "runs"}, "")
	if diff := cmp.Diff([]string{"latest/0.txt", "linked/a.txt", "runs/1/0.txt"}, found); diff != "" ||
		err != nil {
		t.Error(diff, err)
	}
	if err := os.Symlink("nowhere", "linked/b.txt"); err != nil {
		t.Fatal(err)
	}
	if _, err := Find([]string{"linked"}, ""); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a link that leads nowhere: %v", err)
	}
}

// TestPipe: a shard that can be read once only is refused with what it should have been.
func TestPipe(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := w.WriteString(part(1, 1)); err != nil {
		t.Fatal(err)
	}
	w.Close()
	plan, err := Read([]string{fmt.Sprintf("/proc/self/fd/%d", r.Fd())}, nil, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := plan.Write(io.Discard); err == nil ||
		!strings.Contains(err.Error(),
			"it is scanned and then copied, which takes a file, or - for stdin, not another pipe") {
		t.Error(err)
	}
}
