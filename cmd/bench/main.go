// Command bench shows what a memory layout costs: it times traversals and
// copies of strided tensors, simulates the cache misses of the same accesses,
// and writes results that benchstat reads and charts.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stridebench/stridebench/access/session"
	"github.com/stridebench/stridebench/results"
)

// Exit codes.
const (
	exitCheck = 1 // a check said no
	exitUsage = 2 // bad usage or input
)

func main() {
	if err := results.CheckResources(); err != nil {
		fmt.Fprintf(os.Stderr, "bench: %v\n", err)
		os.Exit(exitUsage)
	}
	os.Exit(run(catchSignals(), os.Args[1:], os.Stdout, os.Stderr))
}

// run executes a command line in a context that Ctrl-C ends, closes stdout, and returns the exit code. An error
// is one line on stderr.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	out := &output{w: stdout}
	root.SetOut(out)
	root.SetErr(stderr)
	err := out.close(root.ExecuteContext(ctx))
	switch {
	case err == nil:
		return 0
	case out.unread(err):
		return exitPipe
	}
	fmt.Fprintf(stderr, "bench: %s\n", strings.Join(strings.Fields(err.Error()), " "))
	if s, ok := errors.AsType[stopSignal](err); ok {
		return s.exitCode()
	}
	if errors.Is(err, errCheck) {
		return exitCheck
	}
	return exitUsage
}

// commandLine is the command as it was typed, for who wants to run it again.
func commandLine() string {
	return session.CommandLine(append([]string{"bench"}, os.Args[1:]...))
}

// errCheck marks that a check said no.
var errCheck = errors.New("check failed")

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:                "bench",
		Short:              "Show what a memory layout costs",
		SilenceUsage:       true,
		SilenceErrors:      true,
		DisableSuggestions: true,
		Version:            results.ThisBuild().String(),
	}
	root.SetVersionTemplate("bench {{.Version}}\n")
	root.Flags().BoolP("version", "v", false, "print which program this is, and exit")
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return fmt.Errorf("%w (see %s --help)", err, cmd.CommandPath())
	})
	root.AddCommand(newRun(), newList(), newSim(), newAdvise(), newLayout(), newReport(), newCheck(), newHistory(), newExport(), newMachine())
	if err := addHelp(root); err != nil {
		panic(err) // a verb without a text, of which no program is built that passes its tests
	}
	return root
}
