package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// TestCompletions: every flag takes each value that a shell offers for it, and offers files if
// these are what it takes.
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
				t.Errorf("%s --%s: a shell offers files for it, whatever it takes",
					cmd.CommandPath(), f.Name)
				return
			}
			list, directive := values(cmd, nil, "")
			what, _ := pflag.UnquoteUsage(f)
			files := directive != cobra.ShellCompDirectiveNoFileComp
			if takes := slices.Contains([]string{"file", "folder", "program"},
				what); takes != files {
				t.Errorf("%s --%s: takes a %s, and files are offered: %v", cmd.CommandPath(),
					f.Name, what, files)
			}
			if files {
				return
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
