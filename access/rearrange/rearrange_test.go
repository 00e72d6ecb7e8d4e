package rearrange

import (
	"context"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stridebench/stridebench/access/cost"
	"github.com/stridebench/stridebench/access/csource"
	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/explain"
)

// model has a first level of 8 ways and a last of 16, of so many bytes, and generic times.
func model(d1, ll int) cost.Model {
	levels := []simcache.Level{
		{Name: "D1", Geometry: simcache.Geometry{Size: d1, Ways: 8, Line: 64}},
		{Name: "LL", Geometry: simcache.Geometry{Size: ll, Ways: 16, Line: 64}},
	}
	return cost.Model{Times: cost.Generic("a test"), Caches: simcache.Config{Levels: levels}}
}

// The caches that the tests count in.
var small, common = model(4<<10, 64<<10), model(32<<10, 8<<20)

// read reads a function.
func read(t *testing.T, text, function string, defines ...string) *csource.File {
	t.Helper()
	options := csource.Options{Function: function, Defines: defines}
	f, err := csource.Read("loops.c", []byte(text), options)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// ask tries all changes of a function.
func ask(t *testing.T, m cost.Model, text, function string, defines ...string) *Answer {
	t.Helper()
	f := read(t, text, function, defines...)
	a, err := Ask(context.Background(), f, []byte(text), m, time.Hour)
	if err != nil || a.Left > 0 {
		t.Fatalf("%v, %d left", err, a.Left)
	}
	return a
}

// missesOf are those of a function by level.
func missesOf(
	t *testing.T, m cost.Model, text, function string, defines ...string,
) (misses []uint64) {
	t.Helper()
	h, err := simcache.NewHierarchy(m.Caches)
	if err == nil {
		_, err = h.RunProgram(1, read(t, text, function, defines...).Program)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range h.Levels() {
		misses = append(misses, l.Misses())
	}
	return misses
}

// tried is the change of some words.
func tried(t *testing.T, a *Answer, words string) Tried {
	t.Helper()
	at := slices.IndexFunc(a.Tried, func(t Tried) bool { return t.Words == words })
	if at < 0 {
		t.Fatalf("nothing is called %q", words)
	}
	return a.Tried[at]
}

func written(t *testing.T, a *Answer) string {
	t.Helper()
	var b strings.Builder
	if err := a.Write(&b, 5, 0); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestProduct: of a matrix product, the order ikj and tiles are found, are proved, and miss what
// the file's functions that are written so do.
func TestProduct(t *testing.T) {
	text, err := os.ReadFile("../../docs/example/orders.c")
	if err != nil {
		t.Fatal(err)
	}
	source := string(text)
	a := ask(t, small, source, "ijk", "N=150")
	const exchange = "exchange the loops over j and k"
	for words, as := range map[string][]uint64{
		exchange: missesOf(t, small, source, "ikj", "N=150"),
		exchange + ", and tile the loops over k and j by 16": missesOf(t, small, source, "tiled",
			"N=150", "T=16"),
	} {
		if c := tried(t, a, words); c.Kept != "kept" || !slices.Equal(c.Misses, as) {
			t.Errorf("%s: %v, misses %v, want %v", words, c.Kept, c.Misses, as)
		}
	}
	best := a.Best(5)
	if len(best) < 2 || !strings.HasPrefix(best[0].Words, exchange) {
		t.Errorf("best is %+v", best)
	}
	for i, one := range best {
		if slices.ContainsFunc(best[:i], func(t Tried) bool { return t.Alike(one.Change) }) {
			t.Errorf("%s is there in another size", one.Words)
		}
	}
	out := written(t, a)
	tiles := "Tiles: around the loops at line 20, loops with kk += 16 and jj += 16 over the same " +
		"ranges; inside, k from kk to min(kk + 16, its end) and j from jj to min(jj + 16, its end)."
	if !strings.Contains(strings.Join(strings.Fields(out), " "), tiles) {
		t.Errorf("no %q in\n%s", tiles, out)
	}
	for line := range strings.Lines(out) {
		if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

// filter is a mean filter whose loops are the wrong way round.
const filter = `float img[SIZE][SIZE], res[SIZE][SIZE];
void mean(void) {
  for (int i = 1; i < SIZE - 1; i++)
    for (int j = 1; j < SIZE - 1; j++) {
      res[j][i] = 0;
      for (int k = -1; k < 2; k++)
        for (int l = -1; l < 2; l++)
          res[j][i] += img[j + l][i + k];
      res[j][i] /= 9;
    }
}
`

// TestFilter: the loops of a mean filter are to be exchanged, which is proved to change nothing,
// and the file after the diff has the counts that are said. To exchange the two inner ones would
// sum in another order.
func TestFilter(t *testing.T) {
	size, before := "SIZE=8192", []uint64{142540804, 142540804}
	if testing.Short() {
		size, before = "SIZE=512", missesOf(t, common, filter, "mean", "SIZE=512")
	}
	a := ask(t, common, filter, "mean", size)
	if !slices.Equal(a.Now.Misses, before) {
		t.Errorf("misses %v, want %v", a.Now.Misses, before)
	}
	best := a.Best(1)
	if len(best) == 0 || best[0].Words != "exchange the loops over i and j" {
		t.Fatalf("best is %+v", best)
	}
	out := written(t, a)
	answer := []string{"Exchange the loops over i and j: ", "proved to change no dependence"}
	for _, want := range answer {
		if !strings.Contains(strings.Join(strings.Fields(out), " "), want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	patched := patch(t, filter, out)
	if after := missesOf(t, common, patched, "mean", size); !slices.Equal(after, best[0].Misses) {
		t.Errorf("the diff's file misses %v, want %v\n%s", after, best[0].Misses, patched)
	}
	if inner := tried(t, a, "exchange the loops over k and l"); inner.Kept != "broken" {
		t.Errorf("k and l: %v", inner.Kept)
	}
}

// patch is a text after the one hunk of a diff.
func patch(t *testing.T, text, diff string) string {
	t.Helper()
	var first, n int
	at := strings.Index(diff, "@@ -")
	if at < 0 {
		t.Fatalf("no hunk in\n%s", diff)
	}
	if _, err := fmt.Sscanf(diff[at:], "@@ -%d,%d", &first, &n); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(text, "\n")
	var old, by []string
	for line := range strings.Lines(diff[at:]) {
		line = strings.TrimSuffix(line, "\n")
		if rest, is := strings.CutPrefix(line, "-"); is {
			old = append(old, rest)
		}
		if rest, is := strings.CutPrefix(line, "+"); is {
			by = append(by, rest)
		}
	}
	if d := cmp.Diff(lines[first-1:first-1+n], old); d != "" {
		t.Fatalf("the hunk is not of these lines: -file +hunk\n%s", d)
	}
	return strings.Join(slices.Replace(lines, first-1, first-1+n, by...), "\n")
}

// TestVerdicts: what is not proved, or not so, is said.
func TestVerdicts(t *testing.T) {
	for _, c := range []struct{ name, text, verdict, words string }{
		{"a scalar", `double a[200][200];
void f(void) { double s = 0;
  for (int j = 0; j < 200; j++)
    for (int i = 0; i < 200; i++)
      s = s * 0.5 + a[i][j]; }`, "unproved", "Whether it changes a dependence was not proved."},
		{"slanted", `double a[200][200];
void f(void) {
  for (int j = 1; j < 199; j++)
    for (int i = 1; i < 199; i++)
      a[i][j] = a[i + 1][j - 1]; }`, "broken", "It changes the order of a dependence"},
		{"apart", `double a[200][200], b[200][200];
void f(void) {
  for (int j = 1; j < 199; j++)
    for (int i = 1; i < 199; i++)
      b[i][j] = a[i + 1][j - 1]; }`, "kept", "proved to change no dependence"},
	} {
		a := ask(t, small, c.text, "f")
		if got := tried(t, a, "exchange the loops over j and i").Kept; got != c.verdict {
			t.Errorf("%s: %s, want %s", c.name, got, c.verdict)
		}
		if out := strings.Join(strings.Fields(written(t, a)), " "); !strings.Contains(out, c.words) {
			t.Errorf("%s: no %q in\n%s", c.name, c.words, out)
		}
	}
}

// TestNothing: loops that are as they should be are left.
func TestNothing(t *testing.T) {
	a := ask(t, small, `double a[100][100];
void f(void) {
  for (int i = 0; i < 100; i++)
    for (int j = 0; j < 100; j++)
      a[i][j] = 0; }`, "f")
	if out := written(t, a); !strings.HasPrefix(out, "Leave it as it is: ") {
		t.Errorf("%s", out)
	}
	a.Tried, a.Left = nil, 3
	if out := written(t, a); !strings.HasPrefix(out, "Nothing is known: ") {
		t.Errorf("%s", out)
	}
}

// TestHeads: heads of loops are found in their lines, however they are written; where they share
// one, there is no diff.
func TestHeads(t *testing.T) {
	const body = "double a[99][99];\nvoid f(void) {\n%s\n      a[j][i] = 0; }}}"
	for _, c := range []struct{ loops, diff string }{
		{"int i, j;\nfor(i=0; i<99; i++) { /* rows */\n  for (j = 0; j < (98 + 1); ++j) {",
			"@@ -4,2 +4,2 @@ f\n-for(i=0; i<99; i++) { /* rows */\n-  for (j = 0; j < (98 + 1); ++j) {\n" +
				"+for (j = 0; j < (98 + 1); ++j) { /* rows */\n+  for(i=0; i<99; i++) {\n"},
		{"for (int i = 0; i < 99; i++) {\n  // by columns\n  for (int j = 0; j < 99; j++) {",
			"@@ -3,3 +3,3 @@ f\n-for (int i = 0; i < 99; i++) {\n-  // by columns\n" +
				"-  for (int j = 0; j < 99; j++) {\n+for (int j = 0; j < 99; j++) {\n+  // by columns\n" +
				"+  for (int i = 0; i < 99; i++) {\n"},
		{"for (int i = 0; i < 99; i++) for (int j = 0; j < 99; j++) {{", ""},
	} {
		a := ask(t, small, fmt.Sprintf(body, c.loops), "f")
		diff := a.source(a.Best(5))
		if at := strings.Index(diff, "@@"); at >= 0 {
			diff = diff[at:]
		} else {
			diff = ""
		}
		if d := cmp.Diff(c.diff, diff); d != "" {
			t.Errorf("%s: -want +got\n%s", c.loops, d)
		}
	}
}

// TestStops: without time nothing is tried, and that is said.
func TestStops(t *testing.T) {
	f := read(t, filter, "mean", "SIZE=64")
	a, err := Ask(context.Background(), f, []byte(filter), small, 1)
	if err != nil || len(a.Tried) > 0 || a.Left == 0 {
		t.Fatalf("%v: %d tried, %d left", err, len(a.Tried), a.Left)
	}
	if out := written(t, a); !strings.Contains(out, "0 changes tried, 10 counts were") {
		t.Errorf("%s", out)
	}
	// What the first level alone says is marked as such.
	a.Tried = []Tried{{Change: explain.Change{Words: "turn it"}, Misses: []uint64{1}, Ns: 1}}
	for _, want := range []string{"Perhaps turn it: D1 misses fall", "not counted  over 1 ns"} {
		if out := written(t, a); !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Ask(ctx, f, []byte(filter), small, math.MaxInt64); err != context.Canceled {
		t.Errorf("%v", err)
	}
}
