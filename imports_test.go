// Package stridebench has no code: it holds the tests of the tree as a whole.
package stridebench

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// mayImport is which room may import which others of ours.
var mayImport = map[string][]string{
	"layouts":  {},
	"simcache": {},
	"access":   {"layouts", "simcache"},
	"results":  {},
	"reports":  {"results"},
	"cmd":      {"layouts", "simcache", "access", "results", "reports"},
}

const module = "github.com/stridebench/stridebench/"

// TestImports: imports of ours go down that table and nowhere else, every
// package is in a room, and only cmd/bench reads flags or writes to the
// standard streams.
func TestImports(t *testing.T) {
	rooms := map[string]bool{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && strings.HasPrefix(d.Name(), ".") && path != "." {
			return filepath.SkipDir
		}
		room, _, inRoom := strings.Cut(filepath.ToSlash(path), "/")
		if filepath.Ext(path) != ".go" || !inRoom {
			return nil
		}
		allowed, known := mayImport[room]
		if !known {
			t.Errorf("%s is in no room of the design", path)
		}
		rooms[room] = true
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, spec := range file.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			of, ours := strings.CutPrefix(name, module)
			of, _, _ = strings.Cut(of, "/")
			if ours && of != room && !slices.Contains(allowed, of) {
				t.Errorf("%s imports %s, which %s may not", path, name, room)
			}
			if room != "cmd" && slices.Contains([]string{"flag", "log", "github.com/spf13/cobra", "github.com/spf13/pflag"}, name) {
				t.Errorf("%s imports %s, which is for cmd/bench alone", path, name)
			}
		}
		if room != "cmd" && !strings.HasSuffix(path, "_test.go") {
			for _, used := range standardStreams(file) {
				t.Errorf("%s uses %s, which is for cmd/bench alone", path, used)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(rooms) != len(mayImport) {
		t.Errorf("found the rooms %v, want all of %v", rooms, mayImport)
	}
}

// standardStreams lists the uses of what prints, exits or reads the
// environment in a file.
func standardStreams(file *ast.File) []string {
	forbidden := []string{"os.Stdout", "os.Stderr", "os.Stdin", "os.Exit", "os.Args", "os.Getenv", "os.LookupEnv",
		"fmt.Print", "fmt.Println", "fmt.Printf"}
	var used []string
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if pkg, ok := s.X.(*ast.Ident); ok && slices.Contains(forbidden, pkg.Name+"."+s.Sel.Name) {
				used = append(used, pkg.Name+"."+s.Sel.Name)
			}
		}
		return true
	})
	return used
}
