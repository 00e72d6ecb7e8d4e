package rearrange

import (
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/stridebench/stridebench/simcache/explain"
)

// least is the least speedup of a change that Best returns.
const least = 1.05

// faster reports whether t is predicted to take clearly less time than now, or may be.
func (t Tried) faster(now Tried) bool { return now.Ns >= least*t.Ns }

// Best returns at most this many changes, the fastest first. Of changes that differ only in a size,
// it returns the fastest. One that is not counted in all levels misses less in the first.
func (a *Answer) Best(most int) (best []Tried) {
	for _, t := range a.Tried {
		same := func(u Tried) bool { return u.Alike(t.Change) }
		better := a.whole(t) || least*float64(t.Misses[0]) <= float64(a.Now.Misses[0])
		if len(best) < most && !slices.ContainsFunc(best, same) && t.faster(a.Now) && better {
			best = append(best, t)
		}
	}
	return best
}

// whole reports whether a change is counted in all levels.
func (a *Answer) whole(t Tried) bool { return len(t.Misses) == len(a.Levels) }

// Write writes the answer, a table of the best changes, and their diff in the source.
func (a *Answer) Write(w io.Writer, most, columns int) error {
	best := a.Best(most)
	if _, err := fmt.Fprintln(w, explain.Fold(a.sentence(best), max(columns, 80))); err != nil {
		return err
	}
	table := explain.Table{{"change"}}
	for _, level := range a.Levels {
		table[0] = append(table[0], level+" misses")
	}
	table[0] = append(table[0], "time", "dependences")
	for _, t := range append([]Tried{a.Now}, best...) {
		row := []string{t.Words}
		for _, n := range t.Misses {
			row = append(row, explain.Say("%d", n))
		}
		took := brief(t.Ns)
		if left := len(a.Levels) - len(t.Misses); left > 0 {
			row, took = append(row, slices.Repeat([]string{"not counted"}, left)...), "over "+took
		}
		verdict := t.Kept
		if t.Chain == nil { // accesses keep their order
			verdict = "kept"
		}
		table = append(table, append(row, took, verdict))
	}
	if err := table.WriteWithin(w, 80); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n"+a.rest(best)+"\n"+a.source(best))
	return err
}

func (a *Answer) sentence(best []Tried) string {
	switch {
	case len(a.Tried) == 0 && a.Left > 0:
		return "Nothing is known: each change takes longer to count than --limit allows."
	case len(best) == 0:
		return "Leave it as it is: nothing that was tried is faster."
	}
	b := best[0]
	var misses []string
	for i, level := range a.Levels[:len(b.Misses)] {
		how := "stay at"
		switch {
		case b.Misses[i] < a.Now.Misses[i]:
			how = explain.Say("fall from %d to", a.Now.Misses[i])
		case b.Misses[i] > a.Now.Misses[i]:
			how = explain.Say("rise from %d to", a.Now.Misses[i])
		}
		misses = append(misses, explain.Say("%s misses %s %d", level, how, b.Misses[i]))
	}
	whole, about := strings.ToUpper(b.Words[:1])+b.Words[1:], "about"
	if !a.whole(b) {
		whole, about = "Perhaps "+b.Words, "over"
	}
	text := fmt.Sprintf("%s: %s. A pass takes %s %s instead of %s.", whole, explain.List(misses),
		about, brief(b.Ns), brief(a.Now.Ns))
	switch {
	case b.Chain == nil:
	case b.Kept == "kept":
		text += " That is proved to change no dependence."
	case b.Kept == "broken":
		text += " It changes the order of a dependence, and so perhaps the result."
	default:
		text += " Whether it changes a dependence was not proved."
	}
	return text
}

func (a *Answer) rest(best []Tried) string {
	text := explain.Say("%s, counted exactly in each; %s tried",
		explain.Counted(int(a.Refs), "reference"), explain.Counted(len(a.Tried), "change"))
	if a.Left > 0 {
		text += explain.Say(", %d counts were left out, which take longer than --limit", a.Left)
	}
	return explain.Fold(text+". Times are predicted, "+a.model.Brief()+".", 80) + "\n"
}

func brief(ns float64) string {
	d := time.Duration(ns)
	for i, unit := range []time.Duration{time.Second, time.Millisecond, time.Microsecond} {
		if d >= unit {
			name := []string{"s", "ms", "µs"}[i]
			return fmt.Sprintf("%.3g %s", float64(d)/float64(unit), name)
		}
	}
	return fmt.Sprintf("%d ns", d)
}

