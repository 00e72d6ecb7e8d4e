package merge

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/results/keys"
)

// shardText is a shard of a run whose k-th part has k lines of results. Families
// change with every third part.
func shardText(index, of int, parts []int, labels ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "goos: linux\ncpu: A\n%s# version: v1\n# suite: abc\n# shard: %d/%d\nUnit "+
		"ns/op better=lower\n\n", strings.Join(labels, ""), index, of)
	family, n := "", 0
	for _, k := range parts {
		fmt.Fprintf(&b, "# part: %d\n", k)
		if f := familyOf(k); f != family {
			family = f
			fmt.Fprintf(&b, "family: %s\n", f)
		}
		for i := range k {
			fmt.Fprintf(&b, "Benchmark%s/part=%d 1 %d.5 ns/op\n", family, k, i)
			n++
		}
	}
	fmt.Fprintf(&b, "# overhead: 3%%\n# end: %d results\n", n)
	return b.String()
}

// part is the shard of a run that has the part of its number.
func part(index, of int, labels ...string) string {
	return shardText(index, of, []int{index}, labels...)
}

func familyOf(part int) string { return fmt.Sprintf("F%d", part/3) }

func write(t testing.TB, dir string, texts ...string) (paths []string) {
	t.Helper()
	for i, text := range texts {
		path := filepath.Join(dir, fmt.Sprintf("%d.txt", i))
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	return paths
}

// merged merges texts; faults and errors are without the folder's name.
func merged(t testing.TB, by string, texts ...string) (text string, faults []string, err error) {
	t.Helper()
	dir, e := os.MkdirTemp("", "merge")
	if e != nil {
		t.Fatal(e)
	}
	defer os.RemoveAll(dir)
	var read atomic.Int64
	plan, err := Read(write(t, dir, texts...), nil, by, func() { read.Add(1) })
	if err == nil && int(read.Load()) != len(texts) {
		t.Errorf("%d of %d files are told of", read.Load(), len(texts))
	}
	var b bytes.Buffer
	if err == nil {
		err = plan.Write(&b)
	}
	if err != nil {
		return "", nil, fmt.Errorf("%s",
			strings.ReplaceAll(err.Error(), dir+string(filepath.Separator), ""))
	}
	for _, f := range plan.Faults {
		faults = append(faults, strings.ReplaceAll(f, dir+string(filepath.Separator), ""))
	}
	return b.String(), faults, nil
}

// TestShards: however parts are dealt, the samples are those of the whole run, each
// with its family, in order.
func TestShards(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		n, parts := rapid.IntRange(1, 5).Draw(r, "shards"), rapid.IntRange(5, 12).Draw(r, "parts")
		deal := make([][]int, n)
		var want []string
		for k := 1; k <= parts; k++ {
			i := k - 1
			if k > n {
				i = rapid.IntRange(0, n-1).Draw(r, "shard")
			}
			deal[i] = append(deal[i], k)
			for i := range k {
				want = append(want, fmt.Sprintf("%s/part=%d %d.5 %[1]s", familyOf(k), k, i))
			}
		}
		var texts []string
		for i, own := range deal {
			texts = append(texts, shardText(i+1, n, own, fmt.Sprintf("host: h%d\n", i)))
		}
		slices.Reverse(texts)
		text, faults, err := merged(t, "", texts...)
		if err != nil || faults != nil {
			r.Fatal(err, faults)
		}
		set, err := results.Parse("merged", []byte(text))
		if err != nil {
			r.Fatal(err)
		}
		var got []string
		for _, one := range set.Results {
			value, _ := one.Value("sec/op")
			got = append(got, fmt.Sprintf("%s %.1f %s", one.Name, value*1e9,
				one.GetConfig(keys.Family)))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			r.Fatal(diff)
		}
	})
}

// TestShardsAsFiles: shards are as good with a mark of UTF-8 at the head, with line ends of
// Windows, as entries of a history, and one after the other in one file.
func TestShardsAsFiles(t *testing.T) {
	one, two := shardText(1, 2, []int{1, 3}), shardText(2, 2, []int{2, 4})
	want, _, err := merged(t, "", one, two)
	if err != nil {
		t.Fatal(err)
	}
	const mark, sum = "\xEF\xBB\xBF", "# " + keys.History + ": 0123\n"
	for name, texts := range map[string][]string{
		"marks":               {mark + one, mark + two},
		"returns":             {one, strings.ReplaceAll(two, "\n", "\r\n")},
		"entries":             {one + sum, two + sum},
		"one file":            {one + two},
		"an exported history": {one + "cpu:\nfamily:\n" + two},
	} {
		text, faults, err := merged(t, "", texts...)
		if diff := cmp.Diff(want, strings.ReplaceAll(text, "\r", "")); diff != "" ||
			faults != nil ||
			err != nil {
			t.Errorf("%s: %s, %v, %v", name, diff, faults, err)
		}
	}
	_, faults, err := merged(t, "", one+two+strings.Repeat("# end: 0 results\n", maxKept))
	if err != nil || len(faults) != 1 ||
		!strings.HasSuffix(faults[0], "more runs in one file than can be merged") {
		t.Errorf("%.9q, %v", faults, err)
	}
}

