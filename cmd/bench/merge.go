package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/stridebench/stridebench/access/session/progress"
	"github.com/stridebench/stridebench/results/merge"
)

func newMerge() *cobra.Command {
	var out, by string
	var partial bool
	cmd := &cobra.Command{
		Use:   "merge {DIR | FILE}... -o OUT",
		Short: "Make one file of the shards of a run, or of the runs of many machines",
		Args:  someFiles,
		RunE: func(cmd *cobra.Command, paths []string) error {
			if out == "" {
				return fmt.Errorf("--out is missing: the file to make (such as -o out/run.txt)")
			}
			if err := checkBy(by); err != nil {
				return err
			}
			paths, err := merge.Find(paths, out)
			if err != nil {
				return err
			}
			meter := progress.New(cmd.ErrOrStderr())
			defer meter.End()
			plan, err := merge.Read(paths, cmd.InOrStdin(), by,
				meter.Begin("reading "+counted(len(paths), "file"), len(paths)))
			meter.End()
			if err != nil {
				return err
			}
			for _, fault := range plan.Faults {
				fmt.Fprintln(cmd.ErrOrStderr(), fault)
			}
			if len(plan.Faults) > 0 && !partial {
				return fmt.Errorf("%w: %s, and nothing is written (--partial writes the rest)",
					errCheck, counted(len(plan.Faults), "fault"))
			}
			file, err := createFile("out", out)
			if err != nil {
				return err
			}
			defer file.Discard()
			// The output has about the length of the input.
			err = plan.Write(meter.Writing("writing "+counted(plan.Results, "result"),
				sizeOf(paths), file))
			meter.End()
			if err != nil {
				return err
			}
			if err := file.Commit(); err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: %s of %s, %s\n", out,
				counted(plan.Results, "result"), counted(plan.Files, "file"),
				counted(plan.Runs, "run"))
			return err
		},
	}
	cmd.Flags().StringVarP(&out, "out", "o", "", "`file` to make")
	cmd.Flags().StringVar(&by, "by", "", "`label` that distinguishes runs, such as host: each "+
		"value has its own shards")
	cmd.Flags().BoolVar(&partial, "partial", false,
		"write a file even if shards are missing, doubled or cut off; the file says so")
	return cmd
}
