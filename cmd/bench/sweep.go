package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/stridebench/stridebench/access/session"
	"github.com/stridebench/stridebench/access/session/progress"
	"github.com/stridebench/stridebench/access/sweep"
	"github.com/stridebench/stridebench/results"
)

func spaceOf(c call, path string) (*sweep.Space, error) {
	if path == "-" {
		return sweep.Read(path, c.in)
	}
	return sweep.ReadFile(path)
}

func newSweep() *cobra.Command {
	var out string
	shard := parsed[session.Shard]{parse: parseShard, kind: "i/n",
		value: session.Shard{Index: 1, Of: 1}}
	cmd := &cobra.Command{
		Use:   "sweep FILE.yaml -o OUT",
		Short: "Simulate every combination of shapes, dtypes, orders, tiles and caches, resumably",
		Args:  oneSpace,
		RunE: func(cmd *cobra.Command, args []string) error {
			if out == "" {
				return errors.New("--out is missing: the file for the results (such as -o " +
					"out/sweep.txt)")
			}
			space, err := spaceOf(callOf(cmd), args[0])
			if err != nil {
				return fmt.Errorf("%w%s", err, kindHint(args[0]))
			}
			c, program := callOf(cmd), thisProgram()
			meter := progress.New(c.err)
			defer meter.End()
			known, all := 0, 0
			options := sweep.Options{Index: shard.value.Index, Of: shard.value.Of,
				Comments: []results.Pair{{Key: "version", Value: program.Version},
					{Key: "commit", Value: program.Commit},
					{Key: "command", Value: program.Command}},
				Start: func(points, done int) {
					known, all = done, points
					meter.Phase("simulating "+counted(points-done, "combination"), points-done)
				},
				Step: func() { meter.Step(1) }}
			ctx := cmd.Context()
			defer watch(ctx, "this simulation")()
			keeping(ctx, sweep.RecordName(out)+" keeps the finished ones: the same command "+
				"continues")
			simulated, err := space.Run(ctx, out, options)
			meter.End()
			if err != nil && ctx.Err() != nil {
				return stopped(ctx, fmt.Sprintf("%s keeps %d of %s: the same command continues",
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
		},
	}
	cmd.Flags().StringVarP(&out, "out", "o", "",
		"`file` for the results; until it is complete, OUT.part keeps the finished ones, and the "+
			"same command continues")
	cmd.Flags().Var(&shard, "shard", "simulate the i-th of n shares, from which 'bench merge' "+
		"makes one file; auto takes i and n from the environment, as run does")
	return cmd
}
