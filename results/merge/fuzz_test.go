package merge

import (
	"bytes"
	"testing"

	"github.com/stridebench/stridebench/results"
)

// FuzzRead: what is merged of two files is one that can be read, with all of their results.
func FuzzRead(f *testing.F) {
	f.Add(shardText(1, 2, []int{1, 2}), shardText(2, 2, []int{3}), "")
	f.Add(part(1, 2, "host: a\n"), part(1, 1, "host: b\n"), "host")
	f.Add(shardText(1, 2, []int{2}),
		"BenchmarkA 1 1 ns/op\nhost: x\n\nBenchmarkB 1 2 ns/op\n# part: 7\n", "host")
	// as an export of a history
	f.Add(shardText(1, 2, []int{1, 3})+"cpu:\nfamily:\n# history-sha256: 0\n"+part(2, 2),
		shardText(1, 1, []int{4}, "host: b\n"), "")
	f.Add(part(1, 2)+shardText(1, 2, nil), part(2, 2)+"# end: 1 results\n", "host")
	f.Add("# shard: 9/2\nBenchmarkA 1 1 ns/op", "Benchmark 1\n# end: 1 results\n", "")
	f.Add("Unit nop bete 1\n"+shardText(1, 2, []int{1}), part(2, 2), "")
	f.Add("0", "# part: 2\nfamily: F0\nBenchmarkF\n", "")
	f.Fuzz(func(t *testing.T, one, two, by string) {
		p, err := Read(write(t, t.TempDir(), one, two), nil, by, nil)
		if err != nil {
			return
		}
		var out bytes.Buffer
		if err := p.Write(&out); err != nil {
			t.Fatal(err)
		}
		all, err := results.Parse("merged", out.Bytes())
		if err != nil {
			t.Fatalf("%v, of\n%s", err, &out)
		}
		if len(all.Results) != p.Results {
			t.Errorf("%d results, want %d, of\n%s", len(all.Results), p.Results, &out)
		}
	})
}

// FuzzNatural: names are in one order, in which those are equal that are the same.
func FuzzNatural(f *testing.F) {
	f.Add("node9", "node10", "node09")
	f.Add("a1b", "a01b", "a1")
	f.Add("", "0", "00")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		ab, bc, ac := Natural(a, b), Natural(b, c), Natural(a, c)
		if ab != -Natural(b, a) || ab == 0 != (a == b) {
			t.Errorf("%q and %q: %d, turned around %d", a, b, ab, Natural(b, a))
		}
		if ab <= 0 && bc <= 0 && ac > 0 {
			t.Errorf("%q, %q and %q go around in a circle", a, b, c)
		}
	})
}
