package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stridebench/stridebench/access/probe"
	"github.com/stridebench/stridebench/access/sweep"
	"github.com/stridebench/stridebench/access/workload"
	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/simcache/machines"
	kept "github.com/stridebench/stridebench/simcache/machines/strict"
)

// near returns similar names, by cobra's measure.
func near(typed string, names ...string) []string {
	all := &cobra.Command{SuggestionsMinimumDistance: 2}
	for _, name := range names {
		all.AddCommand(&cobra.Command{Use: name, Run: func(*cobra.Command, []string) {}})
	}
	return all.SuggestionsFor(typed)
}

// flagFault adds a guess of the meant flag or value to an error of the flags.
func flagFault(cmd *cobra.Command, err error) error {
	if args := cmd.Flags().Args(); cmd.HasSubCommands() && len(args) > 0 {
		return aVerb(cmd, args) // the flag was meant for this verb
	}
	if invalid, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		kind := invalid.GetFlag().Value.Type()
		_, number := errors.AsType[*strconv.NumError](err)
		want := wantOf[kind]
		if errors.Is(err, strconv.ErrRange) {
			want = "a number of fewer digits"
		}
		if want != "" && (number || kind == "duration" && invalid.GetValue() != "") {
			err = fmt.Errorf("invalid argument %q for \"--%s\" flag: want %s", invalid.GetValue(),
				invalid.GetFlag().Name, want)
		}
	}
	hint := ""
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok &&
		unknown.GetSpecifiedShortnames() == "" {
		hint = flagHint(cmd, unknown.GetSpecifiedName())
	}
	return fmt.Errorf("%w%s (see %s --help)", err, hint, cmd.CommandPath())
}

// wantOf describes values of Go's own flag types, whose errors come from Go's packages.
var wantOf = map[string]string{"int": "a whole number", "float64": "a number, such as 0.01",
	"duration": "a length of time, such as 10ms or 1s", "bool": "no value, true or false"}

// flagHint guesses which flag an unknown one means, or returns "".
func flagHint(cmd *cobra.Command, name string) string {
	var joined string // the longest flag that begins the name, as in --shape4000x4000
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		names = append(names, f.Name)
		if rest, ok := strings.CutPrefix(name, f.Name); ok && rest != "" && rest[0] >= '0' &&
			rest[0] <= '9' && len(f.Name) > len(joined) {
			joined = f.Name
		}
	})
	switch {
	case joined != "":
		return fmt.Sprintf(": did you mean --%s %s?", joined, name[len(joined):])
	case name == "config" && slices.Contains(names, "caches"):
		return ": did you mean --caches, which takes such a file here?"
	case name == "caches" && slices.Contains(names, "config"):
		return ": did you mean --config, which takes such a file here?"
	case name == "preset" && slices.Contains(names, "caches"):
		return ": did you mean --caches, with the file that 'bench machine --preset NAME' prints?"
	case cmd.Name() == "advise" && slices.Contains([]string{"order", "tile", "kernel"}, name):
		return ": advise tries all orders, tiles and kernels"
	}
	same := slices.IndexFunc(names, func(n string) bool {
		return strings.EqualFold(n, name) || n == flagElsewhere[name]
	})
	if same >= 0 {
		return fmt.Sprintf(": did you mean --%s?", names[same])
	}
	var others []string
	for _, verb := range cmd.Root().Commands() {
		if verb.Flags().Lookup(name) != nil && verb.IsAvailableCommand() {
			others = append(others, verb.CommandPath())
		}
	}
	if last := len(others) - 1; last > 0 {
		return fmt.Sprintf(": %s and %s take it", strings.Join(others[:last], ", "), others[last])
	} else if last == 0 {
		return fmt.Sprintf(": %s takes it", others[0])
	}
	if similar := near(name, names...); len(similar) > 0 {
		return ": did you mean --" + strings.Join(similar[:min(len(similar), 3)], " or --") + "?"
	}
	return ""
}

// flagElsewhere maps flags of Cachegrind, hyperfine, go test and other gates to ours.
var flagElsewhere = map[string]string{
	"cachegrind-out-file": "cachegrind-out", "output": "out", "tolerance": "exact-tolerance",
	"benchtime": "sample-time", "time": "sample-time", "iterations": "count", "repeat": "count",
	"runs": "count", "samples": "count",
}

