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
	words := []string{"bench"}
	for _, arg := range os.Args[1:] {
		if arg == "" || strings.ContainsFunc(arg, func(r rune) bool { return !plainRune(r) }) {
			arg = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
		}
		words = append(words, arg)
	}
	return strings.Join(words, " ")
}

// plainRune tells what a shell takes as it stands.
func plainRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+=:,@%", r)
}

// errCheck marks that a check said no.
var errCheck = errors.New("check failed")

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "bench",
		Short: "Show what a memory layout costs",
		Long: `bench times traversals and copies of strided tensors in chosen orders,
simulates the cache misses of the very same accesses as Cachegrind would count
them, and writes results that benchstat reads, and charts.

Exit codes: 0 fine, 1 a check said no, 2 bad usage or input, 128 and the
number of the signal (130 at Ctrl-C) interrupted.`,
		Example: `  bench run --quick -o out/run.txt
  bench report out/run.txt
  bench sim --shape 4000x4000 --dtype int32 --order col
  bench run --shape 4000x4000 --dtype int32 --order row --order col
  bench --version`,
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
	return root
}
