package bill

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/stridebench/stridebench/access/advise"
	"github.com/stridebench/stridebench/access/operators"
	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/simcache/explain"
)

// Write prints the bill for people: what it is of, the worst of its operators, the
// totals, and what is not understood; in lines of so many columns, unless these are 0.
func (b *Bill) Write(w io.Writer, worst, columns int) error {
	for _, line := range append(b.Lead(), b.PredictedFor(), b.Sentence()) {
		fmt.Fprintln(w, explain.Fold(line, columns))
	}
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
	if len(rows) > 0 {
		if err := t.WriteWithin(w, columns); err != nil {
			return err
		}
	}
	return explain.WriteParagraphs(w, b.rest(rows), columns)
}

// Lead is what a bill is of, its sources. Before them stands what holds on any device, if the
// profile is of a GPU.
func (b *Bill) Lead() []string { return lead(b.OnDevice, b.Operands, b.Sources) }

func lead(onDevice bool, t operators.Tally, sources []string) []string {
	if !onDevice {
		return slices.Clone(sources)
	}
	return append([]string{
		"recorded on a GPU: times are of the same operators on a CPU, and predict nothing of this step",
		explain.Say("on any device: %d of %d operands (%d of %d B) are transposed, ",
			t.Transposed, t.All, t.TransposedBytes, t.Bytes) +
			explain.Say("and %d (%d B) strided", t.Strided, t.StridedBytes),
	}, sources...)
}

// PredictedFor says in words for which machine. Model has all that its times are made of.
func (b *Bill) PredictedFor() string { return predictedFor(b.OnDevice, b.brief) }

func predictedFor(onDevice bool, brief string) string {
	if onDevice {
		return "CPU times for " + brief
	}
	return "predicted for " + brief
}

// Notes say what of the bill has no price, and how much there is besides what
// costs.
func (b *Bill) Notes() []string { return b.rest(b.Operators) }

// Worst are the operators of which the layout costs most, at most so many, and as
// many of those that take longest as are left.
func (b *Bill) Worst(most int) []Item {
	var rows []Item
	for _, i := range b.Operators {
		if i.Predicted != nil && i.Ns > 0 && len(rows) < most {
			rows = append(rows, i)
		}
	}
	return rows
}

// rest says in words what is not among the operators shown, the first of the bill.
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
			bytes = plus(bytes, i.Bytes)
			if !slices.Contains(names, i.Op) {
				names = append(names, i.Op)
			}
		case n >= len(shown):
			calls += i.Calls
		}
	}
	var words, hidden []string
	if calls > 0 {
		hidden = append(hidden, explain.Counted(calls, "call"))
	}
	if views > 0 {
		hidden = append(hidden, explain.Counted(views, "view")+" (free)")
	}
	if hidden != nil {
		words = append(words, "Not shown: "+strings.Join(hidden, ", ")+".")
	}
	if unpriced > 0 {
		more := ""
		if len(names) > 5 {
			names, more = names[:5], " and others"
		}
		words = append(words, fmt.Sprintf("Not priced: %s (%s B): %s%s.",
			explain.Counted(unpriced, "call"), explain.Say("%d", bytes), strings.Join(names, ", "), more))
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

// Said is the verdict, with what from says.
func (i Item) Said() string { return i.Verdict + i.from() }

// from says that what it writes, or its arithmetic, is not in the time, if that is so, and names the caller, if there is any: of several the one
// that calls it most often, which is the one that costs most, with how many there are.
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

// Tensors are an operator's operands as text, such as
// "float32 8x4[1,8] -> 8x4", with strides where they are not contiguous.
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

// tensorText is an operand's shape, with its format, or with strides where it is not contiguous.
func tensorText(o operators.Tensor) string {
	t := layouts.FormatShape(o.Shape)
	if o.Format != "" {
		return t + "[" + o.Format + "]"
	} else if !contiguous(o) {
		t += strings.ReplaceAll(fmt.Sprint(o.Strides), " ", ",")
	}
	return t
}

// Write prints the step for people: the calls that take longest, in their order,
// and the fusions that save most; in lines of so many columns, unless these are 0.
func (s *Step) Write(w io.Writer, worst, columns int) error {
	head := append(lead(s.OnDevice, s.tally, s.Sources), predictedFor(s.OnDevice, s.brief),
		fmt.Sprintf("%s in sequence take %s; each starts with the caches that the previous one left", explain.Counted(len(s.Calls), "call"), advise.Duration(s.Ns)))
	for _, line := range head {
		fmt.Fprintln(w, explain.Fold(line, columns))
	}
	longest := slices.Clone(s.Calls)
	slices.SortStableFunc(longest, func(x, y StepCall) int { return cmp.Compare(y.Ns, x.Ns) })
	longest = longest[:min(len(longest), worst)]
	slices.SortFunc(longest, func(x, y StepCall) int { return cmp.Compare(x.Number, y.Number) })
	head = []string{"operator", "call", "time"}
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
	if err := t.WriteWithin(w, columns); err != nil {
		return err
	}
	if left := len(s.Calls) - len(longest); left > 0 {
		fmt.Fprintf(w, "Not shown: %s.\n", explain.Counted(left, "shorter call"))
	}
	return explain.WriteParagraphs(w, s.words(), columns)
}

// found says from which calls lines were in the last level still.
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

// words say what fusing would save, and what is not simulated.
func (s *Step) words() []string {
	var words []string
	for _, f := range s.Fusions[:min(len(s.Fusions), 3)] {
		words = append(words, fmt.Sprintf("Fusing call %d (%s) with call %d (%s), which reads its result, would save %s: %s %s misses.",
			f.First, s.Calls[f.First-1].Op, f.Second, s.Calls[f.Second-1].Op, advise.Duration(f.Ns), explain.Say("%.0f", f.Saved[0].Count), f.Saved[0].Level))
	}
	left := 0
	for _, c := range s.Calls {
		if c.Problem != "" {
			left++
		}
	}
	if left > 0 {
		words = append(words, fmt.Sprintf("Not simulated: %s (--json says why).", explain.Counted(left, "call")))
	}
	return words
}
