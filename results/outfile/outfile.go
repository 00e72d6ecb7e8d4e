// Package outfile is the program's own and promises nothing. It writes files whole or not at all.
package outfile

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
)

// A File is a file being written, which Commit makes appear whole or not at all. An existing file
// that is not regular, such as a device or pipe, is written in place and never replaced.
type File struct {
	file *os.File    // the temporary file, or the existing one
	path string      // its final path; "" if written in place
	mode fs.FileMode // its final mode

	failed error // the first write error
}

const newMode fs.FileMode = 0o644

// Create opens a temporary file in the folder of path, and makes the folder if missing. It follows
// symbolic links and keeps them. It returns an *fs.PathError for a folder, for what may not be
// written, and for a link into a missing folder.
func Create(path string) (*File, error) {
	f, err := create(path)
	if err != nil {
		return nil, &fs.PathError{Op: "create", Path: path, Err: reason(err)}
	}
	return f, nil
}

// reason drops the file names of an error: they may name a temporary file.
func reason(err error) error {
	if of, ok := errors.AsType[syscall.Errno](err); ok {
		return of
	}
	return err
}

// Foreign reports whether path is a non-empty regular file that is not ours, which writing would
// destroy.
func Foreign(path string, ours func(text []byte) bool) bool {
	info, err := os.Stat(path)
	if err != nil || inPlace(path, info) || info.Size() == 0 {
		return false
	}
	text, err := os.ReadFile(path)
	return err != nil || !ours(text)
}

// inPlace reports whether a file is written where it is: a device, a pipe, or an open file of a
// process such as /dev/stdout, which may have lost its name.
func inPlace(path string, info fs.FileInfo) bool {
	return !info.Mode().IsRegular() || strings.HasPrefix(path, "/dev/") ||
		strings.HasPrefix(path, "/proc/")
}

// standard are this process's own streams. A second open of a stream that is a file would
// overwrite its lines.
var standard = map[string]int{
	"/dev/stdout": 1, "/dev/stderr": 2, "/dev/fd/1": 1, "/dev/fd/2": 2,
}

func create(path string) (*File, error) {
	if path != "" && os.IsPathSeparator(path[len(path)-1]) {
		return nil, syscall.EISDIR
	}
	if fd, is := standard[path]; is {
		there, err := duplicate(fd, path)
		return &File{file: there}, err
	}
	// Opening for append changes nothing, and fails if the file is read-only. Renaming over it
	// would not fail.
	there, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if errors.Is(err, fs.ErrNotExist) {
		to := destination(path)
		if to != path { // the link's folder may only be absent for now
			return temporary(to, newMode)
		}
		if err := os.MkdirAll(folder(path), 0o777); err != nil {
			return nil, err
		}
		return temporary(path, newMode)
	}
	if err != nil {
		return nil, err
	}
	info, err := there.Stat()
	if err == nil && inPlace(path, info) {
		return &File{file: there}, nil
	}
	if err := cmp.Or(err, there.Close()); err != nil {
		return nil, err
	}
	to, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, err
	}
	return temporary(to, info.Mode().Perm())
}

// destination follows the symbolic links of a path whose end is missing.
func destination(path string) string {
	for range 40 { // as Linux does
		to, err := os.Readlink(path)
		if err != nil {
			break
		}
		if !filepath.IsAbs(to) {
			dir, _ := filepath.Split(path)
			to = dir + to
		}
		path = to
	}
	return path
}

// folder, unlike filepath.Dir, does not cancel ".." with the name before it, which may be a link.
func folder(path string) string {
	dir, _ := filepath.Split(path)
	return cmp.Or(dir, ".")
}

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

// DiscardAll removes all temporary files, for a program that ends. No file can be created,
// committed or discarded afterwards.
func DiscardAll() {
	underway.Lock() // never unlocked
	for name := range underway.names {
		os.Remove(name)
	}
}

func leave(name string, how func() error) error {
	underway.Lock()
	defer underway.Unlock()
	delete(underway.names, name)
	return how()
}

// Write implements io.Writer.
func (f *File) Write(data []byte) (int, error) {
	n, err := f.file.Write(data)
	f.failed = cmp.Or(f.failed, f.fault(err))
	return n, f.fault(err)
}

func (f *File) fault(err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: "write", Path: cmp.Or(f.path, f.file.Name()), Err: reason(err)}
}

// Commit moves the file to its path, with the mode of a file that it replaces. If a write failed,
// it discards the file and returns that error.
func (f *File) Commit() error {
	if f.failed != nil {
		f.Discard()
		return f.failed
	}
	if f.path == "" {
		return f.fault(f.file.Close())
	}
	// CreateTemp's mode is for the owner alone.
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

// Discard removes an uncommitted file; to be deferred.
func (f *File) Discard() {
	if f.file.Close() == nil && f.path != "" { // Commit has not closed it
		_ = leave(f.file.Name(), func() error { return os.Remove(f.file.Name()) })
	}
}

// WriteFile writes a file whole or not at all.
func WriteFile(path string, data []byte) error {
	f, err := Create(path)
	if err != nil {
		return err
	}
	defer f.Discard()
	return f.Put(data)
}

// Put writes all of the file and commits it.
func (f *File) Put(data []byte) error {
	if _, err := f.Write(data); err != nil {
		return err
	}
	return f.Commit()
}

// Distinct reports whether both paths may be written: two files, or one that is not regular, such
// as a device.
func Distinct(a, b string) bool {
	if filepath.Clean(a) == filepath.Clean(b) {
		info, err := os.Stat(a)
		return err == nil && !info.Mode().IsRegular()
	}
	one, err1 := os.Stat(a)
	two, err2 := os.Stat(b)
	return err1 != nil || err2 != nil || !one.Mode().IsRegular() || !os.SameFile(one, two)
}
