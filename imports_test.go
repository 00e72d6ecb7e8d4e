// Package stridebench has no code: it holds the tests of the tree as a whole.
package stridebench

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// mayImport is which packages of ours those of a room may import, besides the
// room's own: whole rooms, or single packages of them. A package that the table
// names has a row of its own, which adds to its room's.
var mayImport = map[string][]string{
	"layouts":              {},
	"layouts/nest":         {},
	"simcache":             {"layouts/nest"},
	"access":               {"layouts", "simcache"},
	"access/session":       {"results"},
	"access/session/node":  {"results"},
	"access/session/turns": {"results"},
	"access/sweep":         {"results"},
	"results":              {},
	"reports":              {"layouts", "results", "simcache"},
	"cmd":                  {"layouts", "simcache", "access", "results", "reports"},
	"scripts":              {"layouts", "simcache", "access", "results"},
}

// allowed reports whether a package may import another, by paths in the module.
func allowed(from, to string) bool {
	room, _, _ := strings.Cut(from, "/")
	if toRoom, _, _ := strings.Cut(to, "/"); toRoom == room {
		return from != "layouts/nest" // the algebra knows nothing of what it is used for
	}
	return slices.ContainsFunc(slices.Concat(mayImport[room], mayImport[from]),
		func(may string) bool {
			return to == may || strings.HasPrefix(to, may+"/")
		})
}

const module = "github.com/stridebench/stridebench/"

// TestImports: imports of ours go down that table and nowhere else, every
// package is in a room, and only cmd/bench and scripts read flags or write to the
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
		if _, err := os.Stat(filepath.Join(path, "go.mod")); d.IsDir() && path != "." &&
			err == nil {
			return filepath.SkipDir // a module of its own
		}
		room, _, inRoom := strings.Cut(filepath.ToSlash(path), "/")
		if filepath.Ext(path) != ".go" || !inRoom {
			return nil
		}
		if _, known := mayImport[room]; !known {
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
			from := filepath.ToSlash(filepath.Dir(path))
			if to, ours := strings.CutPrefix(name, module); ours && to != from &&
				!allowed(from, to) {
				t.Errorf("%s imports %s, which it may not", path, name)
			}
			if !programs(room) && slices.Contains([]string{"flag", "log", "github.com/spf13/cobra",
				"github.com/spf13/pflag"}, name) {
				t.Errorf("%s imports %s, which is for programs alone", path, name)
			}
		}
		if !programs(room) && !strings.HasSuffix(path, "_test.go") {
			for _, used := range standardStreams(file) {
				t.Errorf("%s uses %s, which is for programs alone", path, used)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for from := range mayImport {
		if room, _, _ := strings.Cut(from, "/"); !rooms[room] {
			t.Errorf("found the rooms %v, and no %s", rooms, room)
		}
	}
	for _, bad := range [][2]string{{"layouts/nest", "layouts"}, {"simcache/explain", "layouts"},
		{"access", "results"}, {"results", "access"}, {"reports", "access"}} {
		if allowed(bad[0], bad[1]) {
			t.Errorf("%s may import %s", bad[0], bad[1])
		}
	}
}

// programs tells whether the packages of a room are programs.
func programs(room string) bool { return room == "cmd" || room == "scripts" }

// standardStreams lists the uses of what prints, exits or reads the
// environment in a file.
func standardStreams(file *ast.File) []string {
	forbidden := []string{"os.Stdout", "os.Stderr", "os.Stdin", "os.Exit", "os.Args", "os.Getenv",
		"os.LookupEnv",
		"fmt.Print", "fmt.Println", "fmt.Printf"}
	var used []string
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if pkg, ok := s.X.(*ast.Ident); ok &&
				slices.Contains(forbidden, pkg.Name+"."+s.Sel.Name) {
				used = append(used, pkg.Name+"."+s.Sel.Name)
			}
		}
		return true
	})
	return used
}

// TestArchitecture: the table of docs/architecture.md is mayImport.
func TestArchitecture(t *testing.T) {
	text, err := os.ReadFile("docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	table := map[string][]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z/]+)` \\| ([^|]*) \\|[^|]*\\|[^|]*\\|$").FindAllStringSubmatch(string(text), -1) {
		of := []string{}
		for _, name := range regexp.MustCompile("`([a-z/]+)`").FindAllStringSubmatch(row[2], -1) {
			of = append(of, name[1])
		}
		if row[2] == "all" {
			of = []string{"access", "layouts", "reports", "results", "simcache"}
		}
		slices.Sort(of)
		table[row[1]] = of
	}
	want := map[string][]string{}
	for from, list := range mayImport {
		room, _, _ := strings.Cut(from, "/")
		all := slices.Clone(list)
		if room != from && from != "layouts/nest" {
			all = slices.Concat(mayImport[room], list)
		}
		if from == "layouts" {
			all = []string{"layouts/nest"} // which is of its own room
		}
		slices.Sort(all)
		want[from] = append([]string{}, all...)
	}
	if diff := cmp.Diff(want, table); diff != "" {
		t.Errorf("imports_test.go (-) and docs/architecture.md (+) differ:\n%s", diff)
	}
}
