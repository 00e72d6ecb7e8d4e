package probe

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/cpu"
	"github.com/stridebench/stridebench/simcache/machines"
	"github.com/stridebench/stridebench/simcache/machines/strict"
)

// SavedName is the name of the machine that 'bench machine --measure' saved, in place of a path.
const SavedName = "measured"

// Files finds descriptions of machines by path, or by SavedName.
type Files struct {
	Saved string // path of the saved machine
	Err   error  // why Saved is not known, or nil
	// Read reads a named file; nil means strict.ReadText.
	Read func(path string) ([]byte, error)
}

// Text reads a description. The saved one must be a regular file.
func (f Files) Text(name string) (path string, text []byte, err error) {
	switch {
	case name != SavedName && name == f.Saved:
		text, err = strict.ReadKept(name)
		return name, text, err
	case name != SavedName && f.Read != nil:
		text, err = f.Read(name)
		return name, text, err
	case name != SavedName:
		text, err = strict.ReadText(name)
		return name, text, err
	}
	if f.Err != nil {
		return "", nil, f.Err
	}
	text, err = strict.ReadKept(f.Saved)
	if absent(err) {
		err = fmt.Errorf("%s: no machine was measured yet: run 'bench machine --measure', which "+
			"saves it in %s", SavedName, f.Saved)
	}
	return f.Saved, text, err
}

// absent reports whether the file or its folder is missing (HOME may be /dev/null).
func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// Machine reads a measured machine, or returns ErrNotMeasured.
func (f Files) Machine(name string) (Machine, error) {
	path, text, err := f.Text(name)
	if err != nil {
		return Machine{}, err
	}
	return Parse(path, text)
}

// Description reads the description of a machine, measured or not.
func (f Files) Description(name string) (machines.Machine, error) {
	path, text, err := f.Text(name)
	if err != nil {
		return machines.Machine{}, err
	}
	return machines.Parse(path, text)
}

func unread(err error) error {
	what := "measure it again with 'bench machine --measure', or remove the file"
	if errors.Is(err, fs.ErrPermission) {
		what = "it is another user's: set HOME or XDG_CACHE_HOME to a folder that this one may read"
	}
	return fmt.Errorf("the machine that was measured: %w (%s)", err, what)
}

// Own reads the saved machine. found is false if there is none or if its CPU is known to differ.
func (f Files) Own(this Host) (m Machine, found bool, err error) {
	if f.Err != nil {
		return m, false, nil // without a home
	}
	if m, err = f.Machine(f.Saved); absent(err) {
		return m, false, nil
	}
	if err != nil {
		return m, false, unread(err)
	}
	return m, m.Other(this) == "", nil
}

// A Host is a CPU to compare with a measured one: its brand name, "" if unknown, and its stated
// caches, which distinguish kinds of cores.
type Host struct {
	CPU    string
	Caches []cpu.Cache
}

// Other says how the machine's CPU is known to differ from this host's. It returns "" if it may be
// the same.
func (m Machine) Other(this Host) string {
	if m.CPU == "" || this.CPU == "" {
		return ""
	}
	if m.CPU != this.CPU {
		return fmt.Sprintf("%s was measured, this is %s", m.CPU, this.CPU)
	}
	for _, l := range m.Levels {
		for _, c := range this.Caches {
			if size := c.Geometry.Size; !c.Instruction() && levelName(c) == l.Name && size > 0 &&
				l.Stated > 0 && size != int(l.Stated) {
				return fmt.Sprintf("a core with %s of %s was measured, this one has %s", l.Name,
					simcache.Bytes(int(l.Stated)), simcache.Bytes(size))
			}
		}
	}
	return ""
}

// Capacities returns the measured capacities of the caches, in bytes.
func (m Machine) Capacities() []int {
	var sizes []int
	for _, l := range m.Levels {
		sizes = append(sizes, int(l.Capacity))
	}
	return sizes
}