// TestCut: a shard that is cut off anywhere is named, and what is left of its lines is
// whole.
func TestCut(t *testing.T) {
	whole := shardText(2, 2, []int{2, 4})
	for n := range len(whole) {
		text, faults, err := merged(t, "", shardText(1, 2, []int{1, 3}), whole[:n])
		if err != nil || len(faults) == 0 || !strings.HasPrefix(faults[0], "1.txt: ") {
			t.Fatalf("%d bytes: %v, %v", n, faults, err)
		}
		if set, err := results.Parse("merged", []byte(text)); err != nil || len(set.Results) < 4 {
			t.Fatalf("%d bytes: %v", n, err)
		}
	}
}

func TestFaults(t *testing.T) {
	cut := func(label string) string { // of shard 2/2, the head
		text, _, _ := strings.Cut(shardText(2, 2, []int{2}, label), "# part")
		return text
	}
	one, two, three := part(1, 4), part(2, 4), part(3, 4)
	for _, c := range []struct {
		by    string
		texts []string
		want  string
	}{
		{"", []string{one, three}, "missing: shard 2, 4 of 4"},
		{"", []string{two}, "missing: shard 1, 3-4 of 4"},
		{"", []string{one, two, two, three, part(4, 4)},
			"shard 2/4 is there twice: 1.txt and 2.txt"},
		{"", []string{part(1, 1), part(1, 1)},
			"0.txt and 1.txt are both a whole run (--by LABEL keeps runs apart; counts of bench " +
				"sim need no merge, only cat)"},
		{"", []string{part(1, 1, "tuning-x: 1\nhost: a\n"), part(1, 1, "tuning-x: 2\nhost: b\n")},
			"0.txt and 1.txt are both a whole run (--by LABEL keeps runs apart; counts of bench " +
				"sim need no merge, only cat)"},
		{"", []string{part(1, 1, "host: a\n"), part(1, 1, "host: b\n"), part(1, 1)},
			"0.txt and 1.txt are both a whole run (--by LABEL keeps runs apart; counts of bench " +
				"sim need no merge, only cat); 0.txt and 2.txt are both a whole run (--by LABEL " +
				"keeps runs apart; counts of bench sim need no merge, only cat)"},
		{"", []string{part(1, 1, "host: a\n"), part(1, 1, "host: b\n"), part(1, 1, "host: a\n")},
			"0.txt and 1.txt are both a whole run (--by LABEL keeps runs apart; counts of bench " +
				"sim need no merge, only cat); 0.txt and 2.txt are both a whole run (--by LABEL " +
				"keeps runs apart; counts of bench sim need no merge, only cat)"},
		{"", []string{part(1, 1, "sim-levels: 2 7\n"), part(1, 1, "sim-levels: 2 7\n")},
			"0.txt and 1.txt are both a whole run (--by LABEL keeps runs apart; counts of bench " +
				"sim need no merge, only cat)"},
		{"host", []string{part(1, 2, "host: a\n"), part(2, 2, "host: a\n"),
			part(2, 2, "host: b\n")},
			"missing of host b: shard 1 of 2"},
		{"", []string{strings.Replace(one, "# end: 1", "# end: 2", 1)},
			"0.txt: it has 1 result, and its last line says 2; missing: shard 2-4 of 4"},
		{"", []string{one + one},
			"shard 1/4 is there twice: 0.txt and 0.txt from line 13 on; missing: shard 2-4 of 4"},
		{"", []string{two, "", strings.Replace(one, " 0.5 ns/op", " x ns/op", 1)},
			"1.txt: it is cut off: its last line is not \"# end: N results\"; 2.txt: line 10: " +
				"\"BenchmarkF0/part=1 1 x ns/op\": parsing measurement: invalid syntax, and " +
				"nothing is left of shard 1/4; missing: shard 3-4 of 4"},
		{"host", []string{part(1, 2, "host: a\n"), cut("host: a\n")},
			"1.txt: it is cut off: its last line is not \"# end: N results\", and nothing is " +
				"left of shard 2/2"},
		{"host", []string{part(1, 2, "host: a\n"), cut("host: b\n")},
			"1.txt: it is cut off: its last line is not \"# end: N results\", and nothing is " +
				"left of shard 2/2; missing of host a: shard 2 of 2"},
	} {
		_, faults, err := merged(t, c.by, c.texts...)
		if got := strings.Join(faults, "; "); err != nil || got != c.want {
			t.Errorf("%q, %v, want %q", got, err, c.want)
		}
	}
}

