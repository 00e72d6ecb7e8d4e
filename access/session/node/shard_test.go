package node

import (
	"strings"
	"testing"
)

func TestShardOf(t *testing.T) {
	for _, c := range []struct{ environment, want string }{
		{"SLURM_ARRAY_TASK_ID=3 SLURM_ARRAY_TASK_COUNT=8 SLURM_ARRAY_TASK_MIN=1 " +
			"SLURM_ARRAY_TASK_MAX=8 SLURM_ARRAY_TASK_STEP=1", "3/8"},
		{"SLURM_ARRAY_TASK_ID=0 SLURM_ARRAY_TASK_COUNT=8 SLURM_ARRAY_TASK_MIN=0 " +
			"SLURM_ARRAY_TASK_MAX=7", "1/8"},
		{"SLURM_ARRAY_TASK_ID=7 SLURM_ARRAY_TASK_COUNT=3 SLURM_ARRAY_TASK_MIN=1 " +
			"SLURM_ARRAY_TASK_MAX=7 SLURM_ARRAY_TASK_STEP=3", "3/3"},
		{"SLURM_ARRAY_TASK_ID=7 SLURM_ARRAY_TASK_COUNT=2 SLURM_ARRAY_TASK_MIN=3 " +
			"SLURM_ARRAY_TASK_MAX=7", "the Slurm array has 2 tasks from 3 to 7"},
		{"SLURM_ARRAY_TASK_ID=1 SLURM_ARRAY_TASK_COUNT=3", "SLURM_ARRAY_TASK_MIN is not set"},
		{"JOB_COMPLETION_INDEX=4 JOB_COMPLETIONS=5", "5/5"},
		{"JOB_COMPLETION_INDEX=5 JOB_COMPLETIONS=5", `"6/5": want i/n`},
		{"JOB_COMPLETION_INDEX=x JOB_COMPLETIONS=5", `JOB_COMPLETION_INDEX="x": want a number`},
		{"JOB_COMPLETION_INDEX=4", "no array is known here: want SLURM_ARRAY_TASK_ID"},
	} {
		environment := map[string]string{}
		for field := range strings.FieldsSeq(c.environment) {
			key, value, _ := strings.Cut(field, "=")
			environment[key] = value
		}
		s, err := ParseShard("auto", func(key string) string { return environment[key] })
		got := s.String()
		if err != nil {
			got = err.Error()
		}
		if !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %s, want %s", c.environment, got, c.want)
		}
	}
	for _, wrong := range []string{"", "3", "0/3", "4/3", "-1/3", "1/9999999", "a/b"} {
		if s, err := ParseShard(wrong, nil); err == nil {
			t.Errorf("%q is the shard %v", wrong, s)
		}
	}
}
