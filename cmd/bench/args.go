package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/kballard/go-shellquote"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stridebench/stridebench/access/bill"
	"github.com/stridebench/stridebench/access/session/progress"
	"github.com/stridebench/stridebench/reports"
	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/results/outfile"
	"github.com/stridebench/stridebench/simcache/machines"
)

type call struct {
	ctx      context.Context
	in       io.Reader
	out, err io.Writer
	flags    *pflag.FlagSet
	meter    *progress.Meter // of err; it ends before anything is printed
}

func callOf(cmd *cobra.Command) call {
	return call{cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr(), cmd.Flags(),
		progress.New(cmd.ErrOrStderr())}
}

// verb returns a command that runs a function, unless its --preset is to list the presets.
func verb(use, short string, args cobra.PositionalArgs,
	run func(c call, args []string) error) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Args: args,
		RunE: func(cmd *cobra.Command, args []string) error {
			preset := cmd.Flags().Lookup("preset")
			if c := callOf(cmd); preset == nil || preset.Value.String() != "list" {
				return run(c, args)
			} else if c.given("json") {
				return writeJSON(c.out, machines.List())
			} else {
				return c.tables(machines.WriteList)
			}
		}}
	cmd.Flags().SortFlags = false
	return cmd
}

func (c call) given(flag string) bool { return c.flags.Changed(flag) }

// any reports whether one of the flags was given. Spaces separate them.
func (c call) any(flags string) bool { return slices.ContainsFunc(strings.Fields(flags), c.given) }

// note and warn never fail a command. A note informs, a warning asks for action.
func (c call) note(format string, args ...any) { c.say("note", format, args...) }
func (c call) warn(format string, args ...any) { c.say("warning", format, args...) }

func (c call) say(kind, format string, args ...any) {
	c.meter.End()
	fmt.Fprintf(c.err, kind+": "+format+"\n", args...)
}

// exclude refuses a flag beside any of the others, which are separated by spaces.
func exclude(c call, flag, others string) error {
	for other := range strings.FieldsSeq(others) {
		if c.given(flag) && c.given(other) {
			return fmt.Errorf("--%s and --%s exclude each other: give one of them", flag, other)
		}
	}
	return nil
}

// needs refuses each of the flags, which are separated by spaces, without another flag.
func needs(c call, other, flags string) error {
	for flag := range strings.FieldsSeq(flags) {
		if c.given(flag) && !c.given(other) {
			return fmt.Errorf("--%s goes with --%s, which is missing", flag, other)
		}
	}
	return nil
}

func positive(flag string, value int) error {
	if value < 1 {
		return fmt.Errorf("--%s %d: want at least 1", flag, value)
	}
	return nil
}

// flagFault adds where to look to an error of the flags.
func flagFault(cmd *cobra.Command, err error) error {
	if args := cmd.Flags().Args(); cmd.HasSubCommands() && len(args) > 0 {
		return aVerb(cmd, args) // the flag was meant for this verb
	}
	text := err.Error()
	if number, is := errors.AsType[*strconv.NumError](err); is { // names a function of Go
		want := map[string]string{"ParseFloat": "a number", "ParseBool": "true or false"}
		text = strings.Replace(text, number.Error(), "want "+cmp.Or(want[number.Func],
			"a whole number of at most 64 bits"), 1)
	}
	return fmt.Errorf("%s (see %s --help)", text, cmd.CommandPath())
}

// aVerb refuses arguments of a command that only has verbs.
func aVerb(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := ""
	cmd.SuggestionsMinimumDistance = 2
	if names := cmd.SuggestionsFor(args[0]); args[0] != "" && len(names) > 0 {
		hint = fmt.Sprintf(": did you mean %s?", strings.Join(names, " or "))
	}
	return fmt.Errorf("unknown command %q for %q%s (see %[2]s --help)", args[0], cmd.CommandPath(),
		hint)
}

func showHelp(cmd *cobra.Command, _ []string) error { return cmd.Help() }

