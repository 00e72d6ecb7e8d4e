package results

import (
	"errors"
	"os"
	"path/filepath"
)

// A File is a file on its way: it appears under its path when it is committed,
// whole, or not at all.
type File struct {
	*os.File
	path string
}

// Create starts a file in a temporary one in the same folder, which it makes
// if it is missing.
func Create(path string) (*File, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil, &os.PathError{Op: "create", Path: path, Err: errors.New("is a folder")}
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return nil, err
	}
	temp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return nil, err
	}
	return &File{temp, path}, nil
}

// Commit puts the file in its place, replacing one that is there.
func (f *File) Commit() error {
	// CreateTemp makes files for the owner alone.
	err := errors.Join(f.Chmod(0o644), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), f.path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

// Discard removes the file unless it has been committed. It is meant to be
// deferred.
func (f *File) Discard() {
	if f.Close() == nil { // already closed by Commit
		os.Remove(f.Name())
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
