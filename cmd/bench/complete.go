package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stridebench/stridebench/simcache/machines"
)

// addCompletions has a shell offer known values, files or folders for the flags and arguments that
// take these. It offers nothing for others.
func addCompletions(cmd *cobra.Command) {
	const files = "report merge export add check sweep import"
	if slices.Contains(strings.Fields(files), cmd.Name()) {
		cmd.ValidArgsFunction = cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault)
	}
	cmd.LocalFlags().VisitAll(func(flag *pflag.Flag) {
		values := func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return valuesOf(flag)
		}
		// It fails if a flag is registered twice, which tests find.
		if err := cmd.RegisterFlagCompletionFunc(flag.Name, values); err != nil {
			panic(err)
		}
	})
	for _, verb := range cmd.Commands() {
		addCompletions(verb)
	}
}

func valuesOf(flag *pflag.Flag) (values []string, _ cobra.ShellCompDirective) {
	if of, known := flag.Value.(interface{ choices() []string }); known {
		values = of.choices()
	}
	switch what, _ := pflag.UnquoteUsage(flag); {
	case what == "file" || what == "program":
		return nil, cobra.ShellCompDirectiveDefault
	case what == "folder":
		return nil, cobra.ShellCompDirectiveFilterDirs
	case flag.Name == "preset":
		for _, m := range machines.List() {
			values = append(values, cobra.CompletionWithDesc(m.Name, m.Description))
		}
	}
	return values, cobra.ShellCompDirectiveNoFileComp
}
