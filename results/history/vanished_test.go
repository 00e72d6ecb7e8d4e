package history

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSweptVanished: caches that left a sweep have vanished, by name or without one, and another
// sweep takes nothing of the first one's place.
func TestSweptVanished(t *testing.T) {
	const named = "sim-caches: a=1024,2,64+8192,4,64 b=2048,2,64+8192,4,64\n"
	line := func(shape, caches string) string {
		return fmt.Sprintf("BenchmarkX/shape=%s/caches=%s 1 5 D1-misses/op\n", shape, caches)
	}
	for _, c := range []struct {
		first, then string
		want        []string
	}{
		{named + line("8x8", "a") + line("8x8", "b"),
			"sim-caches: a=1024,2,64+8192,4,64\n" + line("8x8", "a"),
			[]string{"BenchmarkX/shape=8x8/caches=b"}},
		{line("8x8", "1K+8K") + line("8x8", "2K+8K"), line("8x8", "1K+8K"),
			[]string{"BenchmarkX/shape=8x8/caches=2K+8K"}},
		{line("8x8", "1K+8K") + line("8x8", "2K+8K"), line("9x9", "1K+8K"), nil},
		{named + line("8x8", "a") + line("8x8", "b"), line("9x9", "1K+8K"), nil},
		// other caches of the name
		{named + line("8x8", "a") + line("8x8", "b"),
			"sim-caches: a=4096,2,64+8192,4,64 b=2048,2,64+8192,4,64\n" + line("8x8", "a") + line("8x8",
				"b"), nil},
	} {
		s := Open(t.TempDir())
		for i, text := range []string{c.first, c.then} {
			add(t, s, fmt.Appendf(nil, "# commit: abc%d\n# date: 2026-01-0%dT00:00:00Z\n%s", i, i+1, text))
		}
		entries, _ := read(t, s, 2, 0)
		var got []string
		for _, g := range vanished(entries) {
			got = append(got, g.Name)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s then %s: %s", c.first, c.then, diff)
		}
	}
}
