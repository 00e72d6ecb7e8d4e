package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// TestCompletions: every flag takes each value that a shell offers for it, offers files only if a file is what it takes, and
// offers something if its help lists what it takes.
func TestCompletions(t *testing.T) {
	offered := 0
	var each func(cmd *cobra.Command)
	each = func(cmd *cobra.Command) {
		flag := func(f *pflag.Flag) {
			values, ok := cmd.GetFlagCompletionFunc(f.Name)
			if f.NoOptDefVal != "" {
				return
			}
			if !ok {
				t.Errorf("%s --%s: a shell offers files for it, whatever it takes", cmd.CommandPath(), f.Name)
				return
			}
			list, directive := values(cmd, nil, "")
			what, usage := pflag.UnquoteUsage(f)
			files := directive == cobra.ShellCompDirectiveDefault || directive&(cobra.ShellCompDirectiveFilterFileExt|cobra.ShellCompDirectiveFilterDirs) != 0 || slices.Contains(list, measuredName)
			if takes := slices.Contains([]string{"file", "folder", "program"}, what); takes != files {
				t.Errorf("%s --%s: takes a %s, and files are offered: %v", cmd.CommandPath(), f.Name, what, files)
			}
			if files {
				return
			}
			if text, _, _ := strings.Cut(usage, ";"); len(list) == 0 && strings.Contains(text, ", ") && strings.Contains(text, " or ") && !strings.Contains(text, "such as") && f.Name != "define" {
				t.Errorf("%s --%s: nothing is offered: %s", cmd.CommandPath(), f.Name, usage)
			}
			for _, value := range list {
				value, _, _ := strings.Cut(value, "\t")
				fresh, _, err := newRoot().Find(strings.Fields(cmd.CommandPath())[1:])
				if err == nil {
					err = fresh.Flag(f.Name).Value.Set(value)
				}
				if offered++; err != nil {
					t.Errorf("%s --%s offers %q: %v", cmd.CommandPath(), f.Name, value, err)
				}
			}
		}
		cmd.Flags().VisitAll(flag)
		cmd.PersistentFlags().VisitAll(flag)
		for _, verb := range cmd.Commands() {
			each(verb)
		}
	}
	each(newRoot())
	if offered < 150 {
		t.Errorf("%d values are offered", offered)
	}
}
