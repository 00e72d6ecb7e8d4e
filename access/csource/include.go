package csource

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"modernc.org/cc/v4"
)

// headers are the standard headers, as far as kernels and their surroundings (a main, timers) need
// them to be parsed. A call needs no declaration.
//
//go:embed headers
var headers embed.FS

// files is what #include can find: the named folders and the built-in headers.
type files struct {
	dirs    []string
	failed  error
	entered int
	once    map[string]bool // not read again
	texts   [][]byte        // of all that was read
	notes   []*Error        // on pragmas

	missing map[string]bool // not found, treated as empty
	missed  []*Error        // on the missing files
}

// maxEntered bounds how often files are read.
const maxEntered = 500

// enterMark begins each file that is read, without changing line numbers.
const enterMark = "__stridebench_enter"

// framed adds the mark. The scanner needs another line to end a name or a backslash at the end.
func framed(text []byte) []byte {
	return slices.Concat([]byte("#pragma "+enterMark+"\n#line 1\n"), text, []byte("\n\n"))
}

func checkFolders(dirs []string) error {
	for _, dir := range dirs {
		if info, err := os.Stat(dir); err != nil {
			return fmt.Errorf("-I %s: %w", dir, errors.Unwrap(err))
		} else if !info.IsDir() {
			return fmt.Errorf("-I %s: it is not a folder", dir)
		}
	}
	return nil
}

func (f *files) start() { f.entered, f.once, f.texts, f.notes = 0, map[string]bool{}, nil, nil }

func (f *files) pragma(words []cc.Token) error {
	if len(words) == 0 {
		return nil
	}
	at := place(words[0])
	switch words[0].SrcStr() {
	case "scop", "endscop":
		return &Error{Pos: at,
			Why: "#pragma scop and #pragma endscop stand on lines of their own in the file that " +
				"is read"}
	case enterMark:
		if f.entered++; f.entered > maxEntered {
			f.failed = &Error{Pos: Pos{File: at.File},
				Why: "too many files include each other (#pragma once ends a circle)"}
		}
		if f.failed != nil || f.once[at.File] {
			return cc.SkipSource
		}
	case "once":
		f.once[at.File] = true
	case "omp":
		if f.notes == nil {
			f.notes = []*Error{{Pos: at,
				Why: "OpenMP's pragmas are ignored: one thread makes all accesses, in the order " +
					"of the text"}}
		}
	}
	return nil
}

func (f *files) Open(path string) (fs.File, error) {
	if header, in := strings.CutPrefix(path, builtinPath+"/"); in {
		text, err := headers.ReadFile("headers/" + header)
		if err != nil && !f.missing[header] {
			return nil, err
		}
		return f.opened(text), nil
	}
	for _, dir := range f.dirs {
		local, err := filepath.Rel(dir, filepath.FromSlash(path))
		if err != nil || !filepath.IsLocal(local) {
			continue
		}
		text, err := readIn(dir, local)
		if err != nil {
			continue
		}
		if text, err = tamed(path, text); err != nil {
			f.failed = errors.Join(f.failed, err)
			return nil, err
		}
		return f.opened(text), nil
	}
	return nil, fs.ErrNotExist
}

func (f *files) opened(text []byte) fs.File {
	f.texts = append(f.texts, text)
	return file{Reader: bytes.NewReader(framed(text))}
}

// readIn reads a file in a folder. It does not follow links out of the folder.
func readIn(dir, name string) ([]byte, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	text, err := root.ReadFile(name)
	return withoutMark(text), err
}

// byteMark is the byte order mark that some editors write.
const byteMark = "\xef\xbb\xbf"

func withoutMark(text []byte) []byte { return bytes.TrimPrefix(text, []byte(byteMark)) }

// The parser only asks whether a file is a folder.
type file struct {
	*bytes.Reader
	fs.FileInfo
}

func (f file) Stat() (fs.FileInfo, error) { return f, nil }
func (f file) Close() error               { return nil }
func (f file) IsDir() bool                { return false }
func (f file) Size() int64                { return f.Reader.Size() }
