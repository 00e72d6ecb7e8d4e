package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// A call is what a verb is given besides its context and its arguments.
type call struct {
	in       io.Reader
	out, err io.Writer
	given    func(flag string) bool // whether a flag was
}

func callOf(cmd *cobra.Command) call {
	return call{cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr(), cmd.Flags().Changed}
}

// noArgs is for commands that take flags only.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%q is not expected: %s takes flags only (see %s --help)", args[0], cmd.CommandPath(), cmd.CommandPath())
	}
	return nil
}

// someFiles is for commands that take one file or more.
func someFiles(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("no file: %s wants one or more files of results (such as %[1]s out/run.txt)", cmd.CommandPath())
	}
	return nil
}

// oneNew is for bench check.
func oneNew(_ *cobra.Command, args []string) error {
	if len(args) > 1 {
		return fmt.Errorf("%d files (%s): bench check takes one, the new results; what they are compared with goes with --baseline", len(args), strings.Join(args, " "))
	}
	return nil
}

// oneName is for bench history show.
func oneName(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("%d names: %s wants one, of a benchmark (bench list prints them)", len(args), cmd.CommandPath())
	}
	return nil
}
