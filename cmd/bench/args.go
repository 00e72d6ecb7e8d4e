package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stridebench/stridebench/access/bill"
	"github.com/stridebench/stridebench/reports"
	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/results/outfile"
)

type call struct {
	in       io.Reader
	out, err io.Writer
	given    func(flag string) bool // reports whether the flag was given
	ctx      context.Context
}

func callOf(cmd *cobra.Command) call {
	return call{cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr(), cmd.Flags().Changed,
		cmd.Context()}
}

// note and warn never fail a command. A note informs, a warning asks for action.
func (c call) note(format string, args ...any) { fmt.Fprintf(c.err, "note: "+format+"\n", args...) }
func (c call) warn(format string, args ...any) {
	fmt.Fprintf(c.err,
		"warning: "+format+"\n", args...)
}

func beStrict(cmd *cobra.Command) {
	each := func(f *pflag.Flag) {
		_, is := f.Value.(*strict)
		_, list := f.Value.(pflag.SliceValue)
		_, several := f.Value.(interface{ several() })
		if takesValue := f.NoOptDefVal == ""; takesValue && !is && !list {
			f.Value = &strict{Value: f.Value, name: f.Name, repeats: several}
		}
	}
	cmd.Flags().VisitAll(each)
	cmd.PersistentFlags().VisitAll(each)
	for _, verb := range cmd.Commands() {
		beStrict(verb)
	}
}

// aVerb refuses arguments of a command that only has verbs.
func aVerb(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	similar := verbHint(cmd, args[0])
	cmd.SuggestionsMinimumDistance = 2
	if names := cmd.SuggestionsFor(args[0]); args[0] != "" && similar == "" && len(names) > 0 {
		similar = fmt.Sprintf(": did you mean %s?", strings.Join(names, " or "))
	}
	return fmt.Errorf("unknown command %q for %q%s (see %s --help)", args[0], cmd.CommandPath(),
		similar, cmd.CommandPath())
}

// helpOfVerb refuses --help of an unknown verb. Cobra acts on --help before it checks arguments.
func helpOfVerb(root *cobra.Command, args []string) error {
	cmd, rest, err := root.Find(args)
	help := func(arg string) bool { return arg == "--help" || arg == "-h" }
	if err != nil || !cmd.HasSubCommands() || len(rest) == 0 || strings.HasPrefix(rest[0], "-") ||
		!slices.ContainsFunc(rest, help) {
		return nil // ExecuteContext reports err
	}
	return aVerb(cmd, rest)
}

func showHelp(cmd *cobra.Command, _ []string) error { return cmd.Help() }

// outputs are the flags that name a file to write. The --suite of import is another.
var outputs = []string{"out", "ab-out", "cachegrind-out", "results", "map"}

func isOutput(cmd *cobra.Command, flag string) bool {
	return slices.Contains(outputs, flag) || cmd.Name() == "import" && flag == "suite"
}

func keeps(cmd *cobra.Command, args []string) error {
	if err := keepsDash(cmd); err != nil {
		return err
	}
	if err := readsOnce(cmd, args); err != nil {
		return err
	}
	if err := keepsInputs(cmd, args); err != nil {
		return err
	}
	if err := keepsBoth(cmd); err != nil {
		return err
	}
	return keepsOthers(cmd)
}

// keepsDash refuses - as an output, since most programs would read such a file as stdin.
func keepsDash(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(out *pflag.Flag) {
		if isOutput(cmd, out.Name) && out.Value.String() == "-" {
			err = fmt.Errorf("--%s -: it would be a file of this name, and not stdout: want "+
				"another name (./- is such a file, /dev/stdout is stdout)", out.Name)
		}
	})
	return err
}

// inputs are the flags that name a file to read, or stdin as -.
var inputs = []string{"baseline", "suite", "caches", "config", "program", "trace", "matrix"}

func readsOnce(cmd *cobra.Command, args []string) error {
	var all []string
	cmd.Flags().Visit(func(in *pflag.Flag) {
		if slices.Contains(inputs, in.Name) && !isOutput(cmd, in.Name) && in.Value.String() == "-" {
			all = append(all, "--"+in.Name)
		}
	})
	for _, arg := range args {
		if arg == "-" {
			all = append(all, "a file")
		}
	}
	if len(all) > 1 {
		return fmt.Errorf("- is given twice, as %s and as %s: stdin can be read once",
			all[0], all[1])
	}
	return nil
}

func keepsBoth(cmd *cobra.Command) (err error) {
	var before []*pflag.Flag
	cmd.Flags().Visit(func(out *pflag.Flag) {
		if !isOutput(cmd, out.Name) {
			return
		}
		for _, other := range before {
			if !outfile.Distinct(other.Value.String(), out.Value.String()) {
				err = fmt.Errorf("--%s and --%s: both are written to %s: give each a file of "+
					"its own", other.Name, out.Name, out.Value)
			}
		}
		before = append(before, out)
	})
	return err
}

