package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/stridebench/stridebench/access/session/progress"
	"github.com/stridebench/stridebench/results/merge"
)

func newMerge() *cobra.Command {
	var out string
	var by parsed[string]
	var partial bool
	cmd := verb("merge {DIR | FILE}... -o OUT",
		"Make one file of the shards of a run, or of the runs of many machines", someFiles,
		func(c call, paths []string) error {
			if out == "" {
				return errors.New("--out is missing: the file to make (such as -o out/run.txt)")
			}
			paths, err := merge.Find(paths, out)
			if err != nil {
				return err
			}
			plan, err := merge.Read(paths, c.in, by.value,
				c.meter.Begin("reading "+counted(len(paths), "file"), len(paths)))
			if err != nil {
				return err
			}
			for _, fault := range plan.Faults {
				c.warn("%s", fault)
			}
			if len(plan.Faults) > 0 && !partial {
				return fmt.Errorf("%w: %s, and nothing is written (--partial writes the rest)",
					errCheck, counted(len(plan.Faults), "fault"))
			}
			file, err := createFile(out)
			if err != nil {
				return err
			}
			defer file.Discard()
			// The output has about the length of the input.
			err = plan.Write(c.meter.Writing("writing "+counted(plan.Results, "result"),
				progress.SizeOf(paths...), file))
			if err == nil {
				err = file.Commit()
			}
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(c.out, "%s: %s of %s, %s\n", out, counted(plan.Results, "result"),
				counted(plan.Files, "file"), counted(plan.Runs, "run"))
			return err
		})
	cmd.Flags().StringVarP(&out, "out", "o", "", "")
	by.add(cmd.Flags(), "by", "label", parseBy)
	cmd.Flags().BoolVar(&partial, "partial", false, "")
	return cmd
}
