package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// TestCommandStays: a *cobra.Command is not passed on beyond what a verb is made
// of: its constructor, its RunE and its Args, what gives it its help and hints, and what
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
			if !ok || f.Name.Name == "callOf" || path == "help.go" || path == "args.go" ||
				path == "complete.go" {
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

// screenHeight is how many lines --help may take: those of half a large screen.
const screenHeight = 45

// TestHelp: every verb has a text and examples, its --help fits a screen, and the
// whole names every flag.
func TestHelp(t *testing.T) {
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		if cmd.Name() == "help" { // cobra's
			return
		}
		if cmd.Long == "" || cmd.Example == "" {
			t.Errorf("%s: text %q, examples %q", cmd.CommandPath(), cmd.Long, cmd.Example)
		}
		help := func(whole bool) string {
			var b strings.Builder
			cmd.SetOut(&b)
			writeHelp(cmd, whole)
			return b.String()
		}
		screen, whole := help(false), help(true)
		if n := strings.Count(screen, "\n"); n > screenHeight {
			t.Errorf("%s --help has %d lines, want at most %d", cmd.CommandPath(), n, screenHeight)
		}
		for line := range strings.Lines(screen + whole) {
			if n := utf8.RuneCountInString(strings.TrimSpace(line)); n > helpWidth ||
				strings.Contains(line, "{{") {
				t.Errorf("%s: a line of %d columns: %s", cmd.CommandPath(), n, line)
			}
		}
		cmd.Flags().VisitAll(func(flag *pflag.Flag) {
			if flag.Usage == "" {
				t.Errorf("%s: help/flags.txt lacks --%s", cmd.CommandPath(), flag.Name)
			}
			if !strings.Contains(whole, "--"+flag.Name+" ") ||
				!strings.Contains(screen, "--"+flag.Name) && flag.Name != "help" {
				t.Errorf("%s: the help says nothing of --%s", cmd.CommandPath(), flag.Name)
			}
		})
		for _, verb := range cmd.Commands() {
			walk(verb)
		}
	}
	walk(newRoot())
}
