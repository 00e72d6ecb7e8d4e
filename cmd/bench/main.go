// Command bench shows what a memory layout costs. It times traversals and copies of strided
// tensors, and simulates the cache misses of the same accesses. It writes results that benchstat
// reads, and draws charts of them.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kballard/go-shellquote"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stridebench/stridebench/access/session/node"
	"github.com/stridebench/stridebench/access/session/progress"
	"github.com/stridebench/stridebench/results/show"
)

// Exit codes.
const (
	exitCheck = 1 // a check failed
	exitUsage = 2 // bad usage or input
)

func main() {
	if err := node.CheckResources(); err != nil {
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
	root.SetArgs(args)
	out := &output{w: stdout, terminal: progress.Terminal(stdout)}
	root.SetOut(out)
	root.SetErr(stderr)
	cmd, err := root.ExecuteContextC(ctx)
	err = out.close(err)
	progress.Clear()
	switch {
	case err == nil:
		return 0
	case out.unread(err):
		return exitPipe
	}
	fmt.Fprintf(stderr, "bench: %s\n", said(cmd.Flags(), err))
	if s, ok := errors.AsType[stopSignal](err); ok {
		return s.exitCode()
	}
	if errors.Is(err, errCheck) {
		return exitCheck
	}
	return exitUsage
}

// said returns err as one line without control characters, as in the name of a file. It names the
// flag of a file or folder at fault, and repeats no joined error: a full disk fails every write.
func said(flags *pflag.FlagSet, err error) string {
	text := err.Error()
	fault, failed := errors.AsType[*fs.PathError](err)
	flags.Visit(func(f *pflag.Flag) {
		name, value := "--"+f.Name, f.Value.String()
		what, _ := pflag.UnquoteUsage(f)
		switch {
		case what != "file" && what != "folder" || strings.Contains(text, name):
		case failed && begins(filepath.Clean(fault.Path), filepath.Clean(value)):
			text = strings.ReplaceAll(text, fault.Error(), name+": "+fault.Error())
		case begins(text, value):
			text = name + ": " + text
		}
	})
	var all []string
	for line := range strings.Lines(text) {
		line = show.Printable(strings.Join(strings.Fields(line), " "))
		if line != "" && !slices.Contains(all, line) {
			all = append(all, line)
		}
	}
	return strings.Join(all, "; ")
}

// begins reports whether a text begins with a path, perhaps of a folder.
func begins(text, path string) bool {
	rest, is := strings.CutPrefix(text, path)
	return is && (rest == "" || strings.Contains("/: ", rest[:1]))
}

func commandLine() string {
	return shellquote.Join(append([]string{"bench"}, os.Args[1:]...)...)
}

var errCheck = errors.New("check failed")

// version is printed where the build has no version of its module and no stamp of a commit.
const version = "1.0.0"

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:           "bench",
		Short:         "Show what a memory layout costs",
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          aVerb,
		RunE:          showHelp,

		PersistentPreRunE: keeps,
		Version:           strings.Replace(node.ThisBuild().String(), "(devel)", version, 1),
	}
	root.SetVersionTemplate("bench {{.Version}}\n")
	root.CompletionOptions.HiddenDefaultCmd = true
	root.CompletionOptions.SetDefaultShellCompDirective(cobra.ShellCompDirectiveNoFileComp)
	root.SetFlagErrorFunc(flagFault)
	root.AddCommand(newRun(), newList(), newSim(), newCC(), newAdvise(), newLayout(), newImport(),
		newReport(), newCheck(), newHistory(), newExport(), newMachine(), newMerge(), newSweep())
	root.SetHelpFunc(func(cmd *cobra.Command, line []string) {
		writeHelp(cmd, len(line) == 0) // of the verb help; cobra gives --help the command line
	})
	addHelp(root)
	refuseTopics(root)
	addCompletions(root)
	return root
}
