package main

import (
	"cmp"
	"embed"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/simcache/explain"
)

// helpTexts has a file for each verb. Dashes separate text, examples, names of flags, more text and
// more examples. 'bench VERB --help' prints the first two, and the first clauses of the named
// flags. It fits a screen. 'bench help VERB' prints everything.
//
//go:embed help/*.txt
var helpTexts embed.FS

const helpWidth = 100

// Keys of annotations for what the short help omits.
const (
	screenFlags  = "flags of the screen"
	moreText     = "more text"
	moreExamples = "more examples"
)

// addHelp adds its texts to a command and its verbs. It panics without a text, which tests find.
func addHelp(cmd *cobra.Command) {
	name := strings.TrimPrefix(strings.ReplaceAll(cmd.CommandPath(), " ", "-"), "bench-")
	content, err := helpTexts.ReadFile("help/" + name + ".txt")
	if err != nil {
		panic(err)
	}
	text := strings.ReplaceAll(string(content), "{{view-operations}}",
		explain.Fold(strings.Join(layouts.ViewOps(), ", "), helpWidth))
	text, rest, _ := strings.Cut(strings.TrimSpace(text), "\n--- ")
	cmd.Long, cmd.Example, _ = strings.Cut(text, "\n---\n")
	names, rest, _ := strings.Cut(rest, "\n")
	more, examples, _ := strings.Cut(rest, "\n---\n")
	cmd.Annotations = map[string]string{screenFlags: names, moreText: more, moreExamples: examples}
	for _, verb := range cmd.Commands() {
		addHelp(verb)
	}
}

func newHelp(root *cobra.Command) *cobra.Command {
	help := &cobra.Command{Use: "help [verb]",
		Short: "Print all flags of a verb, with more examples"}
	help.RunE = func(_ *cobra.Command, args []string) error {
		found, rest, _ := root.Find(args)
		if found == root && len(args) > 0 || len(rest) > 0 {
			return fmt.Errorf("no verb %q (bench --help lists them)", strings.Join(args, " "))
		}
		found.InitDefaultHelpFlag()
		return found.Help()
	}
	help.ValidArgsFunction = func(_ *cobra.Command, args []string, typed string) (
		verbs []cobra.Completion, _ cobra.ShellCompDirective) {
		found, _, _ := root.Find(args)
		for _, verb := range found.Commands() {
			if verb.IsAvailableCommand() && strings.HasPrefix(verb.Name(), typed) {
				verbs = append(verbs, cobra.CompletionWithDesc(verb.Name(), verb.Short))
			}
		}
		return verbs, cobra.ShellCompDirectiveNoFileComp
	}
	return help
}

func helpOf(cmd *cobra.Command, whole bool) string {
	names := strings.Fields(cmd.Annotations[screenFlags])
	whole = whole || len(names) == 0
	text, examples := cmp.Or(cmd.Long, cmd.Short), cmd.Example
	if whole {
		text = strings.TrimSpace(text + "\n\n" + cmd.Annotations[moreText])
		examples = strings.TrimRight(examples+"\n"+cmd.Annotations[moreExamples], "\n")
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\nUsage:\n  %s\n", text, cmd.UseLine())
	if cmd.HasAvailableSubCommands() {
		b.WriteString("\nVerbs:\n")
		for _, verb := range cmd.Commands() {
			if verb.IsAvailableCommand() {
				fmt.Fprintf(&b, "  %-*s %s\n", verb.NamePadding(), verb.Name(), verb.Short)
			}
		}
	}
	if examples != "" { // the verb help has none
		fmt.Fprintf(&b, "\nExamples:\n%s\n", examples)
	}
	if whole {
		fmt.Fprintf(&b, "\nFlags:\n%s", cmd.Flags().FlagUsagesWrapped(helpWidth))
		return b.String()
	}
	shown, others := screen(cmd.Flags(), names)
	fmt.Fprintf(&b, "\nFlags:\n%s\n'bench help %s' has more", shown.FlagUsagesWrapped(helpWidth),
		strings.TrimPrefix(cmd.CommandPath(), "bench "))
	if others != nil {
		fmt.Fprintf(&b, ", and\n%s", explain.Fold(strings.Join(others, " "), helpWidth))
	}
	return b.String() + "\n"
}

// screen returns the named flags, with the first clause of each, and the names of all others.
func screen(flags *pflag.FlagSet, names []string) (shown *pflag.FlagSet, others []string) {
	shown = pflag.NewFlagSet("", pflag.ContinueOnError)
	shown.SortFlags = false
	for _, name := range names {
		flag := *flags.Lookup(name)
		flag.Usage, _, _ = strings.Cut(flag.Usage, ";")
		shown.AddFlag(&flag)
	}
	flags.VisitAll(func(flag *pflag.Flag) {
		if !slices.Contains(names, flag.Name) && flag.Name != "help" {
			others = append(others, "--"+flag.Name)
		}
	})
	return shown, others
}
