package reports

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

func (r Report) summary() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# What the layouts cost\n\n%s\n", cell(r.Machine))
	for _, w := range r.Warnings {
		fmt.Fprintf(&b, "\n**Warning:** %s\n", cell(w))
	}
	for _, c := range r.Charts {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n![%s](%s.png)\n", cell(c.Title), cell(c.Sentence),
			cell(c.Alt), c.Name)
	}
	if r.Absent != nil {
		b.WriteString("\n## Charts without data\n\n")
	}
	for _, a := range r.Absent {
		fmt.Fprintf(&b, "- %s: `%s`\n", a.Title, a.Command)
	}
	b.WriteString("\n## All results\n\nTimes are medians, ± is the half width of their 95% " +
		"confidence " +
		"interval. Misses are simulated and exact, for one pass in the steady state.\n")
	for _, t := range tables(r.Rows, len(r.Rows)) {
		t.markdown(&b)
	}
	return b.String()
}

func (t table) markdown(b *strings.Builder) {
	fmt.Fprintf(b, "\n### %s\n", cell(t.Family))
	if t.Shared != "" {
		fmt.Fprintf(b, "\nCommon to all rows: %s.\n", cell(t.Shared))
	}
	heads, rule := "\n|", "|"
	for i, name := range t.Columns {
		heads += " " + cell(name) + " |"
		if t.Numeric(i) {
			rule += "--:|"
		} else {
			rule += ":--|"
		}
	}
	fmt.Fprintf(b, "%s\n%s\n", heads, rule)
	for _, row := range t.Rows {
		b.WriteString("|")
		for _, c := range row {
			fmt.Fprintf(b, " %s |", cell(c.Text))
		}
		b.WriteString("\n")
	}
}

// cell escapes what would end a table's cell or begin markup: names may come from a stranger's
// file.
func cell(text string) string {
	return strings.NewReplacer("|", "\\|", "<", "&lt;", "&", "&amp;", "[", "\\[", "`", "\\`", "*",
		"\\*", "_", "\\_").Replace(text)
}

// percent formats a rate to at most two decimals, "" if there is none.
func percent(q point, ok bool) string {
	if !ok {
		return ""
	}
	return strconv.FormatFloat(math.Round(q.y*100)/100, 'f', -1, 64)
}
