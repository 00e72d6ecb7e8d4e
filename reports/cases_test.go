package reports

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// TestCharts draws the charts of testdata/charts.txtar, whose head says what its cases are.
func TestCharts(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "charts.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range txtar.Parse(text).Files {
		t.Run(file.Name, func(t *testing.T) {
			expected, rows, _ := strings.Cut(string(file.Data), "\n\n")
			checkCase(t, strings.Split(expected, "\n"), rows)
		})
	}
}

// checkCase draws a chart of results, and checks it against lines such as "says: 2 times".
func checkCase(t *testing.T, expected []string, rows string) {
	var texts []string
	for one := range strings.SplitSeq(rows, "---\n") {
		texts = append(texts, head+written(t, one))
	}
	d := dataOf(t, texts...)
	name, absent := strings.CutPrefix(strings.TrimPrefix(expected[0], "chart: "), "!")
	var f *figure
	var err error
	for _, m := range makers { // others are what those before left
		of := d
		if m.name == "others" {
			rest := d.rest()
			of = &rest
		}
		if f, err = m.draw(of); m.name == name || err != nil {
			break
		}
	}
	if err != nil || (f == nil) != absent {
		t.Fatalf("%s is drawn: %v, %v", name, f != nil, err)
	}
	if absent {
		return
	}
	words, _ := record(f, &d.look)
	for _, line := range expected[1:] {
		what, want, _ := strings.Cut(line, ": ")
		switch what {
		case "says":
			checkParts(t, f.sentence, want)
		case "alt":
			if !isLike(f.alt, want) {
				t.Errorf("the alternative text is %q, want %q", f.alt, want)
			}
		default:
			for want := range strings.SplitSeq(want, " | ") {
				checkWord(t, append(words, f.sentence), want, what == "lacks")
			}
		}
	}
}

// checkParts checks that a sentence has some parts, in order.
func checkParts(t *testing.T, sentence, parts string) {
	t.Helper()
	rest, found := sentence, true
	for part := range strings.SplitSeq(parts, " ... ") {
		if _, rest, found = strings.Cut(rest, part); !found {
			t.Errorf("%q lacks %q", sentence, part)
		}
	}
}

// checkWord checks that a picture has a word, or so many times, or that nothing in it has it.
func checkWord(t *testing.T, words []string, want string, lacks bool) {
	t.Helper()
	times, word, counted := strings.Cut(want, " times ")
	if !counted {
		word = want
	}
	n := 0
	for _, w := range words {
		if lacks && strings.Contains(w, word) || !lacks && isLike(w, word) {
			n++
		}
	}
	if counted && strconv.Itoa(n) != times || !counted && lacks != (n == 0) {
		t.Errorf("%q is there %d times: %q", want, n, words)
	}
}

// isLike tells whether a text is another, in which a star stands for any beginning or end.
func isLike(text, want string) bool {
	beginning, begins := strings.CutSuffix(want, "*")
	end, ends := strings.CutPrefix(want, "*")
	return text == want || begins && strings.HasPrefix(text, beginning) ||
		ends && strings.HasSuffix(text, end)
}

// written are results whose lines may be short, as a benchmark format.
func written(t *testing.T, short string) string {
	t.Helper()
	var b strings.Builder
	for line := range strings.Lines(short) {
		word, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		samples, err := strconv.Atoi(word)
		if err != nil && word != "line" {
			b.WriteString(line)
			continue
		}
		name, rest, _ := strings.Cut(rest, " ")
		value, rest, _ := strings.Cut(rest, " ")
		ns, err := strconv.ParseFloat(value, 64)
		if err != nil {
			t.Fatal(err)
		}
		if word == "line" {
			fmt.Fprintf(&b, "Benchmark%s 1 100 ns/op %g ns/elem %s B/s "+
				"100 D-refs/op 50 D1-misses/op 0 LL-misses/op\n", name, ns, rest)
			continue
		}
		lines := slices.Collect(strings.Lines(sampled(name, ns, rest)))
		b.WriteString(strings.Join(lines[:samples], ""))
	}
	return b.String()
}
