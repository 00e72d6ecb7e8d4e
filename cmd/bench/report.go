package main

import (
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/stridebench/stridebench/reports"
	"github.com/stridebench/stridebench/results"
)

// noiseLimit is the spread of times (median absolute deviation over median)
// from which a warning is due.
const noiseLimit = 0.05

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
				if _, options.History, err = entries(cmd, "history", from); err != nil {
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
			return warnOfNoise(cmd, set)
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

// warnOfNoise says on stderr which times scatter, and what to do.
func warnOfNoise(cmd *cobra.Command, set *results.Set) error {
	rows, err := set.Rows()
	if err != nil {
		return err
	}
	noisy := results.Noisy(rows, noiseLimit)
	if len(noisy) == 0 {
		return nil
	}
	timed := 0
	for _, r := range rows {
		if r.Stats["sec/op"].N > 0 {
			timed++
		}
	}
	worst := noisy[0]
	for _, r := range noisy {
		if r.Stats["sec/op"].Spread > worst.Stats["sec/op"].Spread {
			worst = r
		}
	}
	_, err = fmt.Fprintf(cmd.ErrOrStderr(), "note: the times of %d of %d benchmarks scatter by more than %.0f%% about their median, most in %s (%.0f%%): run again with less else on the machine, or with a larger --count\n",
		len(noisy), timed, noiseLimit*100, worst.Name, worst.Stats["sec/op"].Spread*100)
	return err
}
