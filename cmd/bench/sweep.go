package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/stridebench/stridebench/access/session/node"
	"github.com/stridebench/stridebench/access/sweep"
	"github.com/stridebench/stridebench/results"
)

func newSweep() *cobra.Command {
	var out string
	shard := parsed[node.Shard]{value: node.Shard{Index: 1, Of: 1}}
	cmd := verb("sweep FILE.yaml -o OUT",
		"Simulate every combination of shapes, dtypes, orders, tiles and caches, resumably",
		takes(1, 1, "one YAML file of combinations, such as bench sweep sweep.yaml -o "+
			"out/sweep.txt (docs/fleet.md has one)"),
		func(c call, args []string) error {
			if out == "" {
				return errors.New("--out is missing: the file for the results (such as -o " +
					"out/sweep.txt)")
			}
			text, err := readOnce(args[0])
			if err != nil {
				return err
			}
			space, err := sweep.Parse(args[0], text)
			if err != nil {
				return err
			}
			program, known, all := thisProgram(), 0, 0
			options := sweep.Options{Index: shard.value.Index, Of: shard.value.Of,
				Comments: []results.Pair{{Key: "version", Value: program.Version},
					{Key: "commit", Value: program.Commit},
					{Key: "command", Value: program.Command}},
				Start: func(points, done int) {
					known, all = done, points
					c.meter.Phase("simulating "+counted(points-done, "combination"), points-done)
				},
				Step: func() { c.meter.Step(1) }}
			defer watch(c.ctx, "this simulation")()
			simulated, err := space.Run(c.ctx, out, options)
			if err != nil && c.ctx.Err() != nil {
				return stopped(c.ctx, fmt.Sprintf("%s keeps %d of %s: the same command continues",
					sweep.RecordName(out), known+simulated, counted(all, "combination")))
			}
			if shards, ok := errors.AsType[*sweep.ShardError](err); ok {
				return fmt.Errorf("--%w", shards) // the error begins with the flag's name
			}
			if err != nil {
				return fmt.Errorf("--out %s: %w", out, err)
			}
			_, err = fmt.Fprintf(c.out, "%s: %s, %d of them from its record\n", out,
				counted(simulated+known, "simulation"), known)
			return err
		})
	cmd.Flags().StringVarP(&out, "out", "o", "", "")
	shard.add(cmd.Flags(), "shard", "i/n", parseShard)
	return cmd
}
