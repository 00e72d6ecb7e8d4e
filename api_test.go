package stridebench

import (
	"fmt"
	"go/ast"
	gobuild "go/build"
	"go/doc"
	"go/parser"
	"go/printer"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// promised lists the packages that others may build on.
var promised = []string{
	"access", "access/csource", "access/session", "layouts", "layouts/nest", "results",
	"results/check", "simcache", "simcache/machines", "simcache/reuse", "simcache/trace",
}

// TestAPI compares api/v1.txt with the exported identifiers of the promised packages. A line there
// that the code no longer has breaks those who use it. API=write adds new ones.
func TestAPI(t *testing.T) {
	const file = "api/v1.txt"
	var now []string
	for _, dir := range promised {
		for _, line := range exported(t, dir) {
			now = append(now, dir+": "+line)
		}
	}
	if os.Getenv("API") == "write" {
		if err := os.WriteFile(file, []byte(strings.Join(now, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	kept := strings.Split(strings.TrimSpace(string(text)), "\n")
	for _, line := range kept {
		if !slices.Contains(now, line) {
			t.Errorf("gone, or with another signature: %s", line)
		}
	}
	for _, line := range now {
		if !slices.Contains(kept, line) {
			t.Errorf("not in %s, which API=write adds: %s", file, line)
		}
	}
}

// TestPromises: the first sentence of all other packages says that they promise nothing.
func TestPromises(t *testing.T) {
	dirs := map[string]bool{}
	for _, room := range []string{"access", "layouts", "reports", "results", "simcache"} {
		err := filepath.WalkDir(room, func(path string, _ os.DirEntry, err error) error {
			if filepath.Ext(path) == ".go" && !strings.HasSuffix(path, "_test.go") {
				dirs[filepath.ToSlash(filepath.Dir(path))] = true
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for dir := range dirs {
		own := !slices.Contains(promised, dir) && !strings.Contains(dir, "internal/") &&
			!strings.Contains(dir, "testdata")
		if !own {
			continue
		}
		synopsis := (&doc.Package{}).Synopsis(packageOf(t, dir).Doc)
		if !strings.Contains(synopsis, "is the program's own and promises nothing") {
			t.Errorf("%s begins: %s", dir, synopsis)
		}
	}
}

// packageOf reads a package as linux/amd64 builds it.
func packageOf(t *testing.T, dir string) *doc.Package {
	t.Helper()
	context := gobuild.Default
	context.GOOS, context.GOARCH, context.CgoEnabled = "linux", "amd64", false
	p, err := context.ImportDir(dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	set := token.NewFileSet()
	var files []*ast.File
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(set, filepath.Join(dir, name), nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	all, err := doc.NewFromFiles(set, files, dir)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// exported lists a package's exported identifiers with their types: functions, methods, types,
// fields, constants and variables.
func exported(t *testing.T, dir string) (lines []string) {
	p := packageOf(t, dir)
	values := func(all []*doc.Value) {
		for _, v := range all {
			for _, name := range v.Names {
				lines = append(lines, v.Decl.Tok.String()+" "+name)
			}
		}
	}
	funcs := func(all []*doc.Func) {
		for _, f := range all {
			f.Decl.Doc, f.Decl.Body = nil, nil
			lines = append(lines, source(f.Decl))
		}
	}
	values(slices.Concat(p.Consts, p.Vars))
	funcs(p.Funcs)
	for _, one := range p.Types {
		values(slices.Concat(one.Consts, one.Vars))
		funcs(slices.Concat(one.Funcs, one.Methods))
		for _, spec := range one.Decl.Specs {
			spec := spec.(*ast.TypeSpec)
			body, is := spec.Type.(*ast.StructType)
			if !is {
				lines = append(lines, "type "+one.Name+" "+source(spec.Type))
				continue
			}
			lines = append(lines, "type "+one.Name+" struct")
			for _, field := range body.Fields.List {
				for _, name := range field.Names {
					lines = append(lines, fmt.Sprintf("field %s.%s %s", one.Name, name.Name, source(field.Type)))
				}
				if field.Names == nil {
					lines = append(lines, fmt.Sprintf("field %s embeds %s", one.Name, source(field.Type)))
				}
			}
		}
	}
	slices.Sort(lines)
	return lines
}

// source prints a node in one line.
func source(node any) string {
	var b strings.Builder
	_ = printer.Fprint(&b, token.NewFileSet(), node) // to a builder, which does not fail
	return strings.Join(strings.Fields(b.String()), " ")
}
