package reports

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/stridebench/stridebench/results"
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
	r.absent(&b)
	r.table(&b)
	return b.String()
}

func (r Report) absent(b *strings.Builder) {
	var commands []string
	titles := map[string][]string{}
	for _, a := range r.Absent {
		if titles[a.Command] == nil {
			commands = append(commands, a.Command)
		}
		titles[a.Command] = append(titles[a.Command], a.Title)
	}
	for i, command := range commands {
		if i == 0 {
			fmt.Fprintf(b, "\n## Charts without data\n\n")
		}
		fmt.Fprintf(b, "- %s: `%s`\n", strings.Join(titles[command], "; "), command)
	}
}

func (r Report) table(b *strings.Builder) {
	fmt.Fprintf(b, "\n## All results\n\n")
	studies := 0
	for i, row := range r.Rows {
		s := timed(row)
		if s.N == 0 { // simulated only
			studies++
			continue
		}
		if i == studies { // the first with times
			fmt.Fprintf(b, "Times are medians, ± is the half width of their 95%% confidence "+
				"interval. Misses are simulated and exact, for one pass in the steady state.\n\n"+
				"| benchmark | samples | ns/elem | ± | µs/op | GiB/s | D1 misses/elem | LL "+
				"misses/elem |\n|:--|--:|--:|--:|--:|--:|--:|--:|\n")
		}
		fmt.Fprintf(b, "| %s | %d | %s | %s | %s | %s | %s | %s |\n", cell(row.Name), s.N,
			center(row, timeUnit, 1e9), spread(s),
			center(row, passUnit, 1e6), center(row, bandwidthUnit, 1.0/(1<<30)),
			byElem(row, d1Unit), byElem(row, llUnit))
	}
	switch {
	case studies == len(r.Rows):
		fmt.Fprintf(b, "All %d are simulated only.\n", studies)
	case studies > 0:
		fmt.Fprintf(b, "\n%d more results are simulated only.\n", studies)
	}
}

func center(row results.Row, unit string, scale float64) string {
	s, ok := row.Stats[unit]
	return numeric(s.Center*scale, ok).Text
}

func byElem(row results.Row, unit string) string {
	v, ok := missesByElem(row, unit)
	if !ok {
		return ""
	}
	return digits(v.y)
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
