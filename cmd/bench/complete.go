package main

import (
	"cmp"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/kernel"
	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/results/history"
	"github.com/stridebench/stridebench/results/show"
	"github.com/stridebench/stridebench/simcache/machines"
)

// The endings of files that flags or verbs read.
var (
	resultFiles  = []string{"txt", "out", "bench"}
	yamlFiles    = []string{"yaml", "yml"}
	profileFiles = []string{"json", "gz", "log", "txt"}
	endings      = map[string][]string{"baseline": resultFiles, "ab-out": resultFiles,
		"results": resultFiles, "suite": yamlFiles, "program": {"c"}, "matrix": {"mtx", "gz"}}
)

const measuredName = "measured"

// addCompletions registers fixed values, files or nothing for each flag and argument. Shells would
// otherwise offer files.
func addCompletions(cmd *cobra.Command) {
	each := func(flag *pflag.Flag) {
		if flag.NoOptDefVal != "" { // it takes no value
			return
		}
		if err := cmd.RegisterFlagCompletionFunc(flag.Name, valuesOf(cmd, flag)); err != nil {
			// A flag is registered twice. The tests find this.
			panic(err)
		}
	}
	cmd.Flags().VisitAll(each)
	cmd.PersistentFlags().VisitAll(each)
	cmd.ValidArgsFunction = argumentsOf(cmd)
	for _, verb := range cmd.Commands() {
		addCompletions(verb)
	}
}

func argumentsOf(cmd *cobra.Command) cobra.CompletionFunc {
	switch cmd.CommandPath() {
	case "bench report", "bench merge", "bench export", "bench history add":
		return filesEnding(resultFiles)
	case "bench import":
		return filesEnding(profileFiles)
	case "bench check":
		return first(filesEnding(resultFiles))
	case "bench sweep":
		return first(filesEnding(yamlFiles))
	case "bench history show":
		return first(benchmarksOf)
	}
	return cobra.NoFileCompletions
}

func first(values cobra.CompletionFunc) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]string,
		cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return values(cmd, args, typed)
	}
}

func valuesOf(cmd *cobra.Command, flag *pflag.Flag) cobra.CompletionFunc {
	if of, ok := flag.Value.(interface{ choices() []string }); ok && of.choices() != nil {
		return fixed(of.choices()...)
	}
	what, _ := pflag.UnquoteUsage(flag)
	switch {
	case flag.Name == "caches" || flag.Name == "config":
		return cacheFiles
	case what == "file" && flag.Name == "out" && cmd.Name() == "machine":
		return filesEnding(yamlFiles)
	case what == "file" && endings[flag.Name] != nil:
		return filesEnding(endings[flag.Name])
	case what == "file" || what == "program":
		return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveDefault
		}
	case what == "folder":
		return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		}
	case what == "label":
		return labelsOf
	}
	return func(cmd *cobra.Command, args []string, typed string) ([]string,
		cobra.ShellCompDirective) {
		// deferred, because it reads the presets
		return fixed(fixedValues(cmd, flag.Name, what)...)(cmd, args, typed)
	}
}

// completes reports whether a shell asks for completions.
func completes(args []string) bool {
	return len(args) > 0 && (args[0] == cobra.ShellCompRequestCmd ||
		args[0] == cobra.ShellCompNoDescRequestCmd)
}

// A lenient is a flag of a command line still being typed. It accepts any value, also repeatedly,
// as cobra sets it more than once.
type lenient struct {
	pflag.Value
	text string
}

// Set implements pflag.Value.
func (l *lenient) Set(text string) error {
	l.text = text
	return nil
}

// String implements pflag.Value.
func (l *lenient) String() string { return cmp.Or(l.text, l.Value.String()) }

func beLenient(cmd *cobra.Command) {
	each := func(flag *pflag.Flag) {
		if flag.NoOptDefVal == "" {
			flag.Value = &lenient{Value: flag.Value}
		}
	}
	cmd.Flags().VisitAll(each)
	cmd.PersistentFlags().VisitAll(each)
	for _, verb := range cmd.Commands() {
		beLenient(verb)
	}
}

