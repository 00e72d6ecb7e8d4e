package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/pflag"

	"github.com/stridebench/stridebench/access/session"
	"github.com/stridebench/stridebench/results"
)

func (f *runFlags) addShard(flags *pflag.FlagSet) {
	f.shard = parsed[session.Shard]{parse: parseShard, kind: "i/n"}
	flags.Var(&f.shard, "shard", "run the i-th of n shares of the suite, which take about the "+
		"same time; 'bench merge' makes one file of them; auto takes i and n from a Slurm array "+
		"(SLURM_ARRAY_TASK_ID, _COUNT, _MIN) or an Indexed Job (JOB_COMPLETION_INDEX, "+
		"JOB_COMPLETIONS)")
	flags.StringArrayVar(&f.labels, "label", nil,
		"`key=value` that becomes a configuration line, such as host=node17, by which benchstat "+
			"-col host and bench report --by host compare; may be repeated")
}

func parseShard(text string) (session.Shard, error) {
	return session.ParseShard(text, os.Getenv)
}

func (f *runFlags) share(p session.Plan) (session.Plan, error) {
	seen := map[string]bool{}
	for _, text := range f.labels {
		label, err := results.ParseLabel(text)
		if err == nil && seen[label.Key] {
			err = errors.New("the key is given twice")
		}
		if err != nil {
			return p, fmt.Errorf("--label %s: %w", text, err)
		}
		seen[label.Key] = true
		p.Labels = append(p.Labels, label)
	}
	if !f.shard.set {
		return p, nil
	}
	if f.ab != "" {
		return p, errors.New("--shard does not go with --ab: both programs take their turns on " +
			"one machine")
	}
	p, err := p.Take(f.shard.value)
	return p, f.fault(err)
}
