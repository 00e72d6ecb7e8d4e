package main

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/stridebench/stridebench/reports"
	"github.com/stridebench/stridebench/results"
)

// noiseLimit is the spread of times (median absolute deviation over median)
// from which a warning is due.
const noiseLimit = 0.05

func newReport() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "report FILE...",
		Short: "Draw charts of results and say in words what was found",
		Long: `report reads results of bench run (several files of one machine and geometry
are pooled), draws charts as PNG and a summary.md that shows them, and prints
what was found, a sentence for each chart.`,
		Example: `  bench report out/run.txt
  bench report out/run1.txt out/run2.txt -o out/both`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, paths []string) error {
			set, err := results.Read(paths...)
			if err != nil {
				return err
			}
			charts, err := reports.Write(dir, set)
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			for _, c := range charts {
				fmt.Fprintf(out, "%s\n", c.Sentence)
			}
			for _, c := range charts {
				fmt.Fprintf(out, "%s\n", filepath.Join(dir, c.File))
			}
			fmt.Fprintf(out, "%s\n", filepath.Join(dir, "summary.md"))
			return warnOfNoise(cmd, set)
		},
	}
	cmd.Flags().StringVarP(&dir, "out", "o", filepath.Join("out", "report"), "folder for the charts and summary.md")
	return cmd
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
	worst := noisy[0]
	for _, r := range noisy {
		if r.Stats["sec/op"].Spread > worst.Stats["sec/op"].Spread {
			worst = r
		}
	}
	_, err = fmt.Fprintf(cmd.ErrOrStderr(), "note: the times of %d of %d benchmarks scatter by more than %.0f%% about their median, most in %s (%.0f%%): run again with less else on the machine, or with a larger --count\n",
		len(noisy), len(rows), noiseLimit*100, worst.Name, worst.Stats["sec/op"].Spread*100)
	return err
}
