package main

import (
	"cmp"
	"embed"
	"fmt"
	"slices"
	"strings"
	"sync"
	"text/template"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stridebench/stridebench/access/kernel"
	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/simcache/explain"
)

// helpTexts has a file for each verb. Dashes separate text, examples, names of flags, more text and
// more examples. 'bench VERB --help' prints the first two, and the first clauses of the named
// flags. It fits a screen. 'bench help VERB' prints everything.
//
//go:embed help
var helpTexts embed.FS

const helpWidth = 100

// Keys of annotations for what the short help omits.
const (
	screenFlags  = "flags of the screen"
	moreText     = "more text"
	moreExamples = "more examples"
)

// helpText returns a text, with what the program knows in place of {{words}}. It panics without the
// text, which tests find.
func helpText(name string) string {
	content, err := helpTexts.ReadFile("help/" + name + ".txt")
	if err != nil {
		panic(err)
	}
	return strings.NewReplacer("{{dtypes}}", strings.Join(layouts.DTypeNames(), ", "),
		"{{kernels}}", kernel.Names(kernel.All()), "{{own-kernels}}", kernel.Names(kernel.Sets()),
		"{{view-operations}}", explain.Fold(strings.Join(layouts.ViewOps(), ", "), helpWidth)).
		Replace(strings.TrimSpace(string(content)))
}

// usages has the usage of each flag, by "FLAG" or "VERB FLAG".
var usages = sync.OnceValue(func() map[string]string {
	all := map[string]string{}
	for line := range strings.Lines(helpText("flags")) {
		name, usage, _ := strings.Cut(strings.TrimSpace(line), ": ")
		all[name] = usage
	}
	return all
})

// addHelp adds the texts to a command, its flags and its verbs.
func addHelp(cmd *cobra.Command) {
	name := strings.TrimPrefix(cmd.CommandPath(), "bench ")
	text := helpText(strings.ReplaceAll(name, " ", "-"))
	cmd.LocalFlags().VisitAll(func(flag *pflag.Flag) {
		flag.Usage = cmp.Or(usages()[name+" "+flag.Name], usages()[flag.Name]) + flag.Usage
	})
	text, rest, _ := strings.Cut(text, "\n--- ")
	cmd.Long, cmd.Example, _ = strings.Cut(text, "\n---\n")
	names, rest, _ := strings.Cut(rest, "\n")
	more, examples, _ := strings.Cut(rest, "\n---\n")
	cmd.Annotations = map[string]string{screenFlags: names, moreText: more, moreExamples: examples}
	for _, verb := range cmd.Commands() {
		addHelp(verb)
	}
}

// refuseTopics has the verb help, which is cobra's, refuse what is not a verb.
func refuseTopics(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	help, _, err := root.Find([]string{"help"})
	if err != nil {
		panic(err)
	}
	help.Use, help.Long = "help [verb]", ""
	help.Short = "Print all flags of a verb, with more examples"
	help.Run, help.RunE = nil, func(_ *cobra.Command, args []string) error {
		found, rest, _ := root.Find(args)
		if found == root && len(args) > 0 || len(rest) > 0 {
			return fmt.Errorf("no verb %q (bench --help lists them)", strings.Join(args, " "))
		}
		found.InitDefaultHelpFlag()
		return found.Help()
	}
}

// screenTemplate is the look of the help of a verb.
var screenTemplate = sync.OnceValue(func() *template.Template {
	pad := func(text string, width int) string { return fmt.Sprintf("%-*s", width, text) }
	return template.Must(template.New("screen.tmpl").Funcs(template.FuncMap{"rpad": pad}).
		ParseFS(helpTexts, "help/screen.tmpl"))
})

func writeHelp(cmd *cobra.Command, whole bool) {
	names := strings.Fields(cmd.Annotations[screenFlags])
	text, examples, flags, more := cmp.Or(cmd.Long, cmd.Short), cmd.Example, cmd.Flags(), ""
	if whole || len(names) == 0 {
		text = strings.TrimSpace(text + "\n\n" + cmd.Annotations[moreText])
		examples = strings.TrimRight(examples+"\n"+cmd.Annotations[moreExamples], "\n")
	} else {
		more = fmt.Sprintf("'bench help %s' has more",
			strings.TrimPrefix(cmd.CommandPath(), "bench "))
		shown, others := screen(cmd.Flags(), names)
		if flags = shown; others != nil {
			more += ", and\n" + explain.Fold(strings.Join(others, " "), helpWidth)
		}
	}
	// A write error is the output's, which run reports.
	_ = screenTemplate().Execute(cmd.OutOrStdout(), map[string]any{"Cmd": cmd, "Text": text,
		"Examples": examples, "Flags": flags.FlagUsagesWrapped(helpWidth), "More": more})
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
