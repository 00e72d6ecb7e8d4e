// Package explain is the program's own and promises nothing. It puts the counts of a simulation
// into words: which tensor misses at which level, and why. It uses the counts and the loop nests.
package explain

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/reuse"
)

// A Run is a simulation and its counts.
type Run struct {
	Config  simcache.Config
	Levels  []simcache.LevelCounts // of Hierarchy.Levels
	TLB     []simcache.LevelCounts // of Hierarchy.TLBs, if the model has a TLB
	Tensors []Line                 // counts of each tensor
	Nests   []nest.Nest            // of one pass; none for a trace
	Passes  int

	Counts          simcache.Counts // of Hierarchy.Counts
	Visited, Proved uint64          // of Hierarchy.Work

	Curve *reuse.Table // misses of caches of other sizes, nil if they were not counted

	Partial string // why these are not the counts of a whole run

	// Code holds the counts by line of a compiled program; nil for anything else.
	Code []Line

	// Arrays lie one after the other at multiples of Align bytes. Improve moves them.
	Arrays    []nest.Array
	Align     int
	tried     []Change
	uncounted int

	program *program // of RunOfProgram
}

// RunOf returns the counts of a hierarchy with this configuration.
func RunOf(h *simcache.Hierarchy, c simcache.Config, tensors []Line, nests []nest.Nest,
	passes int) Run {
	r := Run{Config: c, Levels: h.Levels(), Tensors: tensors, Nests: nests, Passes: passes,
		Counts: h.Counts()}
	r.Visited, r.Proved = h.Work()
	if len(c.TLB) > 0 {
		r.TLB = h.TLBs()
	}
	return r
}

// Text returns paragraphs: what would help, the tensors or a program's accesses, the working set,
// the TLB, and memory. It omits sentences without anything to say. Config.Observe and
// Config.WriteBacks add some.
func (r Run) Text() []string {
	if advice := r.advice(); advice != "" {
		return append([]string{advice}, r.reasons()...)
	}
	return r.reasons()
}

func (r Run) reasons() []string {
	accesses := r.accesses()
	all := append(r.accessWords(accesses), r.workingSet(), r.pages(accesses), r.memory())
	return slices.DeleteFunc(all, func(s string) bool { return s == "" })
}

var english = message.NewPrinter(language.English)

// Say formats whole numbers with commas: "1,200 lines".
func Say(format string, args ...any) string { return english.Sprintf(format, args...) }

func percent(n, of uint64) string {
	return share(part(n, of))
}

// List joins words as a sentence does: "D1, L2 and LL".
func List(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}

func sentences(all ...string) string {
	return strings.Join(slices.DeleteFunc(all, func(s string) bool { return s == "" }), " ")
}

// Counted returns "1 line" or "1,200 lines".
func Counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return Say("%d %ss", n, what)
}

// times returns "once" or "12 times".
func times(n uint64) string {
	if n == 1 {
		return "once"
	}
	return Say("%d times", n)
}

func (r Run) workingSet() string {
	first, line := r.Levels[0], r.Config.Levels[0].Line
	if first.Compulsory == 0 || first.Prefetches > 0 || r.Config.Levels[0].NoWriteAllocate ||
		straddle(r.operands(), line) {
		return "" // unknown: not each line missed once, or some did again
	}
	all := first.Compulsory * uint64(line)
	by := map[bool][]string{}
	for i, l := range r.Levels {
		c := r.Config.Levels[i].Size
		by[all > uint64(c)] = append(by[all > uint64(c)],
			fmt.Sprintf("%s (%s)", l.Name, simcache.Bytes(c)))
	}
	var parts []string
	if by[true] != nil {
		parts = append(parts, "exceeds "+List(by[true]))
	}
	if by[false] != nil {
		parts = append(parts, "fits in "+List(by[false]))
	}
	return fmt.Sprintf("The working set, %s, %s.", simcache.Bytes(int(all)), List(parts))
}

// operands returns the accesses of the loops, none of a trace.
func (r Run) operands() []nest.Operand {
	if r.program != nil {
		return r.program.Operands()
	}
	return nest.Sequence(r.Nests...).Operands()
}

// straddle reports whether a reference may lie in two lines. It does not if its width divides the
// line, its base and its strides. Of a trace it may.
func straddle(operands []nest.Operand, line int) bool {
	return len(operands) == 0 || slices.ContainsFunc(operands, func(op nest.Operand) bool {
		return line%op.Width != 0 || op.Base%uint64(op.Width) != 0 ||
			slices.ContainsFunc(op.Strides, func(s int) bool { return s%op.Width != 0 })
	})
}

func (r Run) memory() string {
	last, level := r.Levels[len(r.Levels)-1], r.Config.Levels[len(r.Levels)-1]
	// the bytes that fill the last level, unless it is bypassed
	given, known := last.BytesIn, r.Config.WriteBacks
	if !known {
		given, known = last.BytesFilled, r.Config.Observes("bytes")
	}
	if level.Inclusion == "exclusive" || !known || given+last.BytesOut == 0 {
		return ""
	}
	moved := "memory supplies " + simcache.Bytes(int(given))
	if r.Config.WriteBacks && (last.BytesOut > 0 || r.dirty()) {
		moved += " and receives " + simcache.Bytes(int(last.BytesOut))
	}
	text := strings.ToUpper(moved[:1]) + moved[1:] + "."
	if touched := r.touched(); touched > 0 {
		share := fmt.Sprintf("%.2f", float64(given+last.BytesOut)/float64(touched))
		if share == "0.00" {
			share = "less than 0.01"
		}
		text = Say("The program reads and writes %s in all; %s (%s times as much).",
			simcache.Bytes(int(touched)), moved, share)
	}
	if last.WriteMisses > 0 && !r.Config.Levels[0].NoWriteAllocate {
		text += Say(" Up to %s is fetched only to be overwritten (write-allocate); non-temporal "+
			"stores would avoid that.",
			simcache.Bytes(int(min(last.WriteMisses*uint64(level.Line), given))))
	}
	switch {
	case r.dirty() && r.Config.WriteBacks:
		text += " Lines that are still dirty at the end are not counted."
	case r.dirty():
		text += " Write-backs are counted with --writebacks only."
	}
	return text
}

func (r Run) touched() (bytes uint64) {
	for _, n := range r.Nests {
		for _, op := range n.Operands {
			bytes += uint64(r.Passes) * uint64(n.Iterations()) * uint64(op.Width)
		}
	}
	if r.program != nil {
		for op, c := range r.program.counts {
			bytes += c.Refs() * uint64(r.program.operands[op].Width)
		}
	}
	return bytes
}

// dirty reports whether anything was written. It does not see a trace's updates, which count as
// reads.
func (r Run) dirty() bool {
	return r.Counts.Dw > 0 || slices.ContainsFunc(r.operands(), func(op nest.Operand) bool {
		return op.Kind == nest.Modify
	})
}