func TestMixed(t *testing.T) {
	one := part(1, 2, "host: a\n")
	two := part(2, 2, "host: a\n")
	for _, c := range []struct{ by, old, new, want string }{
		{"", "# version: v1", "# version: v2",
			`the programs are not the same: 0.txt has the line "# version: v1", 1.txt "# version: v2"`},
		{"", "Unit ns/op better=lower", "Unit ns/op better=higher",
			`the programs are not the same: 0.txt has the line "Unit ns/op better=lower", 1.txt "Unit ns/op better=higher"`},
		{"", "# suite: abc", "# suite: abd",
			`the suites are not the same: 0.txt has the line "# suite: abc", 1.txt "# suite: abd"`},
		{"", "cpu: A", "cpu: A\nsim-d1: 1,1,1",
			`the shards of a run differ: 0.txt has the line "sim-d1: ", 1.txt "sim-d1: 1,1,1"`},
		{"", "2/2", "2/3", `the shards of a run differ: 0.txt has the line "# shard: 1/2", 1.txt "# shard: 2/3"`},
		{"", "# part: 2", "# part: 1", "0.txt and 1.txt both have part 1 of the suite"},
		{"host", "host: a\n", "", `1.txt has no line "host:" (bench run --label host=VALUE writes one)`},
		{"zone", "", "", `0.txt has no line "zone:" (bench run --label zone=VALUE writes one)`},
	} {
		if _, _, err := merged(t, c.by, one, strings.Replace(two, c.old, c.new, 1)); err == nil ||
			err.Error() != c.want {
			t.Errorf("%s: %v, want %s", c.new, err, c.want)
		}
	}
	// The suite is one where the CPU is, of whichever run.
	alien := strings.Replace(part(1, 1, "host: b\n"), "suite: abc", "suite: abd", 1)
	if _, _, err := merged(t, "host", part(1, 1, "host: a\n"), alien); err == nil ||
		!strings.HasPrefix(err.Error(), "the suites are not the same: ") {
		t.Error(err)
	}
	// What runs of many machines may differ in.
	other := strings.Replace(strings.Replace(part(1, 1, "host: b\n"), "cpu: A",
		"cpu: B\nsim-d1: 1,1,1", 1), "suite: abc", "suite: abd", 1)
	text, faults, err := merged(t, "host", other, part(1, 1, "host: a\n"))
	if err != nil || faults != nil {
		t.Fatal(err, faults)
	}
	const want = "cpu: A\nhost: a\nsim-d1: \nF0/part=1\ncpu: B\nhost: b\nsim-d1: 1,1,1\nF0/part=1\n"
	set, err := results.Parse("merged", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, r := range set.Results {
		got += fmt.Sprintf("cpu: %s\nhost: %s\nsim-d1: %s\n%s\n", r.GetConfig("cpu"),
			r.GetConfig("host"),
			r.GetConfig("sim-d1"), r.Name)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if _, faults, _ := merged(t, "", text); len(faults) != 0 {
		if !strings.Contains(faults[0], "merged already") {
			t.Error(faults)
		}
	}
}

func TestNatural(t *testing.T) {
	names := []string{"node10", "node9", "node09", "a", "node9b", "", "node", "b1", "a22", "9z"}
	slices.SortStableFunc(names, Natural)
	if diff := cmp.Diff([]string{"", "9z", "a", "a22", "b1", "node", "node09", "node9", "node9b",
		"node10"}, names); diff != "" {
		t.Error(diff)
	}
}

// TestSameOrder: runs whose labels are the same number come in one order each time, and so does
// what their configuration lacks.
func TestSameOrder(t *testing.T) {
	one := "a: 1\nb: 2\nc: 3\nnode: node1\nBenchmarkA 1 5 ns/op\n# overhead: 3%\n# end: 1 results\n"
	other := "node: node01\nBenchmarkA 1 5 ns/op\n# overhead: 3%\n# end: 1 results\n"
	first, _, err := merged(t, "node", one, other)
	if err != nil {
		t.Fatal(err)
	}
	for range 40 {
		if text, _, err := merged(t, "node", one, other); err != nil || text != first {
			t.Fatalf("%v\n%s\nis not\n%s", err, text, first)
		}
	}
}
