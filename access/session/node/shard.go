package node

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// A Shard is the Index-th, from 1, of Of shares of a run. The zero value is the whole run.
type Shard struct{ Index, Of int }

// String returns the shard as ParseShard reads it.
func (s Shard) String() string { return fmt.Sprintf("%d/%d", s.Index, s.Of) }

const maxShards = 1 << 20

// ParseShard reads "2/8", the second of eight, or "auto", an array task's shard by its environment.
// Slurm sets SLURM_ARRAY_TASK_ID, _COUNT, _MIN, _MAX and _STEP. Kubernetes' Indexed Jobs set
// JOB_COMPLETION_INDEX; their manifest must set JOB_COMPLETIONS.
func ParseShard(text string, getenv func(string) string) (Shard, error) {
	if text == "auto" {
		return arrayTask(getenv)
	}
	index, of, ok := strings.Cut(text, "/")
	i, err1 := strconv.Atoi(index)
	n, err2 := strconv.Atoi(of)
	if !ok || err1 != nil || err2 != nil || i < 1 || i > n || n > maxShards {
		return Shard{}, fmt.Errorf("%q: want i/n, from 1/n to n/n, such as 2/8, or auto", text)
	}
	return Shard{i, n}, nil
}

func arrayTask(getenv func(string) string) (Shard, error) {
	numbers := map[string]int{}
	for _, name := range []string{"SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT",
		"SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_MAX", "SLURM_ARRAY_TASK_STEP",
		"JOB_COMPLETION_INDEX", "JOB_COMPLETIONS"} {
		text := getenv(name)
		if text == "" {
			continue
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 || n > 1<<30 {
			return Shard{}, fmt.Errorf("%s=%q: want a number", name, text)
		}
		numbers[name] = n
	}
	has := func(name string) bool { _, ok := numbers[name]; return ok }
	var s Shard
	switch {
	case has("SLURM_ARRAY_TASK_ID") && has("SLURM_ARRAY_TASK_COUNT") &&
		!has("SLURM_ARRAY_TASK_MIN"):
		// as in a container that gets only some
		return s, errors.New("SLURM_ARRAY_TASK_MIN is not set, without which no one knows " +
			"whether the array begins at 0 or 1: pass it on, too, or give i/n")
	case has("SLURM_ARRAY_TASK_ID") && has("SLURM_ARRAY_TASK_COUNT"):
		least, step := numbers["SLURM_ARRAY_TASK_MIN"], max(1, numbers["SLURM_ARRAY_TASK_STEP"])
		s = Shard{(numbers["SLURM_ARRAY_TASK_ID"]-least)/step + 1,
			numbers["SLURM_ARRAY_TASK_COUNT"]}
		if most := numbers["SLURM_ARRAY_TASK_MAX"]; has("SLURM_ARRAY_TASK_MAX") &&
			(most-least)/step+1 != s.Of {
			return s, fmt.Errorf("the Slurm array has %d tasks from %d to %d: shards want an "+
				"array without gaps, such as --array=1-%[1]d, or i/n", s.Of, least, most)
		}
	case has("JOB_COMPLETION_INDEX") && has("JOB_COMPLETIONS"):
		s = Shard{numbers["JOB_COMPLETION_INDEX"] + 1, numbers["JOB_COMPLETIONS"]}
	default:
		return s, errors.New("no array is known here: want SLURM_ARRAY_TASK_ID and " +
			"SLURM_ARRAY_TASK_COUNT, or JOB_COMPLETION_INDEX and JOB_COMPLETIONS, in the " +
			"environment, or i/n")
	}
	return ParseShard(s.String(), nil)
}
