//go:build unix

package outfile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stridebench/stridebench/results/outfile"
)

func symlink(t *testing.T, to, path string) string {
	t.Helper()
	if err := os.Symlink(to, path); err != nil {
		t.Fatal(err)
	}
	return path
}

// isLink checks that a link is there still.
func isLink(t *testing.T, path, to string) {
	t.Helper()
	if got, err := os.Readlink(path); err != nil || got != to {
		t.Errorf("%s is no link to %s any more: %q, %v", path, to, got, err)
	}
}

// TestLinksAreFollowed: what a link leads to is replaced, by whatever chain. The link stays.
func TestLinksAreFollowed(t *testing.T) {
	dir := t.TempDir()
	real := filepath.Join(dir, "real")
	if err := os.MkdirAll(filepath.Join(real, "below"), 0o777); err != nil {
		t.Fatal(err)
	}
	symlink(t, "real/below", filepath.Join(dir, "folder"))
	for _, test := range []struct{ name, to, file string }{
		{"absolute", filepath.Join(real, "a.txt"), "real/a.txt"},
		{"relative", "real/b.txt", "real/b.txt"},
		{"chain", "relative", "real/b.txt"},
		{"parent", "folder/../c.txt", "real/c.txt"}, // the folder's own parent, not the link's
		{"folder/inside", "d.txt", "real/below/d.txt"},
	} {
		link, file := symlink(t, test.to, filepath.Join(dir, test.name)), filepath.Join(dir, test.file)
		if err := os.WriteFile(file, []byte("old"), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{"new", "again"} {
			if err := outfile.WriteFile(link, []byte(text)); err != nil {
				t.Error(err)
			}
			if got := must(os.ReadFile(file)); string(got) != text {
				t.Errorf("%s: %s holds %q", test.name, test.file, got)
			}
			isLink(t, link, test.to)
		}
	}
	for name, to := range map[string]string{"loop": "loop", "away": "absent/x.txt",
		"below": "real/below"} {
		link := symlink(t, to, filepath.Join(dir, name))
		if err := outfile.WriteFile(link, nil); err == nil || strings.Count(err.Error(), link) != 1 {
			t.Errorf("%s: %v", name, err)
		}
		isLink(t, link, to)
	}
	if _, err := os.Stat(filepath.Join(dir, "absent")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder that a link leads to was made: %v", err)
	}
	if left := must(filepath.Glob(filepath.Join(dir, "real", ".*"))); len(left) > 0 {
		t.Errorf("%v are left", left)
	}
}

// TestModesAreKept: a file that is replaced keeps its mode, and one that may not
// be written stays.
func TestModesAreKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.txt")
	for _, mode := range []fs.FileMode{0o600, 0o664, 0o755} {
		if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Chmod(path, mode)); err != nil {
			t.Fatal(err)
		}
		if err := outfile.WriteFile(path, []byte("x")); err != nil {
			t.Error(err)
		}
		if got := must(os.Stat(path)).Mode(); got != mode {
			t.Errorf("mode %v became %v", mode, got)
		}
	}
	if os.Geteuid() == 0 {
		return // who may write all
	}
	if err := os.Chmod(path, 0o444); err != nil {
		t.Fatal(err)
	}
	if err := outfile.WriteFile(path, []byte("y")); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("a file that is read-only: %v", err)
	}
}

// TestPipesAndDevicesStay: what is no regular file is written to where it is. A
// link to a device of the system is as good as one that only root could make, and
// would be replaced in its stead.
func TestPipesAndDevicesStay(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	got := make(chan string)
	go func() {
		text, _ := os.ReadFile(pipe)
		got <- string(text)
	}()
	if err := outfile.WriteFile(pipe, []byte("through")); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(pipe); err != nil || info.Mode().Type() != fs.ModeNamedPipe {
		t.Fatalf("the pipe became %v, %v", info, err) // and its reader waits
	}
	if text := <-got; text != "through" {
		t.Errorf("the pipe gave %q", text)
	}
	null := symlink(t, os.DevNull, filepath.Join(dir, "null"))
	if err := outfile.WriteFile(null, []byte("gone")); err != nil {
		t.Error(err)
	}
	isLink(t, null, os.DevNull)
	if _, err := os.Stat("/dev/full"); err == nil { // Linux
		full := symlink(t, "/dev/full", filepath.Join(dir, "full"))
		if err := outfile.WriteFile(full, []byte("x")); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("a full device: %v", err)
		}
		isLink(t, full, "/dev/full")
	}
}

// TestOpenFilesAreAppendedTo: /dev/fd has files by number, which a shell may have redirected to
// one that holds something.
func TestOpenFilesAreAppendedTo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.txt")
	log := must(os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600))
	must(log.WriteString("before\n"))
	defer log.Close()
	open := filepath.Join("/dev/fd", strconv.Itoa(int(log.Fd())))
	if _, err := os.Stat(open); err != nil {
		t.Skip("this system has no /dev/fd: ", err)
	}
	if err := outfile.WriteFile(open, []byte("after\n")); err != nil {
		t.Error(err)
	}
	if text := must(os.ReadFile(path)); string(text) != "before\nafter\n" {
		t.Errorf("the file holds %q", text)
	}
}

// TestErrorsNameThePath: not the temporary file, and once.
func TestErrorsNameThePath(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		filepath.Join(dir, "file", "below"): "not a directory",
		dir:                                 "is a directory",
		filepath.Join(dir, "new") + "/":     "is a directory",
		filepath.Join(dir, strings.Repeat("x", 300)): "file name too long",
	} {
		if err := outfile.WriteFile(path, nil); err == nil || err.Error() != "create "+path+": "+want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
