package main

import (
	"fmt"
	"io"
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
		Long: `report reads results of bench run, draws charts as PNG and SVG, writes a page
for the browser (index.html, all in one file) and a summary.md that show them,
and prints what was found, a sentence for each chart, and which command makes the
data of a chart that is left out for want of them.

Several files must be of one machine and geometry. What several have is drawn
as the last has it, and compared with the first: name the old one first.`,
		Example: `  bench report out/run.txt
  bench report old.txt new.txt -o out/both --theme dark
  bench report out/run.txt --history history`,
		Args: someFiles,
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
			printReport(cmd.OutOrStdout(), report, written)
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

// printReport prints what was found, what is missing, and what was written.
func printReport(out io.Writer, report reports.Report, paths []string) {
	for _, c := range report.Charts {
		fmt.Fprintf(out, "%s\n", results.Printable(c.Sentence))
	}
	for _, a := range report.Absent {
		fmt.Fprintf(out, "left out for want of data: %s (%s)\n", a.Title, a.Command)
	}
	for _, path := range paths {
		fmt.Fprintf(out, "%s\n", path)
	}
}
