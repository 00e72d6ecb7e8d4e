package session

import (
	"fmt"
	"io"
	"strings"

	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/results/terminal"
	"github.com/stridebench/stridebench/simcache/explain"
)

// Table writes Write's lines as a table of width characters, with a group for each comparison, and
// notes after it, kept the last one.
func (s *Session) Table(w io.Writer, lines []byte, width int, kept string) error {
	set, err := results.Parse("the results", lines)
	if err != nil {
		return err
	}
	t := terminal.Of(s.groups(set.Rows()))
	if t.Rows != nil {
		var text strings.Builder // a table has an empty line before it
		if err := explain.Table(t.Rows).WriteWithin(&text, width); err != nil {
			return err
		}
		if _, err := io.WriteString(w, strings.TrimPrefix(text.String(), "\n")); err != nil {
			return err
		}
	}
	for _, note := range append(t.Notes, kept) {
		if _, err := fmt.Fprintln(w, explain.Fold(note, width)); err != nil {
			return err
		}
	}
	return nil
}

func (p Plan) groups(rows []results.Row) (groups []terminal.Group) {
	at := map[string]results.Row{}
	for _, r := range rows {
		at[r.Name] = r
	}
	for _, c := range p.Comparisons {
		var g terminal.Group
		for _, b := range c {
			if r, ok := at[b.Name]; ok {
				g = append(g, r)
				delete(at, b.Name)
			}
		}
		groups = append(groups, g)
	}
	var others terminal.Group
	for _, r := range rows {
		if _, left := at[r.Name]; left {
			others = append(others, r)
		}
	}
	return append(groups, others)
}
