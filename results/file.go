package results

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// A File is a file on its way: it appears under its path when it is committed,
// whole, or not at all. What is there and is no regular file, such as a device
// or a pipe, is written to as it is and never replaced.
type File struct {
	file *os.File    // temporary, or what is there
	path string      // where it is to appear; "" if it is written in place
	mode fs.FileMode // that it is to have

	failed error // of the first write that did
}

// newMode is that of a file that replaces none.
const newMode fs.FileMode = 0o644

// Create starts a file in a temporary one in the same folder, which it makes if
// it is missing. It follows symbolic links, which stay. It refuses a folder, what
// may not be written, and a link into a folder that is missing, with a
// *fs.PathError.
func Create(path string) (*File, error) {
	f, err := create(path)
	if err != nil {
		return nil, &fs.PathError{Op: "create", Path: path, Err: reason(err)}
	}
	return f, nil
}

// reason is what the system says, without the names that it says it of: these
// may be of a temporary file.
func reason(err error) error {
	if of, ok := errors.AsType[syscall.Errno](err); ok {
		return of
	}
	return err
}

// Foreign tells whether a path is of a regular file with something in it that is not ours,
// which writing the path would destroy.
func Foreign(path string, ours func(text []byte) bool) bool {
	to, err := destination(path)
	if err != nil || isDescriptor(to) { // which is written to where it stands
		return false
	}
	if info, err := os.Stat(to); err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return false
	}
	text, err := ReadText(to)
	return err != nil || !ours(text)
}

func create(path string) (*File, error) {
	if path != "" && os.IsPathSeparator(path[len(path)-1]) {
		return nil, syscall.EISDIR
	}
	to, err := destination(path)
	if err != nil {
		return nil, err
	}
	if fd, own := ownDescriptor(to); own {
		there, err := duplicate(fd, path)
		return &File{file: there}, err
	}
	// Opening what is there changes nothing of it, and tells whether it may be
	// written. Of a file that is read-only, renaming would not.
	there, err := os.OpenFile(to, os.O_WRONLY|os.O_APPEND, 0)
	if errors.Is(err, fs.ErrNotExist) {
		if err := makeFolder(to, to != path); err != nil {
			return nil, err
		}
		return temporary(to, newMode)
	}
	if err != nil {
		return nil, err
	}
	info, err := there.Stat()
	if err == nil && (!info.Mode().IsRegular() || isDescriptor(to)) {
		return &File{file: there}, nil
	}
	if err := cmp.Or(err, there.Close()); err != nil {
		return nil, err
	}
	return temporary(to, info.Mode().Perm())
}

// makeFolder makes the folder of a path, unless a link leads there: what it leads
// to may only be away.
func makeFolder(path string, linked bool) error {
	if !linked {
		return os.MkdirAll(folder(path), 0o777)
	}
	if _, err := os.Stat(folder(path)); err != nil {
		return fmt.Errorf("it is a link to %s, whose folder is missing", path)
	}
	return nil
}

// folder is that of a file. Unlike filepath.Dir it takes no ".." for the opposite
// of a name, which may be a link.
func folder(path string) string {
	dir, _ := filepath.Split(path)
	return cmp.Or(dir, ".")
}

// underway are the temporary files of this program, by name.
var underway = struct {
	sync.Mutex
	names map[string]bool
}{names: map[string]bool{}}

