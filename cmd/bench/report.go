package main

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/stridebench/stridebench/reports"
	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/results/noise"
)

func newReport() *cobra.Command {
	var dir, from string
	theme := oneOf("theme", reports.Light, reports.Dark)
	cmd := &cobra.Command{
		Use:   "report FILE...",
		Short: "Draw charts of results and say in words what was found",
		Args:  someFiles,
		RunE: func(cmd *cobra.Command, paths []string) error {
			set, err := results.Read(paths...)
			if err != nil {
				return err
			}
			options := reports.Options{Command: commandLine()}
			if theme.set {
				options.Theme = theme.value // else the page follows its reader
			}
			if from != "" {
				if _, options.History, err = entries(cmd.ErrOrStderr(), "history", from); err != nil {
					return err
				}
			}
			report, err := reports.Make(set, options)
			if err != nil {
				return err
			}
			written, err := report.Write(dir)
			if err != nil {
				return fmt.Errorf("--out: %w", err)
			}
			report.WriteFindings(cmd.OutOrStdout())
			for _, path := range written {
				fmt.Fprintln(cmd.OutOrStdout(), path)
			}
			rows, err := set.Rows()
			if err != nil {
				return err
			}
			if note := noise.Scattered(rows); note != "" {
				_, err = fmt.Fprintf(cmd.ErrOrStderr(), "note: %s\n", note)
			}
			return err
		},
	}
	cmd.Flags().StringVarP(&dir, "out", "o", filepath.Join("out", "report"), "folder for the page, the charts and summary.md")
	cmd.Flags().Var(&theme, "theme", "light or dark; the page is as its reader's system unless this is given")
	cmd.Flags().StringVar(&from, "history", "", "`folder` of a history (bench history add) to draw the trend of")
	return cmd
}