// takes checks the number of a verb's arguments, which are what.
func takes(least, most int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < least || len(args) > most {
			return fmt.Errorf("%s takes %s, and %s is given (see %[1]s --help)", cmd.CommandPath(),
				what, cmp.Or(shellquote.Join(args...), "nothing"))
		}
		return nil
	}
}

var (
	noArgs    = takes(0, 0, "flags only")
	someFiles = takes(1, math.MaxInt, "files of results, such as out/run.txt")
)

// arguments accepts a picture after --map without =, which an optional value otherwise needs.
func (f *lookFlags) arguments(cmd *cobra.Command, args []string) error {
	if len(args) == 1 && f.file == inText {
		return cmd.Flags().Set("map", args[0])
	}
	return noArgs(cmd, args)
}

// written has the flags that name a file to write, of any verb or of one. Each has a function that
// reports whether a file is bench's own and may be overwritten.
var written = map[string]func(text []byte) bool{
	"out": results.Are, "ab-out": results.Are, "results": results.Are,
	"cachegrind-out": byCachegrind.Match, "map": reports.IsPicture, "layout out": reports.IsPicture,
	"import suite": bill.IsSuite, "import out": bill.IsSuite, "export out": byExport.Match,
	"history export out": func(text []byte) bool {
		return byExport.Match(text) || results.Are(text)
	},
	"machine out": func(text []byte) bool { return bytes.HasPrefix(text, []byte("name:")) },
	"report out":  func([]byte) bool { return true }, // it checks its folder or page itself
}

// byCachegrind matches --cachegrind-out of bench sim, not of a program under Valgrind.
var byCachegrind = regexp.MustCompile(`^(desc: .*\n)+cmd: \S+ sim .*--cachegrind-out`)

// byExport matches what export writes: CSV, JSON lines, and JSON for two services.
var byExport = regexp.MustCompile(`^(?s:.{0,80})(commit,date,fingerprint|\{"commit":|"Benchmark)`)

// keeps refuses empty values, as of an unset shell variable, and files that would be lost.
func keeps(cmd *cobra.Command, args []string) (err error) {
	type file struct {
		name, path string
		out        bool
	}
	var files []file
	cmd.Flags().Visit(func(f *pflag.Flag) {
		name, value := "--"+f.Name, f.Value.String()
		ours := written[strings.TrimPrefix(cmd.CommandPath(), "bench ")+" "+f.Name]
		if ours == nil {
			ours = written[f.Name]
		}
		typed, _, _ := strings.Cut(f.Shorthand+value, "=") // of -order=col, for example
		switch {
		case f.Shorthand != "" && cmd.Flags().Lookup(typed) != nil:
			err = fmt.Errorf("-%s%s: long flags have two dashes", f.Shorthand, value)
		case value == "" && f.Name != "view": // an empty --view means no view
			err = fmt.Errorf("%s: it is empty: leave the flag out, or give it a value", name)
		case ours != nil && value == "-":
			err = fmt.Errorf("%s -: it would be a file of this name, and not stdout: want another "+
				"name (./- is such a file, /dev/stdout is stdout)", name)
		case ours != nil && outfile.Foreign(value, ours):
			err = fmt.Errorf("%s: %s is there and %s does not write such files: give another "+
				"name, or remove it", name, value, cmd.CommandPath())
		case f.NoOptDefVal == "": // otherwise the value may be among the arguments
			files = append(files, file{name, value, ours != nil})
		}
	})
	for _, path := range args {
		files = append(files, file{"a file", path, false})
	}
	for i, a := range files {
		for _, b := range files[:i] {
			switch {
			case a.path == "-" && b.path == "-":
				err = fmt.Errorf("- is given twice, as %s and as %s: stdin can be read once",
					b.name, a.name)
			case (a.out || b.out) && !outfile.Distinct(a.path, b.path):
				err = fmt.Errorf("%s and %s are one file, %s, which would be lost", b.name, a.name,
					a.path)
			}
		}
	}
	return err
}
