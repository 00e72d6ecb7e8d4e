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

func addHelp(cmd *cobra.Command) error {
	name := strings.TrimPrefix(strings.ReplaceAll(cmd.CommandPath(), " ", "-"), "bench-")
	content, err := helpTexts.ReadFile("help/" + name + ".txt")
	if err != nil {
		return err
	}
	text := strings.ReplaceAll(strings.TrimSuffix(string(content), "\n"), "{{view-operations}}",
		lines(layouts.ViewOps(), ", ", helpWidth))
	text, rest, _ := strings.Cut(text, "\n--- ")
	cmd.Long, cmd.Example, _ = strings.Cut(text, "\n---\n")
	names, rest, _ := strings.Cut(rest, "\n")
	more, examples, _ := strings.Cut(rest, "\n---\n")
	cmd.Annotations = map[string]string{screenFlags: names, moreText: more, moreExamples: examples}
	for _, verb := range cmd.Commands() {
		if err := addHelp(verb); err != nil {
			return err
		}
	}
	return nil
}

func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:   "help [VERB]",
		Short: "Print all flags, examples and details of a verb",

		ValidArgsFunction: verbsToHelp,
		RunE: func(help *cobra.Command, args []string) error {
			cmd, rest, err := help.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return fmt.Errorf("no verb %q (bench --help lists them)", strings.Join(args, " "))
			}
			cmd.InitDefaultHelpFlag()
			_, err = fmt.Fprint(help.OutOrStdout(), helpOf(cmd, true))
			return err
		},
	}
}

func helpOf(cmd *cobra.Command, whole bool) string {
	names := strings.Fields(cmd.Annotations[screenFlags])
	whole = whole || len(names) == 0
	text, examples := strings.TrimSpace(cmp.Or(cmd.Long, cmd.Short)), cmd.Example
	if more := cmd.Annotations[moreText]; whole && more != "" {
		text += "\n\n" + more
	}
	if more := cmd.Annotations[moreExamples]; whole && more != "" {
		examples += "\n" + more
	}
	var b strings.Builder
	if verbs := verbsOf(cmd); verbs != "" {
		fmt.Fprintf(&b, "%s\n\nUsage:\n  %[2]s VERB [flags]\n  %[2]s VERB --help\n\nVerbs:\n%s",
			text, cmd.CommandPath(), verbs)
	} else {
		fmt.Fprintf(&b, "%s\n\nUsage:\n  %s\n", text, cmd.UseLine())
	}
	if examples != "" { // the verb help has none
		fmt.Fprintf(&b, "\nExamples:\n%s\n", examples)
	}
	if whole {
		fmt.Fprintf(&b, "\nFlags:\n%s", usages(cmd.Flags(), nil))
	} else {
		fmt.Fprintf(&b, "\nFlags:\n%s\n'bench help %s' has %s\n", usages(cmd.Flags(), names),
			strings.TrimPrefix(cmd.CommandPath(), "bench "), leftOut(cmd, names))
	}
	return b.String()
}

func leftOut(cmd *cobra.Command, names []string) string {
	var has []string
	if cmd.Annotations[moreText] != "" {
		has = append(has, "details")
	}
	if cmd.Annotations[moreExamples] != "" {
		has = append(has, "more examples")
	}
	flags := lines(others(cmd.Flags(), names), " ", helpWidth)
	if flags != "" {
		has, flags = append(has, "the flags"), "\n"+flags
	}
	separator := " and "
	if last := len(has) - 1; last > 1 {
		has[last], separator = "and "+has[last], ", "
	}
	return strings.Join(has, separator) + flags
}

func verbsOf(cmd *cobra.Command) string {
	var b strings.Builder
	width := 9
	for _, verb := range cmd.Commands() {
		if verb.IsAvailableCommand() {
			width = max(width, len(verb.Name()))
		}
	}
	for _, verb := range cmd.Commands() {
		if verb.IsAvailableCommand() {
			fmt.Fprintf(&b, "  %-*s %s\n", width, verb.Name(), verb.Short)
		}
	}
	return b.String()
}

// usages returns the usage of all flags, or the first clauses of the named ones in order.
func usages(flags *pflag.FlagSet, names []string) string {
	if names == nil {
		return flags.FlagUsagesWrapped(helpWidth)
	}
	shown := pflag.NewFlagSet("", pflag.ContinueOnError)
	shown.SortFlags = false
	for _, name := range names {
		flag := *flags.Lookup(name)
		flag.Usage, _, _ = strings.Cut(flag.Usage, ";")
		shown.AddFlag(&flag)
	}
	return shown.FlagUsagesWrapped(helpWidth)
}

func others(flags *pflag.FlagSet, names []string) (all []string) {
	flags.VisitAll(func(flag *pflag.Flag) {
		if !slices.Contains(names, flag.Name) && flag.Name != "help" {
			all = append(all, "--"+flag.Name)
		}
	})
	return all
}

// lines joins words into lines of at most width columns.
func lines(words []string, separator string, width int) string {
	var b strings.Builder
	column := 0
	for i, word := range words {
		switch {
		case i > 0 && column+len(word) > width-len(separator):
			b.WriteString(strings.TrimSpace(separator) + "\n")
			column = 0
		case i > 0:
			b.WriteString(separator)
		}
		b.WriteString(word)
		column += len(word) + len(separator)
	}
	return b.String()
}
