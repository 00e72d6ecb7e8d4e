package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stridebench/stridebench/simcache/machines"
)

// The endings of files that flags or verbs read.
var (
	resultFiles = []string{"txt", "out", "bench"}
	yamlFiles   = []string{"yaml", "yml"}
	endings     = map[string][]string{"baseline": resultFiles, "ab-out": resultFiles,
		"results": resultFiles, "suite": yamlFiles, "caches": yamlFiles, "config": yamlFiles,
		"program": {"c"}, "matrix": {"mtx", "gz"}, "bench report": resultFiles,
		"bench merge": resultFiles, "bench export": resultFiles, "bench history add": resultFiles,
		"bench check": resultFiles, "bench sweep": yamlFiles,
		"bench import": {"json", "gz", "log", "txt"}}
)

// addCompletions has a shell offer known values, files or folders for the flags and arguments that
// take these. It offers nothing for others.
func addCompletions(cmd *cobra.Command) {
	if ends := endings[cmd.CommandPath()]; ends != nil {
		cmd.ValidArgsFunction = cobra.FixedCompletions(ends, cobra.ShellCompDirectiveFilterFileExt)
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
	what, _ := pflag.UnquoteUsage(flag)
	ends := endings[flag.Name]
	switch of, known := flag.Value.(interface{ choices() []string }); {
	case known:
		return of.choices(), cobra.ShellCompDirectiveNoFileComp
	case ends != nil && what == "file":
		return ends, cobra.ShellCompDirectiveFilterFileExt
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
