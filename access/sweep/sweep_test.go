package sweep

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/results/merge"
)

const small = `shapes: [8x8, 8x16, 64x64]
dtypes: [int32, float32, float64]
ops: [sum, copy]
orders: [row, col]
tiles: [none, 4x4]
caches:
- {d1: "1024,2,64", ll: "8192,4,64", name: tiny}
- preset: cachegrind-article
`

func parse(t *testing.T) *Space {
	t.Helper()
	s, err := Parse("a.yaml", []byte(small))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func run(t *testing.T, s *Space, out string, o Options) (text string, simulated int) {
	t.Helper()
	simulated, err := s.Run(context.Background(), out, o)
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return string(data), simulated
}

// TestCounts: each point is what a run of its own counts.
func TestCounts(t *testing.T) {
	s := parse(t)
	if s.points() != 3*3*2*2*2*2 {
		t.Fatal(s.points())
	}
	text, _ := run(t, s, filepath.Join(t.TempDir(), "a.txt"), Options{Index: 1, Of: 1})
	lines := strings.Split(text[strings.Index(text, "family:"):], "\n")
	point := 0
	for _, line := range lines {
		if !strings.HasPrefix(line, "Benchmark") {
			continue
		}
		p, err := s.specs[point/2].Pattern()
		if err != nil {
			t.Fatal(err)
		}
		counts, err := access.Simulate(context.Background(), s.hierarchies[point%2].config,
			[]access.Pattern{p}, nil)
		if err != nil {
			t.Fatal(err)
		}
		c := counts[0]
		if name, want := s.name(point), (count{c.Refs(), c.D1Misses(),
			c.LLMisses()}); !strings.HasPrefix(line, "Benchmark"+name+" ") ||
			!strings.HasSuffix(line, valuesOf(want)) {
			t.Errorf("%s, want %s with %v", line, name, want)
		}
		point++
	}
	if point != s.points() {
		t.Errorf("%d lines of %d points", point, s.points())
	}
}

func valuesOf(c count) string {
	text := strings.Fields(line(0, c))
	return " 1 " + text[1] + " D-refs/op " + text[2] + " D1-misses/op " + text[3] + " LL-misses/op"
}

// TestKilled: of a record that ends after any of its bytes, what is whole is kept, the
// rest is simulated, and the results are the same.
func TestKilled(t *testing.T) {
	s, dir := parse(t), t.TempDir()
	want, all := run(t, s, filepath.Join(dir, "whole.txt"), Options{Index: 1, Of: 1})
	if all != s.points() {
		t.Fatal(all)
	}
	// A run that is stopped after half of its points leaves a record of these.
	ctx, stop := context.WithCancel(context.Background())
	steps := 0
	half := filepath.Join(dir, "half.txt")
	if _, err := s.Run(ctx, half, Options{Index: 1, Of: 1, Step: func() {
		if steps++; steps == s.points()/2 {
			stop()
		}
	}}); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	record, err := os.ReadFile(RecordName(half))
	if err != nil || strings.Count(string(record), "\n") < 1+s.points()/2 {
		t.Fatal(err, string(record))
	}
	step := 1
	if testing.Short() {
		step = 37
	}
	for n := 0; n <= len(record); n += step {
		if n == 140 { // the rest is alike
			n = len(record) - 20
		}
		out := filepath.Join(dir, "cut.txt")
		os.Remove(out)
		if err := os.WriteFile(RecordName(out), record[:n], 0o666); err != nil {
			t.Fatal(err)
		}
		kept := max(0, strings.Count(string(record[:n]), "\n")-1)
		got, simulated := run(t, s, out, Options{Index: 1, Of: 1, Start: func(points, done int) {
			if points != s.points() || done != kept {
				t.Errorf("%d bytes: %d of %d points are there, want %d", n, done, points, kept)
			}
		}})
		if got != want || simulated != s.points()-kept {
			t.Fatalf("%d bytes: %d simulated of %d, %d there\n%s", n, simulated,
				s.points(), kept, got)
		}
	}
	if _, err := s.Run(context.Background(), half, Options{Index: 1, Of: 2}); err == nil ||
		!strings.Contains(err.Error(), "it is the record of another sweep, or shard") {
		t.Error(err)
	}
	if _, err := s.Run(context.Background(), filepath.Join(dir, "whole.txt"),
		Options{Index: 1, Of: 1}); !errors.Is(err, errThere) {
		t.Error(err)
	}
}

// TestShards: the shards merge to what one run writes.
func TestShards(t *testing.T) {
	s, dir := parse(t), t.TempDir()
	want, _ := run(t, s, filepath.Join(dir, "whole.txt"), Options{Index: 1, Of: 1})
	var paths []string
	for i := range 3 {
		path := filepath.Join(dir, "shards", string(rune('a'+i)))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		run(t, s, path, Options{Index: i + 1, Of: 3})
		paths = append(paths, path)
	}
	plan, err := merge.Read(paths, nil, "", nil)
	if err != nil || plan.Faults != nil {
		t.Fatal(err, plan)
	}
	var b strings.Builder
	if err := plan.Write(&b); err != nil {
		t.Fatal(err)
	}
	if got := strings.Replace(b.String(), "# merged: 3 of 3 shards\n", "", 1); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// TestViewNone: a view may be none, as that of a workload and of a flag.
func TestViewNone(t *testing.T) {
	const caches = "caches: [{d1: '1024,2,64', ll: '8192,8,64'}]\n"
	none, err := Parse("a.yaml", []byte("shapes: [8x8]\nviews: [none, t()]\n"+caches))
	if err != nil {
		t.Fatal(err)
	}
	empty, err := Parse("a.yaml", []byte("shapes: [8x8]\nviews: ['', t()]\n"+caches))
	if err != nil {
		t.Fatal(err)
	}
	for point := range empty.points() {
		if got, want := none.name(point), empty.name(point); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestSuite: the benchmarks of bench run, chases too, are a space.
func TestSuite(t *testing.T) {
	s, err := Parse("a.yaml", []byte("suite: quick\ncaches:\n- {name: a, d1: '32768,8,64', ll: "+
		"'1048576,16,64'}\n"))
	if err != nil {
		t.Fatal(err)
	}
	chases := map[uint64]string{}
	for point, name := range s.names {
		if !strings.HasPrefix(name, "Latency/") {
			continue
		}
		c, err := s.simulate(context.Background(), point)
		if err != nil {
			t.Fatal(err)
		}
		if chases[c.refs] != "" || c.d1 == 0 &&
			!strings.HasSuffix(s.name(point), "16KiB/kernel=scalar/caches=a") {
			t.Errorf("%s: %+v, as %s", s.name(point), c, chases[c.refs])
		}
		chases[c.refs] = name
	}
	if s.names[0] != "Traverse/op=sum/order=row/shape=64x64/dtype=int32/kernel=scalar" ||
		len(chases) != 4 {
		t.Errorf("%s, %v", s.names[0], chases)
	}
}

func TestParseErrors(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{"tiles: [none, 4x4]", "tiles: [none, 4x4x4]",
			`a.yaml:5:15: with shape 8x8, dtype int32, op sum, view none, order row, tile 4x4x4`},
		// no number in base 16
		{"tiles: [none, 4x4]", "tiles: [none, 0x4]", "tile 0x4: size 0 of dim 0"},
		{"tiles: [none, 4x4]", "tiles: [none, 0b11]", `"0b11" is not a size`},
		{"[sum, copy]", "[chase]", `want sum, fill or copy`},
		{"dtypes: [int32", "dtypes: [int32, flot64", `a.yaml:2:17: dtype "flot64": no such dtype`},
		{"[row, col]", "[row, diag]", `"diag": `},
		{"shapes:", "pads: [0, -1]\nshapes:",
			`a.yaml:1:11: with shape 8x8, dtype int32, op sum, view none, order row, tile none, kernel scalar, pad -1`},
		{"shapes:", "views: [transpose(0,1)]\nshapes:", `a.yaml:1:9: view "transpose(0": `},
		{"shapes:", "views: ['transpose(0,2)']\nshapes:", `a.yaml:1:9: `},
		{"- preset: cachegrind-article", `- {d1: "1024,2,64", ll: "8192,4,64", name: tiny}`,
			"a.yaml:8:4: the name tiny is there already"},
		{"cachegrind-article", "nothing", "nothing"},
		{"[row, col]", "[row, row]", "it is there twice"},
		{"[row, col]", "[]", "no orders (want one or more)"},
		{"name: tiny", "name: a/b", "want no space and no /"},
		{"name: tiny", "name: a\u00a0b", `name "a\u00a0b": want no space and no /`},
		{"name: tiny", "name: tiny-2", `name "tiny-2": `},
		{"name: tiny", "name: " + strings.Repeat("tiny", 15_000),
			"the names of 2 caches take a line of 60"},
		{"shapes: [8x8, 8x16, 64x64]", "suite: all", `a.yaml:1:8: "all": want default or quick`},
		{"shapes: [8x8, 8x16, 64x64]", "suite: quick\nshapes: [8x8]", "a.yaml:1:8: "},
		{small, "shapes: [8x8]\n", "no caches (want one or more)"},
	} {
		if _, err := Parse("a.yaml", []byte(strings.Replace(small, c.old, c.new, 1))); err == nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.new, err, c.want)
		}
	}
}
