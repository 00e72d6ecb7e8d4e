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
	"github.com/stridebench/stridebench/results/show"
)

// Formats maps the name of a report's format to its writer.
var Formats = map[string]func(io.Writer, *Report) error{
	"text": writeText, "markdown": writeMarkdown, "json": writeJSON, "junit": writeJUnit,
}

// summary returns the result in one line.
func (r *Report) summary() string {
	vanished := ""
	if n := len(r.Missing); n > 0 {
		vanished = fmt.Sprintf(", %d vanished", n)
	}
	if r.Nothing != "" {
		return r.Err().Error() + vanished
	}
	return fmt.Sprintf("%s, %s%s; compared %s",
		show.Counted(len(r.Of(Regression)), "regression"),
		show.Counted(len(r.Of(Improvement)), "improvement"), vanished, r.compared())
}

func (r *Report) compared() string {
	exact, timed, few := 0, 0, 0
	for _, c := range r.Comparisons {
		switch {
		case c.Exact:
			exact++
		case c.Need > 0:
			few++
		default:
			timed++
		}
	}
	var parts []string
	if exact > 0 {
		parts = append(parts, show.Counted(exact, "exact count"))
	}
	if timed > 0 {
		parts = append(parts, show.Counted(timed, "time"))
	}
	said := strings.Join(parts, " and ")
	if few > 0 {
		said += fmt.Sprintf("; %s not judged (too few samples)", show.Counted(few, "time"))
	}
	return said
}

func (r *Report) notes() []string {
	var notes []string
	for _, why := range r.notCompared() {
		notes = append(notes, "not compared: "+why)
	}
	for _, d := range r.Drift {
		notes = append(notes, "not exact: "+d)
	}
	most := listed
	if r.Nothing != "" { // no name says more than their number
		most = 1
	}
	notes = append(notes, lone("vanished", r.Vanished, "the baseline", most)...)
	notes = append(notes, lone("appeared", r.Appeared, "the new results", most)...)
	return append(notes, r.tooFew()...)
}

// lone reports what only one file has. A unit of many benchmarks is one note: another version of
// this program knows other units.
func lone(what string, list []Lone, file string, most int) []string {
	count := map[Lone]int{} // of units, without their names
	for _, l := range list {
		l.Name = ""
		count[l]++
	}
	var notes []string
	names := 0
	for _, l := range list {
		unit := Lone{"", l.Unit, l.Guarded}
		name, n := l.String(), count[unit]
		switch {
		case l.Unit == "":
			if names++; names > most {
				continue
			}
		case n > 1:
			name, count[unit] = fmt.Sprintf("%s of %d benchmarks", inFiles(l.Unit), n), 0
		case n == 0: // covered by the note of the first one
			continue
		}
		note := fmt.Sprintf("%s: %s is in %s only", what, name, file)
		if what == "vanished" && !l.Guarded {
			note += ", and is not judged"
		}
		notes = append(notes, note)
	}
	if more := names - most; more > 0 {
		notes = append(notes, fmt.Sprintf("%s: %d more in %s only", what, more, file))
	}
	return notes
}

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
		notes = append(notes, fmt.Sprintf("too few samples: %d in the baseline and %d in the new "+
			"results can never be significant; %d in both (--count %d) would suffice: %s",
			n.old, n.new, n.need, n.need, which))
	}
	return notes
}

func (r *Report) advice() []string {
	var lines []string
	if r.twice {
		lines = append(lines, "The new results have two counts of one benchmark. Names have a "+
			"file's name without its folder: if two of one name were counted, give one another "+
			"name (a link will do: ln -s b/kernel.c b-kernel.c).")
	}
	if len(r.Missing) > 0 && r.common > 0 {
		lines = append(lines, "These are no longer guarded. If that is intended: "+
			"--allow-vanished, with --update to renew the baseline.")
	}
	if len(r.Of(Improvement)) > 0 && r.Err() == nil && !r.Options.Update {
		lines = append(lines, "Something improved: renew the baseline (--update), so that it "+
			"is held.")
	}
	if !r.Options.SameMachine && slices.ContainsFunc(r.Comparisons, func(c Comparison) bool {
		return !c.Exact && c.Verdict != same
	}) {
		lines = append(lines, "The machine may explain differences between times of two runs: "+
			"--ab interleaves the samples of two programs.")
	}
	return lines
}