func temporary(path string, mode fs.FileMode) (*File, error) {
	underway.Lock()
	defer underway.Unlock()
	file, err := os.CreateTemp(folder(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return nil, err
	}
	underway.names[file.Name()] = true
	return &File{file: file, path: path, mode: mode}, nil
}

// DiscardAll removes all files on their way, for a program that ends at once: none
// can be created, committed or discarded any more.
func DiscardAll() {
	underway.Lock() // for good
	for name := range underway.names {
		os.Remove(name)
	}
}

// leave makes a temporary file one no longer, by removing or renaming it.
func leave(name string, how func() error) error {
	underway.Lock()
	defer underway.Unlock()
	delete(underway.names, name)
	return how()
}

// maxLinks is how many symbolic links Linux follows.
const maxLinks = 40

// destination is where a path leads through symbolic links, of which the last may
// lead to nothing. One to an open file, such as /dev/stdout, is where it leads.
func destination(path string) (string, error) {
	for range maxLinks {
		to, err := os.Readlink(path)
		if err != nil || isDescriptor(path) { // opening it tells what is wrong
			return path, nil
		}
		if !filepath.IsAbs(to) {
			dir, _ := filepath.Split(path)
			to = dir + to
		}
		path = to
	}
	return "", errors.New("too many symbolic links")
}

// descriptors are the folders whose names are open files of a process.
var descriptors = compiled(`^(/dev|/proc/[0-9]+(/task/[0-9]+)?)/fd$`)

// isDescriptor tells whether a path is an open file of a process, which is written
// where it stands, and may have no name by now.
func isDescriptor(path string) bool {
	dir, err := filepath.EvalSymlinks(folder(path))
	return err == nil && descriptors().MatchString(dir)
}

// ownDescriptor is the number of an open file of this process that a path names,
// such as /dev/stdout. Opening it anew would write beside what the process
// writes itself.
func ownDescriptor(path string) (fd int, own bool) {
	dir, err := filepath.EvalSymlinks(folder(path))
	if err != nil || !descriptors().MatchString(dir) {
		return 0, false
	}
	own = dir == "/dev/fd" || strings.HasPrefix(dir, fmt.Sprintf("/proc/%d/", os.Getpid()))
	fd, err = strconv.Atoi(filepath.Base(path))
	return fd, own && err == nil
}

// Write implements io.Writer.
func (f *File) Write(data []byte) (int, error) {
	n, err := f.file.Write(data)
	f.failed = cmp.Or(f.failed, f.fault(err))
	return n, f.fault(err)
}

// fault is an error with the path that was asked for.
func (f *File) fault(err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: "write", Path: cmp.Or(f.path, f.file.Name()), Err: reason(err)}
}

// Commit puts the file in its place, replacing one that is there, whose mode it
// takes over. One of which not all was written it removes, and says why.
func (f *File) Commit() error {
	if f.failed != nil {
		f.Discard()
		return f.failed
	}
	if f.path == "" {
		return f.fault(f.file.Close())
	}
	// CreateTemp makes files for the owner alone.
	err := cmp.Or(f.file.Chmod(f.mode), f.file.Sync(), f.file.Close())
	return f.fault(leave(f.file.Name(), func() error {
		if err == nil {
			err = os.Rename(f.file.Name(), f.path)
		}
		if err != nil {
			os.Remove(f.file.Name())
		}
		return err
	}))
}

// Discard removes the file unless it has been committed. It is meant to be
// deferred.
func (f *File) Discard() {
	if f.file.Close() == nil && f.path != "" { // already closed by Commit
		_ = leave(f.file.Name(), func() error { return os.Remove(f.file.Name()) })
	}
}

// WriteFile writes a whole file or none.
func WriteFile(path string, data []byte) error {
	f, err := Create(path)
	if err != nil {
		return err
	}
	defer f.Discard()
	if _, err := f.Write(data); err != nil {
		return err
	}
	return f.Commit()
}

// Distinct tells whether two paths are two files, or what is none, such as a
// device, to which both may be written.
func Distinct(a, b string) bool {
	if filepath.Clean(a) == filepath.Clean(b) {
		info, err := os.Stat(a)
		return err == nil && !info.Mode().IsRegular()
	}
	one, err1 := os.Stat(a)
	two, err2 := os.Stat(b)
	return err1 != nil || err2 != nil || !one.Mode().IsRegular() || !os.SameFile(one, two)
}