// oneDash refuses long flags with one dash: -order would mean -o with the file "rder".
func oneDash(root *cobra.Command, args []string) error {
	cmd, rest, err := root.Find(args)
	if err != nil {
		return nil // ExecuteContext reports it
	}
	cmd.InitDefaultHelpFlag()
	for _, arg := range rest {
		if arg == "--" {
			break
		}
		name, _, _ := strings.Cut(strings.TrimPrefix(arg, "-"), "=")
		if arg == "-"+strings.TrimLeft(arg, "-") && len(name) > 1 &&
			(cmd.Flags().Lookup(name) != nil || cmd.InheritedFlags().Lookup(name) != nil) {
			return fmt.Errorf("%s: long flags have two dashes: did you mean -%s? (see %s --help)",
				arg, arg, cmd.CommandPath())
		}
	}
	return nil
}

// argHint guesses the meaning of an unexpected argument, or returns "".
func argHint(cmd *cobra.Command, arg string) string {
	_, err := layouts.ParseShape(strings.ToLower(arg))
	switch flag := flagOfFile[filepath.Ext(arg)]; {
	case arg == "help":
		return fmt.Sprintf(": did you mean %s --help?", cmd.CommandPath())
	case flag != "" && cmd.Flags().Lookup(flag) != nil:
		return fmt.Sprintf(": did you mean --%s %s?", flag, arg)
	case flag == "suite" && cmd.Flags().Lookup("caches") != nil: // and no --suite
		return fmt.Sprintf(": did you mean --caches %s?", arg)
	case err == nil && cmd.Name() == "sim" && cmd.Flags().Changed("tlb"):
		return ": --tlb takes no value, other sizes are in the file of --config (bench machine " +
			"--preset NAME prints one)"
	case err == nil && cmd.Flags().Lookup("shape") != nil && !cmd.Flags().Changed("shape"):
		return fmt.Sprintf(": did you mean --shape %s?", arg)
	case err == nil && cmd.Flags().Changed("shape") && !strings.ContainsAny(arg, "x,"):
		return fmt.Sprintf(": did you mean --shape %sx%s?", cmd.Flags().Lookup("shape").Value,
			strings.Join(cmd.Flags().Args(), "x"))
	case cmd.Flags().Lookup("filter") != nil && cmd.Flags().Changed("filter") &&
		strings.Contains(arg, ":"):
		return fmt.Sprintf(": did you mean --filter '%s %s'?", cmd.Flags().Lookup("filter").Value,
			strings.Join(cmd.Flags().Args(), " "))
	case cmd.Flags().Lookup("filter") != nil && !strings.ContainsAny(arg, "./= "):
		return fmt.Sprintf(": did you mean --filter .name:%s?", arg)
	}
	return ""
}

var flagOfFile = map[string]string{".c": "program", ".mtx": "matrix", ".yaml": "suite",
	".yml": "suite"}

// verbHint guesses the command that arg was meant for, or returns "".
func verbHint(cmd *cobra.Command, arg string) string {
	switch verb := verbOfFile[filepath.Ext(arg)]; {
	case cmd.HasParent():
		return ""
	case cmd.Flags().Lookup(arg) != nil:
		return fmt.Sprintf(": did you mean %s --%s?", cmd.CommandPath(), arg)
	case verb != "":
		return fmt.Sprintf(": did you mean %s %s %s?", cmd.CommandPath(), verb, arg)
	}
	return ""
}

var verbOfFile = map[string]string{".txt": "report", ".c": "sim --program", ".mtx": "sim --matrix",
	".json": "import", ".gz": "import", ".yaml": "sweep", ".yml": "sweep"}

// kindHint names the kind of a refused YAML file, or the preset of that name, or returns "".
func kindHint(path string) string {
	if _, err := os.Stat(path); path != "" && errors.Is(err, fs.ErrNotExist) {
		if _, err := machines.File(path); err == nil {
			return fmt.Sprintf("; it is a preset: --preset of sim takes it, and bench machine "+
				"--preset %s prints a file for --caches", path)
		}
	}
	if path == probe.SavedName || kept.Regular(path) != nil { // a pipe can be read once
		return ""
	}
	if _, err := files().Description(path); err == nil {
		return "; it describes caches: --caches takes it, and --config of sim"
	}
	if _, err := workload.ReadFile(path); err == nil {
		return "; it is a suite: run --suite takes it"
	}
	if _, err := sweep.ReadFile(path); err == nil {
		return "; it is a space: bench sweep takes it"
	}
	return ""
}
