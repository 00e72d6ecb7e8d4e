// Command bench shows what a memory layout costs. It times traversals and copies of strided
// tensors, and simulates the cache misses of the same accesses. It writes results that benchstat
// reads, and draws charts of them.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stridebench/stridebench/access/session/progress"
	"github.com/stridebench/stridebench/results"
)

// Exit codes.
const (
	exitCheck = 1 // a check failed
	exitUsage = 2 // bad usage or input
)

func main() {
	if err := results.CheckResources(); err != nil {
		fmt.Fprintf(os.Stderr, "bench: %v\n", err)
		os.Exit(exitUsage)
	}
	progress.Plain = os.Getenv("TERM") == "dumb"
	os.Exit(run(catchSignals(), os.Args[1:], os.Stdout, os.Stderr))
}

// run executes a command line and returns the exit code. Ctrl-C ends ctx. An error is one line on
// stderr.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := newRoot()
	if completes(args) {
		beLenient(root)
	}
	root.SetArgs(args)
	out := &output{w: stdout}
	root.SetOut(out)
	root.SetErr(stderr)
	root.InitDefaultHelpCmd() // adds the verbs help and completion
	root.InitDefaultCompletionCmd(args...)
	for _, cmd := range root.Commands() {
		// For an unknown shell, cobra's own prints help and succeeds.
		if cmd.Name() == "completion" {
			cmd.Args, cmd.RunE, cmd.ValidArgsFunction = aVerb, showHelp, nil
		}
	}
	err := oneDash(root, args)
	if err == nil {
		err = helpOfVerb(root, args)
	}
	if err == nil {
		err = root.ExecuteContext(ctx)
	}
	err = out.close(err)
	switch {
	case err == nil:
		return 0
	case out.unread(err):
		return exitPipe
	}
	fmt.Fprintf(stderr, "bench: %s\n", said(err))
	if s, ok := errors.AsType[stopSignal](err); ok {
		return s.exitCode()
	}
	if errors.Is(err, errCheck) {
		return exitCheck
	}
	return exitUsage
}

// said returns err as one line without control characters, as in the name of a file. It repeats no
// joined error: a full disk fails every write.
func said(err error) string {
	var all []string
	for line := range strings.SplitSeq(err.Error(), "\n") {
		if line = results.Printable(strings.Join(strings.Fields(line), " ")); line != "" &&
			!slices.Contains(all, line) {
			all = append(all, line)
		}
	}
	return strings.Join(all, "; ")
}

func commandLine() string {
	return quoted(append([]string{"bench"}, os.Args[1:]...)...)
}

// quoted joins a program and its arguments, quoted where a shell needs it.
func quoted(words ...string) string {
	var all []string
	for _, word := range words {
		if word == "" || strings.ContainsFunc(word, func(r rune) bool { return !plainRune(r) }) {
			word = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
		all = append(all, word)
	}
	return strings.Join(all, " ")
}

func plainRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
		strings.ContainsRune("/._-+=:,@%", r)
}

var errCheck = errors.New("check failed")

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:           "bench",
		Short:         "Show what a memory layout costs",
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          aVerb,
		RunE:          showHelp,

		PersistentPreRunE: keeps,
		Version:           results.ThisBuild().String(),
	}
	root.SetVersionTemplate("bench {{.Version}}\n")
	root.Flags().BoolP("version", "v", false, "print which program this is, and exit")
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetFlagErrorFunc(flagFault)
	root.AddCommand(newRun(), newList(), newSim(), newCC(), newAdvise(), newLayout(), newImport(),
		newReport(), newCheck(), newHistory(), newExport(), newMachine(), newMerge(), newSweep())
	root.SetHelpCommand(newHelp())
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		fmt.Fprint(cmd.OutOrStdout(), helpOf(cmd, false))
	})
	if err := addHelp(root); err != nil {
		panic(err) // no help text; the tests find this
	}
	addCompletions(root)
	beStrict(root)
	return root
}