func fixedValues(cmd *cobra.Command, name, kind string) []string {
	switch {
	case name == "preset":
		values := []string{"list\tprint the names of all"}
		for _, m := range machines.List() {
			values = append(values, m.Name+"\t"+m.Description)
		}
		return values
	case name == "op" && cmd.Name() == "run":
		return strings.Split(strings.ReplaceAll(anyOp, " or ", ", "), ", ")
	case name == "op":
		return strings.Split(strings.ReplaceAll(nests, " or ", ", "), ", ")
	case name == "dtype":
		return layouts.DTypeNames()
	case name == "kernel":
		sets := kernel.All()
		if cmd.Name() == "run" { // it runs them
			sets = kernel.Sets()
		}
		return append([]string{access.Scalar.String(), access.Builtin.String()},
			strings.Split(kernel.Names(sets), ", ")...)
	case name == "order":
		return []string{access.Row.String(), access.Col.String(), access.Torch.String(),
			access.AsFrom.String(), access.AsTo.String()}
	case name == "pages":
		return []string{access.PagesSmall.String(), access.PagesTHP.String(),
			access.PagesHuge.String()}
	case name == "sparse":
		return []string{"coo", "csr", "csc", "bsr", "bsc"}
	case name == "observe":
		return []string{"classes", "sets", "bytes"}
	case name == "threads" && kind != "int":
		return []string{"all"}
	}
	return nil
}

// fixed offers values. In a list joined by commas, it completes the last part.
func fixed(values ...string) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		before := typed[:strings.LastIndex(typed, ",")+1]
		var fit []string
		for _, value := range values {
			name, _, _ := strings.Cut(value, "\t")
			if strings.HasPrefix(before+name, typed) &&
				!slices.Contains(strings.Split(before, ","), name) {
				fit = append(fit, before+value)
			}
		}
		return fit, cobra.ShellCompDirectiveNoFileComp
	}
}

func filesEnding(ends []string) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return ends, cobra.ShellCompDirectiveFilterFileExt
	}
}

func cacheFiles(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	if !strings.HasPrefix(measuredName, typed) {
		return yamlFiles, cobra.ShellCompDirectiveFilterFileExt
	}
	fit, directive := []string{measuredName}, cobra.ShellCompDirectiveNoFileComp
	files, _ := os.ReadDir(".") // none on an error
	for _, file := range files {
		name := file.Name()
		switch info, err := os.Stat(name); {
		case err != nil || !strings.HasPrefix(name, typed) || name[0] == '.' && typed == "":
		case info.IsDir():
			fit, directive = append(fit, name+"/"), directive|cobra.ShellCompDirectiveNoSpace
		case slices.Contains(yamlFiles, strings.TrimPrefix(filepath.Ext(name), ".")):
			fit = append(fit, name)
		}
	}
	return fit, directive
}

func benchmarksOf(cmd *cobra.Command, _ []string, typed string) (fit []string,
	_ cobra.ShellCompDirective) {
	list, _, _ := history.Open(cmd.Flag("dir").Value.String()).Entries() // none on an error
	for _, entry := range list {
		for _, r := range entry.Records {
			for _, name := range []string{r.Name, strings.TrimPrefix(r.Name, "Benchmark")} {
				if strings.HasPrefix(name, typed) && (typed != "" || name != r.Name) {
					fit = append(fit, show.Printable(name))
				}
			}
		}
	}
	slices.Sort(fit)
	return slices.Compact(fit), cobra.ShellCompDirectiveNoFileComp
}

var labelLine = regexp.MustCompile(`(?m)^([a-z][a-z0-9_-]*): `)

// labelsOf offers labels of the named files or of the history, from the heads of some files.
func labelsOf(cmd *cobra.Command, args []string, typed string) (fit []string,
	_ cobra.ShellCompDirective) {
	const some, head = 16, 64 << 10
	paths := args
	if dir := cmd.Flag("dir"); dir != nil {
		paths = []string{dir.Value.String()}
	}
	var files []string
	for _, path := range paths {
		inside, _ := filepath.Glob(filepath.Join(path, "*.txt"))
		files = append(append(files, path), inside...)
	}
	for _, path := range files[:min(len(files), some)] {
		file, err := os.Open(path)
		if err != nil {
			continue
		}
		text, _ := io.ReadAll(io.LimitReader(file, head)) // none of a folder
		file.Close()
		for _, match := range labelLine.FindAllSubmatch(text, -1) {
			label := string(match[1])
			if strings.HasPrefix(label, typed) && !strings.HasPrefix(label, results.TuningPrefix) &&
				results.CheckLabel(label) == nil {
				fit = append(fit, label)
			}
		}
	}
	slices.Sort(fit)
	return slices.Compact(fit), cobra.ShellCompDirectiveNoFileComp
}

func verbsToHelp(help *cobra.Command, args []string, typed string) (fit []string,
	_ cobra.ShellCompDirective) {
	of, rest, err := help.Root().Find(args)
	if err != nil || len(rest) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	for _, verb := range of.Commands() {
		if verb.IsAvailableCommand() && strings.HasPrefix(verb.Name(), typed) {
			fit = append(fit, verb.Name()+"\t"+verb.Short)
		}
	}
	return fit, cobra.ShellCompDirectiveNoFileComp
}
