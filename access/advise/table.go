package advise

import (
	"fmt"
	"io"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/cost"
	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/simcache/explain"
)

func (a *Advice) title() string {
	passes := "1 pass"
	if n := a.Question.Passes; n > 1 {
		passes = explain.Say("%d", uint64(n)) + " passes"
	}
	s := a.Question.Spec
	if s.Threads > 1 {
		passes += fmt.Sprintf(" by %d threads", s.Threads)
	}
	what := a.Naive.Pattern.View().String()
	if s.From.Rank() > 0 {
		what = fmt.Sprintf("shape %s in %v", layouts.FormatShape(s.Shape), s.From)
	}
	if s.Op == access.Reorder {
		what += fmt.Sprintf(" to %v", s.To)
	}
	title := fmt.Sprintf("%s of %s, %s", s.Op, what, passes)
	if !a.Question.Torch {
		title += fmt.Sprintf("; %d ways tried, %d distinct", a.Considered, a.Different)
	}
	return title
}

// Write writes the advice for people: the verdict, a title, a table of rows (see Rows), and why.
// Lines have at most columns columns, or any length if that is 0.
func (a *Advice) Write(w io.Writer, rows []Candidate, columns int) error {
	for _, sentence := range a.Verdict() {
		fmt.Fprintln(w, explain.Fold(sentence, columns))
	}
	fmt.Fprintf(w, "\n%s\n", explain.Fold(a.title(), columns))
	if err := a.table(rows).WriteWithin(w, columns); err != nil {
		return err
	}
	return explain.WriteParagraphs(w, []string{a.Why()}, columns)
}

func (a *Advice) table(rows []Candidate) explain.Table {
	levels, n := a.Question.Model.Caches.Levels, a.Question.Passes
	header := []string{"walk"}
	bases := []Basis{Predicted}
	if a.Timed != nil {
		bases = append(bases, Measured)
	}
	for _, b := range bases {
		header = append(header, b.String(), "speedup")
	}
	for i := range levels {
		header = append(header, levels[i].Name+" misses")
	}
	t := explain.Table{append(header, "TLB walks")}
	for _, c := range rows {
		row := []string{c.Name()}
		for _, b := range bases {
			if b == Measured && !c.timed() {
				row = append(row, "", "")
				continue
			}
			row = append(row, Duration(c.total(b, n)),
				fmt.Sprintf("%.3gx", ratio(a.Naive.total(b, n), c.total(b, n))))
		}
		for k := range levels {
			missed := func(p cost.Prediction) float64 { return p.Missed(k) }
			row = append(row, explain.Say("%d", uint64(c.sum(n, missed))))
		}
		walks := c.sum(n, cost.Prediction.Walked)
		t = append(t, append(row, explain.Say("%d", uint64(walks))))
	}
	return t
}