func keepsOthers(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(out *pflag.Flag) {
		path := out.Value.String()
		if isOutput(cmd, out.Name) && outfile.Foreign(path, oursOf(cmd, out.Name)) {
			err = fmt.Errorf("--%s: %s is there and %s does not write such files: give another "+
				"name, or remove it", out.Name, path, cmd.CommandPath())
		}
	})
	return err
}

// oursByCachegrind matches --cachegrind-out of bench sim, not of a program under Valgrind.
var oursByCachegrind = regexp.MustCompile(`^(desc: .*\n)+cmd: \S+ sim .*--cachegrind-out`)

// oursOf returns a function that reports whether a file is bench's own and may be overwritten.
func oursOf(cmd *cobra.Command, flag string) func(text []byte) bool {
	switch verb := cmd.Name(); {
	case flag == "cachegrind-out":
		return oursByCachegrind.Match
	case verb == "layout" || flag == "map":
		return reports.IsPicture
	case verb == "import":
		return bill.IsSuite
	case verb == "report": // the report checks its folder or page itself
		return func([]byte) bool { return true }
	case verb == "machine" && flag == "out":
		return func(text []byte) bool { return bytes.HasPrefix(text, []byte("name:")) }
	case verb == "export" && cmd.Parent() == cmd.Root():
		return exported
	case verb == "export": // of a history, whose entries are results
		return func(text []byte) bool { return exported(text) || results.Are(text) }
	}
	return results.Are
}

func exported(text []byte) bool {
	head := text[:min(len(text), 100)]
	return slices.ContainsFunc([]string{"commit,date,fingerprint", `{"commit":`, `"Benchmark`},
		func(s string) bool {
			return bytes.Contains(head, []byte(s))
		})
}

func keepsInputs(cmd *cobra.Command, args []string) (err error) {
	cmd.Flags().Visit(func(out *pflag.Flag) {
		file, statErr := os.Stat(out.Value.String())
		if !isOutput(cmd, out.Name) || statErr != nil || !file.Mode().IsRegular() {
			return
		}
		check := func(path, what string) {
			if other, e := os.Stat(path); e == nil && os.SameFile(file, other) {
				err = fmt.Errorf("--%s %s: it is %s, which would be lost", out.Name,
					out.Value, what)
			}
		}
		for _, path := range args {
			if out.NoOptDefVal == "" { // otherwise the argument is this flag's value
				check(path, "a file that is read")
			}
		}
		cmd.Flags().Visit(func(in *pflag.Flag) {
			if !isOutput(cmd, in.Name) {
				check(in.Value.String(), "the file of --"+in.Name)
			}
		})
	})
	return err
}

func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%q is not expected: %s takes flags only%s (see %[2]s --help)", args[0],
			cmd.CommandPath(), argHint(cmd, args[0]))
	}
	return nil
}

// arguments accepts a picture after --map without =, which an optional value otherwise needs.
func (f *lookFlags) arguments(cmd *cobra.Command, args []string) error {
	if len(args) == 1 && f.file == inText && reports.CheckPicture(args[0]) == nil {
		return cmd.Flags().Set("map", args[0])
	}
	return noArgs(cmd, args)
}

func oneExpression(cmd *cobra.Command, args []string) error {
	const example = "'torch.zeros(3, 4).t()'"
	switch {
	case len(args) == 0:
		return nil
	case len(args) > 1 && strings.Contains(args[0], "("):
		return fmt.Errorf("%d arguments: put one expression in quotes, such as %s %s",
			len(args), cmd.CommandPath(), example)
	case !strings.Contains(args[0], "("):
		return fmt.Errorf("%q is not an expression, such as %s%s (see %s --help)",
			args[0], example, argHint(cmd, args[0]), cmd.CommandPath())
	}
	return nil
}

func someFiles(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("no file: %s wants one or more files of results (such as %[1]s "+
			"out/run.txt)", cmd.CommandPath())
	}
	return nil
}

func oneSpace(_ *cobra.Command, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("%d files: bench sweep wants one, a YAML file of combinations (such as "+
			"bench sweep sweep.yaml -o out/sweep.txt, docs/fleet.md has one)", len(args))
	}
	return nil
}

func oneNew(_ *cobra.Command, args []string) error {
	if len(args) > 1 {
		return fmt.Errorf("%d files (%s): bench check takes one, the new results; --baseline "+
			"names the old ones", len(args), strings.Join(args, " "))
	}
	return nil
}

func oneName(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("%d names: %s wants one, of a benchmark (bench list prints them)",
			len(args), cmd.CommandPath())
	}
	return nil
}
