package bill

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/stridebench/stridebench/access/advise"
	"github.com/stridebench/stridebench/access/cost"
	"github.com/stridebench/stridebench/access/operators"
	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/simcache/explain"
)

// Write prints the bill for people: its subject, the most expensive operators (at most worst), and
// notes. Lines have at most columns columns, or any length if that is 0.
func (b *Bill) Write(w io.Writer, worst, columns int) error {
	head := []string{"operator", "calls", "time", "layout"}
	for _, l := range b.levels {
		head = append(head, l+" misses")
	}
	rows := b.Worst(worst)
	t := explain.Table{head}
	for _, i := range rows {
		calls := explain.Say("%d", i.Calls)
		row := []string{i.Op, calls, advise.Duration(i.Ns), advise.Duration(i.Layout)}
		for _, m := range i.Predicted.Misses[:len(b.levels)] {
			row = append(row, explain.Say("%.0f", m.Count*float64(i.Calls)))
		}
		t = append(t, row, []string{"    " + i.Tensors()}, []string{"    " + i.Said()})
	}
	return b.write(w, columns, b.Sentence(), t, b.rest(rows))
}

// write writes the head and a sentence, a table if it has rows, and paragraphs.
func (s Subject) write(w io.Writer, columns int, sentence string, t explain.Table,
	paragraphs []string) error {
	for _, line := range append(s.Lead(), s.PredictedFor(), sentence) {
		fmt.Fprintln(w, explain.Fold(line, columns))
	}
	if len(t) > 1 {
		if err := t.WriteWithin(w, columns); err != nil {
			return err
		}
	}
	return explain.WriteParagraphs(w, paragraphs, columns)
}

// A Subject is a profile and the machine that is predicted for.
type Subject struct {
	Sources  []string        `json:"sources"`
	Warnings []string        `json:"warnings,omitempty"` // a line each
	Model    string          `json:"cost_model"`
	OnDevice bool            `json:"on_device,omitzero"` // a GPU's profile, with times of a CPU
	Operands operators.Tally `json:"operands"`

	brief string // the Model in few words
}

func subjectOf(p *operators.Profile, m cost.Model) Subject {
	return Subject{p.Sources, p.Warnings, m.String(), p.OnDevice, p.Tally, m.Brief()}
}

// Lead returns the sources, a line each. For a profile of a GPU it begins with what holds on any
// device.
func (s Subject) Lead() []string {
	if !s.OnDevice {
		return slices.Clone(s.Sources)
	}
	t := s.Operands
	return append([]string{
		"recorded on a GPU: " +
			"times are of the same operators on a CPU, and predict nothing of this step",
		explain.Say("on any device: %d of %d operands (%d of %d B) are transposed, ",
			t.Transposed, t.All, t.TransposedBytes, t.Bytes) +
			explain.Say("and %d (%d B) strided", t.Strided, t.StridedBytes),
	}, s.Sources...)
}

// PredictedFor names the machine in a line. Model has all its times.
func (s Subject) PredictedFor() string {
	if s.OnDevice {
		return "CPU times for " + s.brief
	}
	return "predicted for " + s.brief
}

// Notes say which operators have no price or no result.
func (b *Bill) Notes() []string { return b.rest(b.Operators) }

// Worst returns at most most operators: those with the most expensive layouts, then those that take
// longest.
func (b *Bill) Worst(most int) []Item {
	var rows []Item
	for _, i := range b.Operators {
		if i.Predicted != nil && i.Ns > 0 && len(rows) < most {
			rows = append(rows, i)
		}
	}
	return rows
}

func (b *Bill) rest(shown []Item) []string {
	calls, views, unpriced, unwritten, bytes := 0, 0, 0, 0, int64(0)
	var names []string
	for n, i := range b.Operators {
		if i.Unwritten {
			unwritten += i.Calls
		}
		switch {
		case i.Class == operators.View:
			views += i.Calls
		case !i.Class.Touches(): // it only calls others, or needs no memory
		case i.Predicted == nil:
			unpriced += i.Calls
			bytes = operators.Plus(bytes, i.Bytes)
			if !slices.Contains(names, i.Op) {
				names = append(names, i.Op)
			}
		case n >= len(shown):
			calls += i.Calls
		}
	}
	var words []string
	if calls+views > 0 {
		words = append(words, fmt.Sprintf("Not shown: %s, %s (free).",
			explain.Counted(calls, "call"), explain.Counted(views, "view")))
	}
	if unpriced > 0 {
		if len(names) > 5 {
			names = append(names[:5], "and others")
		}
		words = append(words, fmt.Sprintf("Not priced: %s (%s B): %s.",
			explain.Counted(unpriced, "call"), explain.Say("%d", bytes), strings.Join(names, ", ")))
	}
	say := func(calls int, text string) {
		if calls > 0 {
			words = append(words, fmt.Sprintf(text, explain.Counted(calls, "call")))
		}
	}
	say(unwritten, "Priced by inputs alone: %s. The profile lacks the result.")
	if b.nowhere && b.Layout > 0 {
		words = append(words, "The profile does not say where tensors are: "+
			"advice goes by their shapes and callers (scripts/capture records more).")
	}
	lost := 0
	for _, s := range b.Skipped {
		if !slices.ContainsFunc(b.Operators, func(i Item) bool {
			return i.Op == s.Op && i.Predicted == nil
		}) {
			lost += s.Calls
		}
	}
	say(lost, "Skipped: %s (--json says which, and why).")
	return words
}