// source shows a diff for an exchange of loops, and the loops to add for tiles.
func (a *Answer) source(best []Tried) (text string) {
	if len(best) > 0 && best[0].Tiled != nil {
		text = explain.Fold(best[0].tiles(), 80) + "\n"
	}
	for _, t := range best {
		if t.Order == nil || !a.whole(t) {
			continue
		}
		lines := strings.Split(string(a.text), "\n")
		if diff := exchanged(a.file.Function, lines, t); diff != "" {
			name := a.name(t)
			return text + fmt.Sprintf("--- %s\n+++ %s\n%s", name, name, diff)
		}
	}
	return text
}

func (t Tried) tiles() string {
	var around, within []string
	for _, name := range t.Tiled {
		around = append(around, fmt.Sprintf("%s%[1]s += %d", name, t.Size))
		tile := name + name
		within = append(within,
			fmt.Sprintf("%s from %s to min(%s + %d, its end)", name, tile, tile, t.Size))
	}
	return fmt.Sprintf("Tiles: around the loops at line %d, loops with %s over the same ranges; "+
		"inside, %s.", t.Place, explain.List(around), explain.List(within))
}

func (a *Answer) name(t Tried) string {
	for _, s := range a.file.Statements {
		if s.Pos.Line == t.Place {
			return filepath.ToSlash(s.Pos.File)
		}
	}
	return a.file.Function + ".c"
}

// exchanged returns a hunk with the heads of loops in their new order, "" unless each head is on a
// line of its own.
func exchanged(function string, lines []string, t Tried) string {
	// begin and end of each loop's head in its line
	heads := make([][2]int, len(t.Chain))
	at := make([]int, len(t.Chain))
	line := min(t.Place, len(lines)) - 1
	for l := len(t.Chain) - 1; l >= 0; l-- {
		name := regexp.QuoteMeta(t.Chain[l].Name)
		head := regexp.MustCompile(`\bfor\s*\([^;]*\b` + name + `\s*=[^;]*;`)
		for ; line >= 0; line-- {
			if from := head.FindStringIndex(lines[line]); from != nil {
				heads[l] = [2]int{from[0], closing(lines[line], from[0])}
				break
			}
		}
		if line < 0 || heads[l][1] < 0 {
			return ""
		}
		at[l] = line
		line--
	}
	first, last := at[0], at[len(at)-1]
	var removed, added []string
	for i := first; i <= last; i++ {
		l := slices.Index(at, i)
		if l < 0 {
			removed, added = append(removed, "-"+lines[i]), append(added, "+"+lines[i])
			continue
		}
		from := t.Order[l]
		head := lines[at[from]][heads[from][0]:heads[from][1]]
		removed = append(removed, "-"+lines[i])
		added = append(added, "+"+lines[i][:heads[l][0]]+head+lines[i][heads[l][1]:])
	}
	n := last - first + 1
	return fmt.Sprintf("@@ -%d,%d +%d,%d @@ %s\n%s\n%s\n", first+1, n, first+1, n, function,
		strings.Join(removed, "\n"), strings.Join(added, "\n"))
}

// closing returns the index after the parenthesis that closes the first one from here, or -1.
func closing(text string, from int) int {
	depth := 0
	for i := from; i < len(text); i++ {
		switch text[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return -1
}

// A Row is the JSON of a change.
type Row struct {
	Change      string            `json:"change"`
	Misses      map[string]uint64 `json:"misses"`
	Ns          float64           `json:"ns"`
	Dependences string            `json:"dependences"`
}

// JSON returns the content of Write as a value for encoding/json.
func (a *Answer) JSON(most int) any {
	row := func(t Tried) Row {
		r := Row{Change: t.Words, Misses: map[string]uint64{}, Ns: t.Ns,
			Dependences: t.Kept}
		for i, n := range t.Misses {
			r.Misses[a.Levels[i]] = n
		}
		return r
	}
	rows := []Row{}
	for _, t := range a.Best(most) {
		rows = append(rows, row(t))
	}
	return map[string]any{"references": a.Refs, "now": row(a.Now), "best": rows,
		"tried": len(a.Tried), "left": a.Left}
}
