package node

import "testing"

// FuzzParseShard: a shard is written as it is read, and is one of those that there are.
func FuzzParseShard(f *testing.F) {
	for _, text := range []string{"1/1", "2/8", "0/3", "4/3", "1/2/3", "-1/2", "1/99999999",
		"a/b", ""} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseShard(text, func(string) string { return "" })
		if err != nil {
			return
		}
		if again, err := ParseShard(s.String(), nil); err != nil || again != s || s.Index < 1 ||
			s.Index > s.Of {
			t.Errorf("%q is %+v, which is read as %+v, %v", text, s, again, err)
		}
	})
}

// FuzzShardOf: whatever a scheduler sets, a shard is one of those that there are, or the whole.
func FuzzShardOf(f *testing.F) {
	f.Add("3", "8", "1", "8", "1", "", "")
	f.Add("10", "2", "0", "10", "10", "", "")
	f.Add("", "", "", "", "", "2", "5")
	f.Add("7", "x", "9", "3", "-1", "0", "0")
	f.Fuzz(func(t *testing.T, id, count, least, most, step, index, completions string) {
		env := map[string]string{"SLURM_ARRAY_TASK_ID": id, "SLURM_ARRAY_TASK_COUNT": count,
			"SLURM_ARRAY_TASK_MIN": least, "SLURM_ARRAY_TASK_MAX": most,
			"SLURM_ARRAY_TASK_STEP": step, "JOB_COMPLETION_INDEX": index,
			"JOB_COMPLETIONS": completions}
		s, err := ParseShard("auto", func(name string) string { return env[name] })
		if err == nil && s != (Shard{}) && (s.Index < 1 || s.Index > s.Of || s.Of > maxShards) {
			t.Errorf("%v is shard %+v", env, s)
		}
	})
}