// Said returns the verdict, with what the time leaves out and who called.
func (i Item) Said() string { return i.Verdict + i.from() }

// from returns what the time leaves out, and the caller of most calls with the number of others.
func (i Item) from() (text string) {
	if i.Unwritten {
		text = "; its result is unknown, and not in the time"
	}
	if i.Computes {
		text += "; compute-bound: only its memory time is counted"
	}
	if len(i.Callers) == 0 {
		return text
	}
	text += "; called by " + i.Callers[0].Chain
	if n := i.Callers[0].Calls; n < i.Calls {
		text += fmt.Sprintf(" in %s of these calls", explain.Say("%d", n))
	}
	if n := len(i.Callers) - 1; n > 0 {
		text += ", and by " + explain.Counted(n, "other")
	}
	return text
}

// Tensors returns the operands as text, such as "float32 8x4[1,8] -> 8x4". Strides stand where they
// are not contiguous.
func (i Item) Tensors() string {
	dtype := ""
	text := func(o operators.Tensor) string {
		t := tensorText(o)
		if o.DType != dtype {
			t, dtype = o.DType+" "+t, o.DType
		}
		return t
	}
	var in, out []string
	all := slices.Concat(i.Inputs, i.Outputs)
	for _, o := range all {
		switch o.Role {
		case operators.Input:
			in = append(in, text(o))
		case operators.InPlace:
			in = append(in, text(o)+" (in place)")
		}
	}
	for _, o := range all {
		if o.Role == operators.Output {
			out = append(out, text(o))
		}
	}
	line := strings.Join(in, ", ")
	if len(out) > 0 {
		line += " -> " + strings.Join(out, ", ")
	}
	return line
}

func tensorText(o operators.Tensor) string {
	t := layouts.FormatShape(o.Shape)
	if o.Format != "" {
		return t + "[" + o.Format + "]"
	} else if !contiguous(o) {
		t += strings.ReplaceAll(fmt.Sprint(o.Strides), " ", ",")
	}
	return t
}

// Write prints the step for people: the calls that take longest (at most worst), in order, and the
// best fusions. Lines have at most columns columns, or any length if that is 0.
func (s *Step) Write(w io.Writer, worst, columns int) error {
	sentence := fmt.Sprintf("%s in sequence take %s; "+
		"each starts with the caches that the previous one left",
		explain.Counted(len(s.Calls), "call"), advise.Duration(s.Ns))
	longest := slices.Clone(s.Calls)
	slices.SortStableFunc(longest, func(x, y StepCall) int { return cmp.Compare(y.Ns, x.Ns) })
	longest = longest[:min(len(longest), worst)]
	slices.SortFunc(longest, func(x, y StepCall) int { return cmp.Compare(x.Number, y.Number) })
	head := []string{"operator", "call", "time"}
	for _, m := range s.Misses {
		head = append(head, m.Level+" misses")
	}
	t := explain.Table{append(head, "still in "+s.Misses[len(s.Misses)-1].Level)}
	for _, c := range longest {
		row := []string{c.Op, fmt.Sprint(c.Number), advise.Duration(c.Ns)}
		for _, m := range c.Misses {
			row = append(row, explain.Say("%.0f", m.Count))
		}
		for range len(s.Misses) - len(c.Misses) {
			row = append(row, "")
		}
		t = append(t, append(row, c.found()))
	}
	return s.write(w, columns, sentence, t, s.words(len(s.Calls)-len(longest)))
}

func (c StepCall) found() string {
	text := ""
	for _, f := range c.Found {
		if last := f.Fewer[len(f.Fewer)-1].Count; last > 0 {
			if text != "" {
				text += ", "
			}
			text += fmt.Sprintf("%s from call %d", explain.Say("%.0f", last), f.From)
		}
	}
	return text
}

// words returns how many calls are hidden, what fusing would save, and how many calls were not
// simulated.
func (s *Step) words(hidden int) []string {
	var words []string
	if hidden > 0 {
		words = append(words, "Not shown: "+explain.Counted(hidden, "shorter call")+".")
	}
	for _, f := range s.Fusions[:min(len(s.Fusions), 3)] {
		words = append(words, fmt.Sprintf("Fusing call %d (%s) with call %d (%s), which reads "+
			"its result, would save %s: %s %s misses.",
			f.First, s.Calls[f.First-1].Op, f.Second, s.Calls[f.Second-1].Op, advise.Duration(f.Ns),
			explain.Say("%.0f", f.Saved[0].Count), f.Saved[0].Level))
	}
	left := 0
	for _, c := range s.Calls {
		if c.Problem != "" {
			left++
		}
	}
	if left > 0 {
		words = append(words, fmt.Sprintf("Not simulated: %s (--json says why).",
			explain.Counted(left, "call")))
	}
	return words
}
