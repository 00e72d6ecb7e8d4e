package explain

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/stridebench/stridebench/simcache"
)

const mostLines = 12

func (r Run) codeTable() Table {
	return r.rows("line", r.Code, func(l Line) string {
		if l.File == "" {
			return "(no line) " + short(l.Function)
		}
		return fmt.Sprintf("%s:%d %s", filepath.Base(l.File), l.Number, short(l.Function))
	})
}

func (r Run) functionTable() Table {
	return r.rows("function", r.Code, func(l Line) string {
		return cmp.Or(short(l.Function), "(no function)")
	})
}

// short removes the template arguments from a function's name.
func short(name string) string {
	if strings.Contains(name, "operator") { // such a name may contain <
		return name
	}
	var b strings.Builder
	depth := 0
	for _, c := range name {
		switch {
		case c == '<':
			depth++
		case c == '>':
			depth--
		case depth == 0:
			b.WriteRune(c)
		}
	}
	return b.String()
}

func (r Run) rows(what string, lines []Line, name func(Line) string) Table {
	var named []Line
	for _, l := range lines {
		named = append(named, Line{Function: name(l), Counts: l.Counts})
	}
	t, rest := r.head(what), simcache.Counts{}
	all := SumLines(named)
	for i, l := range all {
		if i < mostLines {
			t = append(t, r.misses(l.Function, l.Counts))
		} else {
			rest = rest.Add(l.Counts)
		}
	}
	if n := len(all) - mostLines; n > 0 {
		t = append(t, r.misses(Say("%d others", n), rest))
	}
	return t
}
