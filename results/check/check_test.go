package check_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/results/check"
)

var usual = check.Options{Alpha: 0.01, Threshold: 0.05, Times: "auto"}

// A bench is one benchmark of a made-up file.
type bench struct {
	name   string
	times  []float64 // ns
	misses float64
}

const machineHead = "goos: linux\ncpu: A\ncpus: 2\nsim-d1: 32768,8,64\nsim-ll: 8388608,16,64\n"

// file writes benches as bench run does.
func file(head string, benches ...bench) string {
	var b strings.Builder
	b.WriteString(head)
	for _, u := range results.Units {
		if u.Exact {
			fmt.Fprintf(&b, "Unit %s assume=exact better=lower\n", u.Name)
		}
	}
	for _, x := range benches {
		for _, t := range x.times {
			fmt.Fprintf(&b, "Benchmark%s 1 %v ns/op %v ns/elem %v B/s %v D1-misses/op\n",
				x.name, t, t/100,
				1e9/t, x.misses)
		}
	}
	return b.String()
}

// around makes n times near a median, none the same.
func around(median float64, n int) []float64 {
	times := make([]float64, n)
	for i := range times {
		times[i] = median * (1 + 0.001*float64(i-n/2) + 1e-7*median)
	}
	return times
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func compare(old, new string, o check.Options) (*check.Report, error) {
	a, b := must(results.Parse("old.txt", []byte(old))), must(results.Parse("new.txt", []byte(new)))
	return check.Compare(a, b, o)
}

// written is a report in a format.
func written(format string, r *check.Report) string {
	var b bytes.Buffer
	if err := check.Formats[format](&b, r); err != nil {
		panic(err)
	}
	return b.String()
}

// found lists what a report says, a line each.
func found(r *check.Report) []string {
	var list []string
	for _, v := range []check.Verdict{check.Regression, check.Improvement} {
		for _, c := range r.Of(v) {
			list = append(list, fmt.Sprintf("%s %s %s", v, c.Name, c.Unit))
		}
	}
	return append(list, r.Notes...)
}

func TestCompare(t *testing.T) {
	two := func(head string, time, misses, other float64) string { // X/a=1, and the misses of Y
		return file(head, bench{"X/a=1", around(time, 10), misses},
			bench{"Y", around(1000, 10), other})
	}
	instead := func(from, to string) string { return strings.Replace(machineHead, from, to, 1) }
	with := func(f func(*check.Options)) check.Options {
		o := usual
		f(&o)
		return o
	}
	old := two(machineHead, 1000, 100, 0)
	for _, test := range []struct {
		name, new string
		options   check.Options
		want      []string
	}{
		{"the same", old, usual, nil},
		{"a time and a count rise", two(machineHead, 1100, 101, 0), usual,
			[]string{"regression X/a=1 sec/op", "regression X/a=1 D1-misses/op"}},
		{"under the threshold", two(machineHead, 1040, 100, 0), usual, nil},
		{"under a larger threshold", two(machineHead, 1100, 100, 0),
			with(func(o *check.Options) { o.Threshold = 0.2 }), nil},
		{"within the tolerance", two(machineHead, 1000, 101, 0),
			with(func(o *check.Options) { o.ExactTolerance = 0.01 }), nil},
		{"a count rises from 0", two(machineHead, 1000, 100, 1),
			with(func(o *check.Options) {
				o.ExactTolerance = 0.5
			}), []string{"regression Y D1-misses/op"}},
		{"improvements", two(machineHead, 500, 99, 0), usual,
			[]string{"improvement X/a=1 sec/op", "improvement X/a=1 D1-misses/op"}},
		{"one vanished, one appeared",
			file(machineHead, bench{"X/a=1", around(1000, 10), 100},
				bench{"Z", around(1, 10), 5}), usual,
			[]string{"vanished: Y is in the baseline only",
				"appeared: Z is in the new results only"}},
		{"too few samples", file(machineHead, bench{"X/a=1", around(3000, 2), 100},
			bench{"Y", around(1000, 10), 0}), usual,
			[]string{"too few samples: 10 in the baseline and 2 in the new results can never be " +
				"significant; 6 in both (--count 6) would suffice: X/a=1"}},
		{"another machine", two(instead("cpu: A", "cpu: B"), 3000, 101, 0), usual,
			[]string{"regression X/a=1 D1-misses/op",
				`not compared: times are of different machines, which differ in cpu ("A" and "B")`}},
		{"other cores", two(instead("cpus: 2\n", ""), 3000, 100, 0), usual,
			[]string{`not compared: times are of different machines, which differ in cpus ("2" and absent)`}},
		{"another kernel", two(machineHead+"kernel: avx2\n", 3000, 100, 0), usual,
			[]string{`not compared: times are of different machines, which differ in kernel (absent and "avx2")`}},
		{"other simulated caches", two(instead("32768,8", "65536,8"), 3000, 900, 0), usual,
			[]string{"regression X/a=1 sec/op",
				`not compared: simulated units are of different caches, which differ in sim-d1 ("32768,8,64" and "65536,8,64")`}},
		{"no times", two(machineHead, 3000, 100, 0),
			with(func(o *check.Options) { o.Times = "off" }),
			[]string{"not compared: times are off"}},
		{"a new file that calls worse better", strings.ReplaceAll(two(machineHead, 3000, 101, 0),
			"assume=exact better=lower", "assume=nothing better=higher") +
			"Unit ns/op better=higher\n",
			usual,
			[]string{"regression X/a=1 sec/op", "regression X/a=1 D1-misses/op"}},
		{"counts that are not exact",
			file(machineHead, bench{"X/a=1", around(1000, 9), 100},
				bench{"X/a=1", around(1000, 1), 200},
				bench{"Y", around(1000, 10), 0}), usual,
			[]string{"regression X/a=1 D1-misses/op",
				"not exact: X/a=1 D1-misses/op is from 100 to 200 in the new results"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := must(compare(old, test.new, test.options))
			if diff := cmp.Diff(test.want, found(r)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestLargeCounts: a change of many times has no exponent, and counts are whole up to a length
// that nobody reads.
func TestLargeCounts(t *testing.T) {
	for want, misses := range map[string][2]float64{
		"(+799900%, exact)":                     {125_000, 1e9},
		"999999999999999 -> 2e+15 D1-misses/op": {999999999999999, 2e15},
	} {
		old, new := fmt.Sprintf("%.0f", misses[0]), fmt.Sprintf("%.0f", misses[1])
		r := must(compare(exactHead+"BenchmarkX 1 "+old+" D1-misses/op\n",
			exactHead+"BenchmarkX 1 "+new+" D1-misses/op\n", usual))
		if text := written("text", r); !strings.Contains(text, want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
}

// TestOtherUnits: of units that are not ours the baseline says what they mean;
// rates are better higher.
func TestOtherUnits(t *testing.T) {
	lines := func(value float64) string {
		var b strings.Builder
		for _, v := range around(value, 10) {
			fmt.Fprintf(&b, "BenchmarkX 1 %v ops/s %v points 7 allocs/op\n", v, v)
		}
		return b.String()
	}
	head := "cpu: A\nUnit points better=higher\nUnit allocs/op assume=exact\n"
	r := must(compare(head+lines(1000), "cpu: A\n"+lines(500), usual))
	if diff := cmp.Diff([]string{"regression X ops/s", "regression X points"},
		found(r)); diff != "" {
		t.Error(diff)
	}
}

func TestNothing(t *testing.T) {
	old := file(machineHead, bench{"X", around(1000, 10), 100})
	unknown := "BenchmarkX 1 2 ns/op\n"
	counts := "Unit D1-misses/op assume=exact better=lower\nBenchmarkX 1 2 D1-misses/op\n"
	require := usual
	require.Times = "require"
	off := usual
	off.Times = "off"
	for _, test := range []struct {
		old, new string
		options  check.Options
		want     string
	}{
		{old, file(machineHead, bench{"Y", around(1000, 10), 100}), usual,
			"nothing can be compared: no benchmark is in both files"},
		{unknown, unknown, usual,
			"nothing can be compared: times are of unknown machines: the files name neither cpu " +
				"nor caches"},
		{old, file("cpu: B\nsim-d1: 1\n", bench{"X", around(1000, 10), 100}), usual,
			"nothing can be compared: times are of different machines"},
		{old, strings.Replace(old, "cpu: A", "cpu: B", 1), require,
			"nothing can be compared: times are required: times are of different machines"},
		{old, file("cpu: B\n", bench{"Y", around(1000, 10), 100}), usual,
			"nothing can be compared: no benchmark is in both files"},
		{old, machineHead + "BenchmarkX 1 7 points\n", usual,
			"nothing can be compared: no benchmark has a unit that is judged in both files"},
		{old, machineHead + "BenchmarkX 1 7 ns/op\n", off,
			"nothing can be compared: times are off"},
		{old, machineHead + "BenchmarkX 1 7 ns/op\n", usual,
			"nothing can be compared: too few samples to judge any time by"},
		{counts, counts, usual, ""},
		{counts, counts, require,
			"nothing can be compared: times are required, and no benchmark has one in both files"},
		{old, "cpu: A\n" + old, usual, ""},
		{old, old + "cpu: B\nBenchmarkX 1 2 ns/op\n", usual,
			"new results: the results do not compare, since they differ in cpu"},
		{old, "cpu: A\nBenchmarkX 1 NaN ns/op\n", usual,
			"new.txt:2: NaN ns/op is not a finite number"},
		{old, "cpu: A\nBenchmarkX 1 Inf ns/op\n", usual,
			"new.txt:2: +Inf ns/op is not a finite number"},
	} {
		r, err := compare(test.old, test.new, test.options)
		if err == nil {
			err = r.Err()
		}
		if test.want == "" {
			if err != nil {
				t.Error(err)
			}
		} else if err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("got %v, want %s", err, test.want)
		}
		if strings.HasPrefix(test.want, "nothing") && !errors.Is(err, check.ErrNothing) {
			t.Errorf("%v is no ErrNothing", err)
		}
	}
}

// TestVanished: what the baseline guards and the new file lacks fails, unless it
// is allowed; what would not be judged does not.
func TestVanished(t *testing.T) {
	head := strings.Replace(machineHead, "cpu: A", "cpu: %s", 1)
	// and what all have, as many samples as decide
	lines := func(cpu string, lines ...string) string {
		var b strings.Builder
		fmt.Fprintf(&b, head, cpu)
		for i := range 7 {
			for _, l := range append(lines, "K/kernel=scalar 1 %d ns/op 5 D1-misses/op") {
				fmt.Fprintf(&b, "Benchmark"+l+"\n", 100+i)
			}
		}
		return b.String()
	}
	for _, test := range []struct {
		name, old, new string
		times          string
		want           []string // missing
	}{
		{"a name", lines("A", "X/order=row 1 %d ns/op 5 D1-misses/op"),
			lines("A", "X/order=col 1 %d ns/op 5 D1-misses/op"), "auto", []string{"X/order=row"}},
		{"a name that has times only", lines("A", "X 1 %d ns/op"), lines("A"), "off",
			[]string{"X"}},
		{"a count", lines("A", "X 1 %d ns/op 5 D1-misses/op"), lines("A", "X 1 %d ns/op"),
			"auto", []string{"X D1-misses/op"}},
		{"a time", lines("A", "X 1 %d ns/op 5 D1-misses/op"),
			lines("A", "X 1 5 D1-misses/op 0 LL-misses/op %d points"), "auto", []string{"X ns/op"}},
		{"a time, and times are off", lines("A", "X 1 %d ns/op 5 D1-misses/op"),
			lines("A", "X 1 5 D1-misses/op %d points"), "off", nil},
		{"what explains a time",
			lines("A", "K 1 %d ns/op 5 hw-cycles/op 7 predicted-ns/op 5 D1-misses/op"),
			lines("A", "K 1 %d ns/op 5 D1-misses/op"), "auto", nil},
		{"a kernel of another CPU", lines("A", "X/kernel=avx2 1 %d ns/op 5 D1-misses/op"),
			lines("B", "X/kernel=avx512 1 %d ns/op 5 D1-misses/op"), "auto", nil},
		{"a kernel of this CPU", lines("A", "X/kernel=avx2 1 %d ns/op 5 D1-misses/op"),
			lines("A", "X/kernel=avx512 1 %d ns/op 5 D1-misses/op"), "auto",
			[]string{"X/kernel=avx2"}},
		{"a kernel that others have", lines("A", "X/kernel=scalar 1 %d ns/op 5 D1-misses/op"),
			lines("B", "X/kernel=avx2 1 %d ns/op 5 D1-misses/op"), "auto",
			[]string{"X/kernel=scalar"}},
		{"caches of a sweep", "sim-caches: a=1024,2,64+8192,4,64\n" + lines("A",
			"X/caches=a 1 %d D1-misses/op"), lines("A"), "auto", []string{"X/caches=a"}},
		{"a set of other caches", lines("A", "X/set=63 1 %d misses/op"),
			strings.Replace(lines("A"), "32768,8", "65536,8", 1), "auto", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, allowed := range []bool{false, true} {
				o := usual
				o.Times, o.AllowVanished = test.times, allowed
				r := must(compare(test.old, test.new, o))
				var missing []string
				for _, l := range r.Missing {
					missing = append(missing, l.String())
				}
				want := test.want
				if allowed {
					want = nil
				}
				if diff := cmp.Diff(want, missing); diff != "" ||
					(r.Err() != nil) != (want != nil) ||
					len(r.Vanished) == 0 || r.Nothing != "" {
					t.Errorf("allowed %v: %s failed %v, vanished %v, nothing %q", allowed, diff,
						(r.Err() != nil),
						r.Vanished, r.Nothing)
				}
			}
		})
	}
}

// TestTwice: two counts of a benchmark are told of, but not in a baseline, whose both sides a merge
// may have kept.
func TestTwice(t *testing.T) {
	once := file(machineHead, bench{"X/order=row", around(1000, 10), 100})
	twice := once + file("", bench{"X/order=row", around(1000, 10), 50})
	for _, test := range []struct {
		old, new string
		told     bool
	}{{twice, twice, true}, {once, twice, true}, {twice, once, false}, {once, once, false}} {
		text := written("text", must(compare(test.old, test.new, usual)))
		if strings.Contains(text, "give one another name") != test.told {
			t.Errorf("want told %v:\n%s", test.told, text)
		}
	}
}

// TestNothingFormats: every format says that nothing could be compared, and what
// vanished, whatever the files say of themselves.
func TestNothingFormats(t *testing.T) {
	old := file(machineHead, bench{hostile, around(1000, 10), 100})
	for _, test := range []struct{ new, want string }{
		{file(machineHead, bench{"Y", around(1000, 10), 100}), "no benchmark is in both files"},
		{file("cpu: <script>`@all\nsim-d1: 1\n", bench{hostile, around(1000, 10), 100}),
			"times are of different machines"},
	} {
		r := must(compare(old, test.new, usual))
		for name := range check.Formats {
			text := written(name, r)
			if !strings.Contains(text, test.want) || strings.Contains(text, "No regression") {
				t.Errorf("%s does not say it:\n%s", name, text)
			}
			if page := ours.ReplaceAllString(text, ""); name == "markdown" &&
				strings.ContainsAny(page, "<`@") {
				t.Errorf("markup in %s", page)
			}
			if name == "junit" && xmlCounts(t, text)["failure"] == 0 {
				t.Errorf("junit has no failure: %s", text)
			}
		}
	}
}

// TestProperties: for any two files, swapping them turns regressions of times
// into improvements; a file against itself has neither; what is said to have
// too few samples is never found; and with the samples that are said to
// suffice, what lies apart is found.
func TestProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfNDistinct(rapid.StringMatching(`[A-Z]/k=[a-z]`), 1, 6,
			rapid.ID).Draw(t,
			"names")
		draw := func(label string) (benches []bench) {
			for i, name := range names {
				n := rapid.IntRange(1, 12).Draw(t, label)
				b := bench{name: name, misses: float64(i)}
				for range n {
					b.times = append(b.times, float64(rapid.IntRange(1, 40).Draw(t, label)))
				}
				benches = append(benches, b)
			}
			return benches
		}
		old, new := draw("old"), draw("new")
		both := func(a, b []bench) *check.Report {
			options := check.Options{Alpha: 0.05, Times: "auto"}
			return must(compare(file(machineHead, a...), file(machineHead, b...), options))
		}
		there, back := both(old, new), both(new, old)
		if a, b := len(there.Of(check.Regression)), len(back.Of(check.Improvement)); a != b {
			t.Fatalf("%d regressions, %d improvements the other way", a, b)
		}
		if r := both(old, old); len(r.Of("same")) != len(r.Comparisons) {
			t.Fatalf("a file differs from itself: %v", found(r))
		}
		need := 0
		for _, c := range there.Comparisons {
			if c.Need > 0 && c.Verdict != "same" {
				t.Fatalf("%+v was found with too few samples", c)
			}
			need = max(need, c.Need)
		}
		if need > 0 {
			for i := range old {
				old[i].times, new[i].times = around(10, need), around(20, need)
			}
			if r := both(old, new); len(r.Of(check.Regression)) != len(names) {
				t.Fatalf("%d samples do not suffice for %d benchmarks", need, len(names))
			}
		}
	})
}

// TestFalseAlarms: of clean checks of 20 benchmarks whose samples are
// independent, no more than about alpha find anything, even without a
// threshold, since Holm's correction holds that for all together.
func TestFalseAlarms(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	const checks, alpha = 60, 0.05
	alarms := 0
	for range checks {
		draw := func() (benches []bench) {
			for i := range 20 {
				b := bench{name: fmt.Sprintf("X/i=%d", i)}
				for range 10 {
					b.times = append(b.times, 1000*(1+0.1*random.ExpFloat64()))
				}
				benches = append(benches, b)
			}
			return benches
		}
		r := must(compare(file(machineHead, draw()...), file(machineHead, draw()...),
			check.Options{Alpha: alpha}))
		if len(found(r)) > 0 {
			alarms++
		}
	}
	if alarms > 3*checks*alpha+1 {
		t.Errorf("%d of %d clean checks found something", alarms, checks)
	}
}

// hostile is a name that would be markup, an escape sequence or a mention.
const hostile = "X/<script>alert(1)</script>|`*_[a](b)@all#1&www.x.y\x1b[31m\u202e"

// TestFormats: every format can be read by what it is for, whatever the names.
func TestFormats(t *testing.T) {
	old := file(machineHead, bench{hostile, around(1000, 10), 100}, bench{"Y", around(1000, 10), 0},
		bench{"V" + hostile, around(1, 2), 3})
	o := usual
	o.Baseline, o.New = "old<b>.txt", "new.txt"
	r := must(compare(old, file(machineHead, bench{hostile, around(2000, 10), 50},
		bench{"Y", around(1000, 10), 1}), o))
	outputs := map[string]string{}
	for name := range check.Formats {
		outputs[name] = written(name, r)
		if name != "json" && strings.ContainsAny(outputs[name], "\x1b\u202e") {
			t.Errorf("%s has an escape sequence: %q", name, outputs[name])
		}
		// where the files, which stand beside it, have ns
		if strings.Contains(outputs[name], "sec/") {
			t.Errorf("%s has seconds:\n%s", name, outputs[name])
		}
	}
	for _, forbidden := range []string{"<script", "<b>", "@all", "all#", "[a]", "www.", "`"} {
		if strings.Contains(outputs["markdown"], forbidden) {
			t.Errorf("markdown has %q:\n%s", forbidden, outputs["markdown"])
		}
	}
	columns := 0 // of the table that the line is in
	for line := range strings.Lines(outputs["markdown"]) {
		switch n := strings.Count(line, "|"); {
		case !strings.HasPrefix(line, "|"):
			columns = 0
		case columns == 0:
			columns = n
		case n != columns:
			t.Errorf("a row has not %d cells: %s", columns-1, line)
		}
	}
	var decoded struct {
		Regressions int
		Comparisons []struct {
			Name, Verdict, Unit string
			Baseline            float64
			Change              *float64
		}
	}
	if err := json.Unmarshal([]byte(outputs["json"]), &decoded); err != nil {
		t.Fatal(err)
	}
	if decoded.Regressions != 2 || len(decoded.Comparisons) != 4 ||
		decoded.Comparisons[2].Change != nil {
		t.Errorf("json says %+v", decoded)
	}
	if c := decoded.Comparisons[1]; c.Unit != "ns/op" || c.Baseline < 900 || c.Baseline > 1100 {
		t.Errorf("json says %+v", c)
	}
	if got := xmlCounts(t, outputs["junit"]); got["failure"] != 3 || got["testcase"] != 5 ||
		got["skipped"] != 0 {
		t.Errorf("junit has %v", got)
	}
}

// xmlCounts counts the elements of a document.
func xmlCounts(t *testing.T, text string) map[string]int {
	t.Helper()
	counts := map[string]int{}
	d := xml.NewDecoder(strings.NewReader(text))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return counts
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := token.(xml.StartElement); ok {
			counts[e.Name.Local]++
		}
	}
}

// TestMarkdownLength: a comment holds 65,536 characters, however much changed,
// and however much vanished and appeared besides.
func TestMarkdownLength(t *testing.T) {
	var olds, news []bench
	for i := range 500 {
		name := fmt.Sprintf("X/%s/i=%d", strings.Repeat("<", 190), i)
		olds, news = append(olds, bench{name, around(1000, 1), 1}),
			append(news, bench{name, around(1000, 1), 2})
	}
	r := must(compare(file(machineHead, olds...),
		file(machineHead, append(news, bench{"Z", around(1, 1), 1})...), usual))
	if page := written("markdown", r); len(page) > 65536 ||
		!strings.Contains(page, "and 450 more") {
		t.Errorf("%d characters", len(page))
	}
	for i := range 100 {
		wide := fmt.Sprintf("%s/i=%d", strings.Repeat("\U0001f600", 190), i)
		olds, news = append(olds, bench{"V" + wide, around(1, 1), 1}),
			append(news, bench{"A" + wide, around(1, 1), 1})
	}
	r = must(compare(file(machineHead, olds...), file(machineHead, news...), usual))
	if page := written("markdown", r); len(page) > 65536 || len(r.Missing) != 100 {
		t.Errorf("%d characters, %d missing", len(page), len(r.Missing))
	}
}

var ours = regexp.MustCompile("</?(code|details|summary)>")

// FuzzCompare: whatever a stranger's file holds, there is a report or an
// error, and its Markdown has no markup but ours.
func FuzzCompare(f *testing.F) {
	f.Add(file(machineHead, bench{"X", around(2000, 3), 100}))
	f.Add(file(machineHead, bench{hostile, around(2000, 3), 100}))
	f.Add("BenchmarkX 1 NaN ns/op\n")
	f.Add("Unit D1-misses/op better=higher\n" + machineHead +
		"BenchmarkX 1 -1 ns/op 1e300 D1-misses/op\n")
	old := must(results.Parse("old", []byte(file(machineHead, bench{"X", around(1000, 10), 100}))))
	f.Fuzz(func(t *testing.T, text string) {
		set, err := results.Parse("new", []byte(text))
		if err != nil {
			return
		}
		r, err := check.Compare(old, set, usual)
		if err != nil {
			return
		}
		for name := range check.Formats {
			if page := ours.ReplaceAllString(written(name, r), ""); name == "markdown" &&
				strings.ContainsAny(page, "<`") {
				t.Fatalf("markup in %s", page)
			}
		}
	})
}
