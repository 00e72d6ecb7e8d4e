package explain

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stridebench/stridebench/simcache"
)

// mostLines is how many rows a table of a program's lines or functions has.
const mostLines = 12

// codeTable has a row for each line of a compiled program, those that miss most first.
func (r Run) codeTable() Table {
	return r.rows("line", r.Code, func(l simcache.Line) string {
		if l.File == "" {
			return "(no line) " + short(l.Function)
		}
		return fmt.Sprintf("%s:%d %s", filepath.Base(l.File), l.Number, short(l.Function))
	})
}

// functionTable has a row for each function of a compiled program.
func (r Run) functionTable() Table {
	return r.rows("function", r.Code, func(l simcache.Line) string {
		return cmp.Or(short(l.Function), "(no function)")
	})
}

// short is the name of a function without the arguments of its templates.
func short(name string) string {
	if strings.Contains(name, "operator") { // whose name may have < in it
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

// rows sums the counts of lines by a name of theirs.
func (r Run) rows(what string, lines []simcache.Line, name func(simcache.Line) string) Table {
	type row struct {
		name string
		simcache.Counts
	}
	var all []row
	index := map[string]int{}
	for _, l := range lines {
		n := name(l)
		i, known := index[n]
		if !known {
			i, index[n] = len(all), len(all)
			all = append(all, row{name: n})
		}
		all[i].Counts = all[i].Counts.Add(l.Counts)
	}
	slices.SortStableFunc(all, func(a, b row) int {
		return cmp.Or(cmp.Compare(b.D1Misses(), a.D1Misses()), cmp.Compare(b.Refs(), a.Refs()))
	})
	t := r.missesOf(what)
	for i, one := range all {
		if i == mostLines {
			rest := simcache.Counts{}
			for _, other := range all[i:] {
				rest = rest.Add(other.Counts)
			}
			return append(t, r.misses(Say("%d others", len(all)-i), rest))
		}
		t = append(t, r.misses(one.name, one.Counts))
	}
	return t
}