func writeText(w io.Writer, r *Report) error {
	var b strings.Builder
	fmt.Fprintf(&b, "baseline  %s\nnew       %s\n\n", show.Printable(r.baseline),
		show.Printable(r.new))
	for _, v := range []Verdict{Regression, Improvement, tolerated} {
		for _, c := range r.Of(v) {
			fmt.Fprintf(&b, "%-11s %s %s\n", v, show.Printable(c.Name), c.values())
		}
	}
	for _, note := range r.Notes {
		fmt.Fprintf(&b, "%s\n", show.Printable(note))
	}
	fmt.Fprintf(&b, "%s\n", show.Printable(r.summary()))
	for _, line := range r.advice() {
		fmt.Fprintln(&b, line)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// values returns, for example, "1.200 ms/op -> 1.500 ms/op (+25%, p=0.001 n=10+10)".
func (c Comparison) values() string {
	old, new := c.number(c.Old), c.number(c.New)
	if c.Exact {
		return fmt.Sprintf("%s -> %s %s (%s, exact)", old, new, show.Printable(inFiles(c.Unit)),
			c.percent())
	}
	return fmt.Sprintf("%s -> %s (%s, p=%.3g n=%d+%d)", old, new, c.percent(), c.P, c.OldN, c.NewN)
}

func (c Comparison) number(v float64) string {
	if c.Exact {
		format := byte('f')
		if math.Abs(v) >= 1e15 {
			format = 'g'
		}
		return strconv.FormatFloat(v, format, -1, 64)
	}
	return show.Printable(show.Scale(v, c.Unit))
}

func (c Comparison) percent() string {
	if math.IsInf(c.Change, 0) {
		return "from 0"
	}
	if math.Abs(c.Change) >= 100 { // four digits would give an exponent
		return fmt.Sprintf("%+.0f%%", c.Change*100)
	}
	return fmt.Sprintf("%+.4g%%", c.Change*100)
}

// A list in Markdown has at most listed rows. A page longer than fullPage gets no further row: a
// comment on GitHub holds 65,536 characters.
const (
	listed   = 50
	fullPage = 56_000
)

// writeMarkdown writes a report for a comment on a pull request. Names are escaped: they may come
// from a stranger.
func writeMarkdown(w io.Writer, r *Report) error {
	var b strings.Builder
	summary := r.summary()
	if r.Nothing != "" {
		summary = code(summary)
	}
	fmt.Fprintf(&b, "### Memory layouts: %s\n\n%s, of %s against %s.\n", r.title(), summary,
		code(r.new), code(r.baseline))
	r.markdownMissing(&b)
	for _, v := range []Verdict{Regression, Improvement, tolerated} {
		r.markdownTable(&b, v)
	}
	for _, line := range r.advice() {
		fmt.Fprintf(&b, "\n%s\n", line)
	}
	if notes := r.Notes; len(notes) > 0 {
		fmt.Fprintf(&b, "\n<details><summary>%s</summary>\n\n", show.Counted(len(notes), "note"))
		rows(&b, notes, func(note string) {
			kind, text, _ := strings.Cut(note, ": ")
			fmt.Fprintf(&b, "- %s: %s\n", kind, code(text))
		})
		fmt.Fprintf(&b, "\n</details>\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (r *Report) title() string {
	regressions, missing := len(r.Of(Regression)), len(r.Missing)
	switch {
	case r.Nothing != "":
		return ErrNothing.Error()
	case regressions > 0 && missing > 0:
		return fmt.Sprintf("%s, %d vanished", show.Counted(regressions, "regression"), missing)
	case regressions > 0:
		return show.Counted(regressions, "regression")
	case missing > 0:
		return fmt.Sprintf("%d vanished", missing)
	}
	return "No regression"
}

func (r *Report) markdownMissing(b *strings.Builder) {
	missing := r.Missing
	if len(missing) == 0 {
		return
	}
	fmt.Fprintf(b, "\n| vanished | unit |\n|:--|:--|\n")
	rows(b, missing, func(l Lone) {
		unit := "all"
		if l.Unit != "" {
			unit = code(inFiles(l.Unit))
		}
		fmt.Fprintf(b, "| %s | %s |\n", code(l.Name), unit)
	})
}

func (r *Report) markdownTable(b *strings.Builder, v Verdict) {
	found := r.Of(v)
	if len(found) == 0 {
		return
	}
	fmt.Fprintf(b, "\n| %s | unit | baseline | new | change | p |\n|:--|:--|--:|--:|--:|--:|\n", v)
	rows(b, found, func(c Comparison) {
		p := "exact"
		if !c.Exact {
			p = fmt.Sprintf("%.3g (n=%d+%d)", c.P, c.OldN, c.NewN)
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s |\n", code(c.Name), code(inFiles(c.Unit)),
			code(c.number(c.Old)), code(c.number(c.New)), c.percent(), p)
	})
}

func rows[T any](b *strings.Builder, all []T, write func(T)) {
	for i, one := range all {
		if i == listed || b.Len() > fullPage {
			fmt.Fprintf(b, "\nand %d more\n", len(all)-i)
			return
		}
		write(one)
	}
}

// longest limits the characters of a name on a page.
const longest = 200

// code sets text as code in Markdown and HTML. Characters that could be markup, end a table's cell
// or mention a user become character references, which are never markup (CommonMark 0.31, 2.5).
func code(text string) string {
	runes := []rune(show.Printable(text))
	if len(runes) > longest {
		runes = append(runes[:longest-1:longest-1], '…')
	}
	var b strings.Builder
	b.WriteString("<code>")
	for i, r := range runes {
		plain := unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(" =/,-+()", r) ||
			r == '.' && (i == 0 || runes[i-1] != 'w') // GitHub turns www. into a link
		if plain {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, "&#%d;", r)
		}
	}
	b.WriteString("</code>")
	return b.String()
}

// writeJSON writes a report for programs. A change from 0 is null.
func writeJSON(w io.Writer, r *Report) error {
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
		old, unit := results.InFiles(c.Old, c.Unit)
		new, _ := results.InFiles(c.New, c.Unit)
		j := comparison{c.Name, unit, c.Exact, old, new, [2]int{c.OldN, c.NewN}, &c.Change, nil,
			c.Verdict, c.Need}
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
		Nothing     string       `json:"nothing_compared,omitempty"` // why
		Regressions int          `json:"regressions"`
		Improved    int          `json:"improvements"`
		Alpha       float64      `json:"alpha"`
		Threshold   float64      `json:"threshold"`
		Tolerance   float64      `json:"exact_tolerance"`
		NoTimes     string       `json:"times_not_compared,omitempty"`
		NoExact     string       `json:"exact_not_compared,omitempty"` // joined by "; "
		Vanished    []string     `json:"vanished"`
		Missing     []string     `json:"missing"` // those that fail the check
		Appeared    []string     `json:"appeared"`
		NotExact    []string     `json:"not_exact"`
		Comparisons []comparison `json:"comparisons"`
	}{r.baseline, r.new, r.Nothing, len(r.Of(Regression)), len(r.Of(Improvement)), r.Options.Alpha,
		r.Options.Threshold, r.Options.ExactTolerance,
		r.NoTimes, strings.Join(r.NoExact, "; "), names(r.Vanished), names(r.Missing),
		names(r.Appeared), append([]string{}, r.Drift...), list}, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s\n", text)
	return err
}

// names is never nil, so that JSON has [].
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

// writeJUnit writes a test case for each benchmark in each unit, its class. What vanished fails,
// what appeared is skipped, and a void check fails.
func writeJUnit(w io.Writer, r *Report) error {
	s := junitSuite{Name: "bench check"}
	missing := map[Lone]bool{}
	for _, l := range r.Missing {
		missing[l] = true
	}
	for _, c := range r.Comparisons {
		j := junitCase{Class: show.Printable(inFiles(c.Unit)), Name: show.Printable(c.Name),
			Out: c.values()}
		if c.Verdict == Regression {
			j.Failure = &junitMessage{c.values(), string(Regression)}
			s.Failures++
		}
		s.Cases = append(s.Cases, j)
	}
	for _, l := range slices.Concat(r.Vanished, r.Appeared) {
		j := junitCase{Class: "in one file only", Name: show.Printable(l.String())}
		if missing[l] {
			j.Failure = &junitMessage{"it is in the baseline only", "vanished"}
			s.Failures++
		} else {
			j.Skipped = &junitMessage{Message: "in one of the files only"}
			s.Skipped++
		}
		s.Cases = append(s.Cases, j)
	}
	if r.Nothing != "" {
		s.Cases = append(s.Cases, junitCase{Class: "check", Name: ErrNothing.Error(),
			Failure: &junitMessage{show.Printable(r.Err().Error()), "nothing"}})
		s.Failures++
	}
	for _, why := range r.notCompared() {
		s.Cases = append(s.Cases, junitCase{Class: "not compared", Name: show.Printable(why),
			Skipped: &junitMessage{Message: show.Printable(why)}})
		s.Skipped++
	}
	s.Tests = len(s.Cases)
	text, err := xml.MarshalIndent(junitSuites{Tests: s.Tests, Failures: s.Failures,
		Suite: s}, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s%s\n", xml.Header, text)
	return err
}
