package check

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/stridebench/stridebench/results"
)

// Formats are the formats of a report, by name.
var Formats = map[string]func(io.Writer, *Report) error{
	"text": WriteText, "markdown": WriteMarkdown, "json": WriteJSON, "junit": WriteJUnit,
}

// Summary says in a line what was found.
func (r *Report) Summary() string {
	exact, timed := 0, 0
	for _, c := range r.Comparisons {
		if c.Exact {
			exact++
		} else {
			timed++
		}
	}
	return fmt.Sprintf("%s, %s; compared %s and %s", plural(len(r.Of(Regression)), "regression"), plural(len(r.Of(Improvement)), "improvement"),
		plural(exact, "exact count"), plural(timed, "time"))
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Notes are what else there is to say, a line each.
func (r *Report) Notes() []string {
	var notes []string
	for _, why := range r.notCompared() {
		notes = append(notes, "not compared: "+why)
	}
	for _, d := range r.Drift {
		notes = append(notes, "not exact: "+d)
	}
	notes = append(notes, lone("vanished", r.Vanished, "the baseline")...)
	notes = append(notes, lone("appeared", r.Appeared, "the new results")...)
	return append(notes, r.tooFew()...)
}

// lone says what only one of the files has, a unit of many benchmarks in one
// note: another version of this program knows other units.
func lone(what string, list []Lone, file string) []string {
	count := map[string]int{}
	for _, l := range list {
		count[l.Unit]++
	}
	var notes []string
	for _, l := range list {
		name := l.String()
		if n := count[l.Unit]; l.Unit != "" && n > 1 {
			name, count[l.Unit] = fmt.Sprintf("%s of %d benchmarks", l.Unit, n), 0
		} else if n == 0 { // said with the first of it
			continue
		}
		notes = append(notes, fmt.Sprintf("%s: %s is in %s only", what, name, file))
	}
	return notes
}

// tooFew says which times can never be significant, those with the same
// numbers of samples together.
func (r *Report) tooFew() []string {
	type numbers struct{ old, new, need int }
	groups := map[numbers][]string{}
	var order []numbers
	for _, c := range r.Comparisons {
		if c.Need == 0 {
			continue
		}
		n := numbers{c.OldN, c.NewN, c.Need}
		if groups[n] == nil {
			order = append(order, n)
		}
		groups[n] = append(groups[n], c.Name)
	}
	var notes []string
	for _, n := range order {
		names := groups[n]
		which := names[0]
		if len(names) > 1 {
			which += fmt.Sprintf(" and %d more", len(names)-1)
		}
		notes = append(notes, fmt.Sprintf("too few samples: %d in the baseline and %d in the new results can never be significant; %d in both (--count %d) would suffice: %s",
			n.old, n.new, n.need, n.need, which))
	}
	return notes
}

// advice is what to do about what was found, a line each.
func (r *Report) advice() []string {
	var lines []string
	if len(r.Of(Improvement)) > 0 && len(r.Of(Regression)) == 0 {
		lines = append(lines, "Something improved: renew the baseline (--update), so that it is held.")
	}
	if !r.Options.SameMachine && slices.ContainsFunc(r.Comparisons, func(c Comparison) bool { return !c.Exact && c.Verdict != Same }) {
		lines = append(lines, "Times differ between two runs, which what the machine did meanwhile explains too: --ab takes the samples of two programs by turns.")
	}
	return lines
}

// WriteText writes a report for a terminal.
func WriteText(w io.Writer, r *Report) error {
	var b strings.Builder
	fmt.Fprintf(&b, "baseline  %s\nnew       %s\n\n", results.Printable(r.Baseline), results.Printable(r.New))
	for _, v := range []Verdict{Regression, Improvement, Tolerated} {
		for _, c := range r.Of(v) {
			fmt.Fprintf(&b, "%-11s %s %s\n", v, results.Printable(c.Name), c.values())
		}
	}
	for _, note := range r.Notes() {
		fmt.Fprintf(&b, "%s\n", results.Printable(note))
	}
	fmt.Fprintf(&b, "%s\n", r.Summary())
	for _, line := range r.advice() {
		fmt.Fprintln(&b, line)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// values is the comparison in words: "sec/op 1.200m -> 1.500m (+25.0%, p=0.001 n=10+10)".
func (c Comparison) values() string {
	old, new := c.number(c.Old), c.number(c.New)
	if c.Exact {
		return fmt.Sprintf("%s -> %s %s (%s, exact)", old, new, results.Printable(c.Unit), c.percent())
	}
	return fmt.Sprintf("%s -> %s (%s, p=%.3g n=%d+%d)", old, new, c.percent(), c.P, c.OldN, c.NewN)
}

// number is a value of the comparison's unit: a count whole, a time scaled.
func (c Comparison) number(v float64) string {
	if c.Exact {
		format := byte('f')
		if math.Abs(v) >= 1e15 {
			format = 'g'
		}
		return strconv.FormatFloat(v, format, -1, 64)
	}
	return results.Printable(results.Scale(v, c.Unit))
}

func (c Comparison) percent() string {
	if math.IsInf(c.Change, 0) {
		return "from 0"
	}
	return fmt.Sprintf("%+.4g%%", c.Change*100)
}

// listed is how many rows a table or list in Markdown has at most: a comment
// on GitHub holds 65,536 characters.
const listed = 50

// WriteMarkdown writes a report that fits a comment on a pull request and a
// job's summary. Names are escaped: they may come from a stranger.
func WriteMarkdown(w io.Writer, r *Report) error {
	var b strings.Builder
	title := "No regression"
	if n := len(r.Of(Regression)); n > 0 {
		title = plural(n, "regression")
	}
	fmt.Fprintf(&b, "### Memory layouts: %s\n\n%s, of %s against %s.\n", title, r.Summary(), code(r.New), code(r.Baseline))
	for _, v := range []Verdict{Regression, Improvement, Tolerated} {
		r.markdownTable(&b, v)
	}
	for _, line := range r.advice() {
		fmt.Fprintf(&b, "\n%s\n", line)
	}
	if notes := r.Notes(); len(notes) > 0 {
		fmt.Fprintf(&b, "\n<details><summary>%s</summary>\n\n", plural(len(notes), "note"))
		for _, note := range notes[:min(listed, len(notes))] {
			kind, text, _ := strings.Cut(note, ": ")
			fmt.Fprintf(&b, "- %s: %s\n", kind, code(text))
		}
		more(&b, len(notes))
		fmt.Fprintf(&b, "\n</details>\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (r *Report) markdownTable(b *strings.Builder, v Verdict) {
	found := r.Of(v)
	if len(found) == 0 {
		return
	}
	fmt.Fprintf(b, "\n| %s | unit | baseline | new | change | p |\n|:--|:--|--:|--:|--:|--:|\n", v)
	for _, c := range found[:min(listed, len(found))] {
		p := "exact"
		if !c.Exact {
			p = fmt.Sprintf("%.3g (n=%d+%d)", c.P, c.OldN, c.NewN)
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s |\n", code(c.Name), code(c.Unit), code(c.number(c.Old)), code(c.number(c.New)), c.percent(), p)
	}
	more(b, len(found))
}

func more(b *strings.Builder, n int) {
	if n > listed {
		fmt.Fprintf(b, "\nand %d more\n", n-listed)
	}
}

// longest is how many characters of a name a page shows.
const longest = 200

// code sets text as code in Markdown and HTML. All that could be markup, end a
// table's cell, or call somebody is written as a character reference, which
// never is (CommonMark 0.31, 2.5).
func code(text string) string {
	runes := []rune(results.Printable(text))
	if len(runes) > longest {
		runes = append(runes[:longest-1:longest-1], '…')
	}
	var b strings.Builder
	b.WriteString("<code>")
	for i, r := range runes {
		plain := unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(" =/,-+()", r) ||
			r == '.' && (i == 0 || runes[i-1] != 'w') // GitHub makes a link of www.
		if plain {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, "&#%d;", r)
		}
	}
	b.WriteString("</code>")
	return b.String()
}

// WriteJSON writes a report for programs. A change from 0 is null.
func WriteJSON(w io.Writer, r *Report) error {
	type comparison struct {
		Name     string   `json:"name"`
		Unit     string   `json:"unit"`
		Exact    bool     `json:"exact"`
		Baseline float64  `json:"baseline"`
		New      float64  `json:"new"`
		Samples  [2]int   `json:"samples"`
		Change   *float64 `json:"change"`
		P        *float64 `json:"p,omitempty"`
		Verdict  Verdict  `json:"verdict"`
		Need     int      `json:"need,omitempty"`
	}
	list := []comparison{}
	for _, c := range r.Comparisons {
		j := comparison{c.Name, c.Unit, c.Exact, c.Old, c.New, [2]int{c.OldN, c.NewN}, &c.Change, nil, c.Verdict, c.Need}
		if math.IsInf(c.Change, 0) {
			j.Change = nil
		}
		if !c.Exact {
			j.P = &c.P
		}
		list = append(list, j)
	}
	text, err := json.MarshalIndent(struct {
		Baseline    string       `json:"baseline"`
		New         string       `json:"new"`
		Regressions int          `json:"regressions"`
		Improved    int          `json:"improvements"`
		Alpha       float64      `json:"alpha"`
		Threshold   float64      `json:"threshold"`
		Tolerance   float64      `json:"exact_tolerance"`
		NoTimes     string       `json:"times_not_compared,omitempty"`
		NoExact     string       `json:"exact_not_compared,omitempty"` // reasons, joined by "; "
		Vanished    []string     `json:"vanished"`
		Appeared    []string     `json:"appeared"`
		NotExact    []string     `json:"not_exact"`
		Comparisons []comparison `json:"comparisons"`
	}{r.Baseline, r.New, len(r.Of(Regression)), len(r.Of(Improvement)), r.Options.Alpha, r.Options.Threshold, r.Options.ExactTolerance,
		r.NoTimes, strings.Join(r.NoExact, "; "), names(r.Vanished), names(r.Appeared), append([]string{}, r.Drift...), list}, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s\n", text)
	return err
}

// names is never nil, so that JSON has an empty list.
func names(list []Lone) []string {
	all := []string{}
	for _, l := range list {
		all = append(all, l.String())
	}
	return all
}

// The elements of JUnit's format that GitLab, Jenkins and others read
// (https://docs.gitlab.com/ci/testing/unit_test_reports/).
type (
	junitSuites struct {
		XMLName  xml.Name `xml:"testsuites"`
		Tests    int      `xml:"tests,attr"`
		Failures int      `xml:"failures,attr"`
		Suite    junitSuite
	}
	junitSuite struct {
		XMLName  xml.Name `xml:"testsuite"`
		Name     string   `xml:"name,attr"`
		Tests    int      `xml:"tests,attr"`
		Failures int      `xml:"failures,attr"`
		Skipped  int      `xml:"skipped,attr"`
		Cases    []junitCase
	}
	junitCase struct {
		XMLName xml.Name      `xml:"testcase"`
		Class   string        `xml:"classname,attr"`
		Name    string        `xml:"name,attr"`
		Failure *junitMessage `xml:"failure"`
		Skipped *junitMessage `xml:"skipped"`
		Out     string        `xml:"system-out,omitempty"`
	}
	junitMessage struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr,omitempty"`
	}
)

// WriteJUnit writes a report as JUnit's XML: a test case for each benchmark in
// each unit, its class the unit. What vanished or appeared is skipped.
func WriteJUnit(w io.Writer, r *Report) error {
	s := junitSuite{Name: "bench check"}
	for _, c := range r.Comparisons {
		j := junitCase{Class: results.Printable(c.Unit), Name: results.Printable(c.Name), Out: c.values()}
		if c.Verdict == Regression {
			j.Failure = &junitMessage{c.values(), string(Regression)}
			s.Failures++
		}
		s.Cases = append(s.Cases, j)
	}
	for _, l := range slices.Concat(r.Vanished, r.Appeared) {
		s.Cases = append(s.Cases, junitCase{Class: "in one file only", Name: results.Printable(l.String()), Skipped: &junitMessage{Message: "in one of the files only"}})
		s.Skipped++
	}
	for _, why := range r.notCompared() {
		s.Cases = append(s.Cases, junitCase{Class: "not compared", Name: results.Printable(why), Skipped: &junitMessage{Message: results.Printable(why)}})
		s.Skipped++
	}
	s.Tests = len(s.Cases)
	text, err := xml.MarshalIndent(junitSuites{Tests: s.Tests, Failures: s.Failures, Suite: s}, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s%s\n", xml.Header, text)
	return err
}
