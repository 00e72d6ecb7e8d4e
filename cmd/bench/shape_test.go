package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestCommandStays: a *cobra.Command is not passed on beyond what a verb is made
// of: its constructor, its RunE and its Args, what gives it its help, and what
// takes out of it what a verb is given.
func TestCommandStays(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok || f.Name.Name == "callOf" || f.Name.Name == "addHelp" || path == "args.go" {
				continue
			}
			for _, p := range f.Type.Params.List {
				if star, ok := p.Type.(*ast.StarExpr); ok {
					if s, ok := star.X.(*ast.SelectorExpr); ok && s.Sel.Name == "Command" {
						t.Errorf("%s: %s is given a *cobra.Command", path, f.Name.Name)
					}
				}
			}
		}
	}
}

// TestHelp: every verb has examples, and a text unless they say it all.
func TestHelp(t *testing.T) {
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		if cmd.Example == "" || strings.Contains(cmd.Long+cmd.Example, "{{") {
			t.Errorf("%s: text %q, examples %q", cmd.CommandPath(), cmd.Long, cmd.Example)
		}
		for _, verb := range cmd.Commands() {
			walk(verb)
		}
	}
	walk(newRoot())
}
