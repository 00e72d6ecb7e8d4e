// Package results stores measurements: records in the Go benchmark format
// (https://golang.org/design/14313-benchmark-format), and summaries of them. Use it with
// golang.org/x/perf's benchfmt, benchproc and benchmath, and its files with benchstat. It does not
// know how a result was measured.
//
// A result goes through these steps, as the example shows:
//
//  1. A [Writer] writes the head of a file, the configuration that decides what
//     is comparable, and a line for each sample. [Create] makes the file,
//     completely or not at all.
//  2. [Read] and [Parse] read files into a [Set].
//  3. [Set.Config] returns the configuration that all of the set's results share.
//     [SetupOf] decodes the machine and the simulation from it. [FingerprintOf]
//     and [GeometryOf] return what must be equal for times and for counts to be
//     comparable.
//  4. [Set.Rows] summarizes the samples: a [Row] for each benchmark and a [Stat]
//     for each of its units.
//
// Package check compares two sets, history keeps them, export writes them for other programs, noise
// finds doubtful times, and package reports draws them.
package results

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/stridebench/stridebench/results/keys"
)

// A Pair is a key with its value.
type Pair struct{ Key, Value string }

// A Value is one measurement in its own unit, such as ns/op.
type Value struct {
	Value float64
	Unit  string
}

// A Unit is one of this program's units.
type Unit struct {
	Name   string
	Better string // "lower" or "higher"
	Exact  bool   // deterministic: equal in every run
}

const tlbUnit = "TLB-misses/op"

// PredictedUnit is the unit of a cost model's prediction. It is not a result: it follows from the
// simulated units and from the model, which may change between runs.
const PredictedUnit = "predicted-ns/op"

// hardware begins the units of the CPU's counters.
const hardware = "hw-"

// Explains reports whether a unit, tidied or not, only restates, explains or predicts ns/op, and is
// not judged.
func Explains(unit string) bool {
	switch unit {
	case "ns/elem", "sec/elem", "B/s":
		return true
	}
	return strings.HasPrefix(unit, hardware) || strings.HasPrefix(unit, "predicted-")
}

// Units are the units of a line, in order, if known. ns/op comes first because some tools read only
// the first.
var Units = []Unit{
	{"ns/op", "lower", false},
	{"ns/elem", "lower", false},
	{"B/s", "higher", false},
	{"D-refs/op", "lower", true},
	{"D1-misses/op", "lower", true},
	{"LL-misses/op", "lower", true},
	{tlbUnit, "lower", true},
	{PredictedUnit, "lower", false},
	{hardware + "L1d-misses/op", "lower", false},
	{hardware + "LLC-misses/op", "lower", false},
	{hardware + "dTLB-misses/op", "lower", false},
	{hardware + "instructions/op", "lower", false},
	{hardware + "cycles/op", "lower", false},
	{"misses/op", "lower", true}, // of the cache in the name
}

// A Writer writes one file. Unlike benchfmt's writer it never writes exponents (16000000, not
// 1.6e+07), which some tools do not read.
type Writer struct {
	w      io.Writer
	family string // of the last line written
}

// NewWriter writes the head of a file. What decides whether files compare is configuration:
// benchstat puts files that differ in it into separate tables. What changes from run to run is a
// comment, which benchfmt skips and Read keeps. Empty comments are left out.
func NewWriter(w io.Writer, config, comments []Pair) (*Writer, error) {
	var b strings.Builder
	for _, c := range config {
		fmt.Fprintf(&b, "%s: %s\n", c.Key, oneLine(c.Value))
	}
	for _, c := range comments {
		if c.Value != "" {
			fmt.Fprintf(&b, "# %s: %s\n", c.Key, oneLine(c.Value))
		}
	}
	for _, u := range Units {
		assume := ""
		if u.Exact {
			assume = "assume=exact "
		}
		fmt.Fprintf(&b, "Unit %s %sbetter=%s\n", u.Name, assume, u.Better)
	}
	b.WriteByte('\n')
	_, err := io.WriteString(w, b.String())
	return &Writer{w: w}, err
}

// Comment writes a line that benchfmt skips.
func (w *Writer) Comment(text string) error {
	_, err := fmt.Fprintf(w.w, "# %s\n", oneLine(text))
	return err
}

// Write writes one sample of a benchmark, named without the word Benchmark, in one call to the
// writer. Families have different keys, so benchstat should give each a table, like Go's packages.
func (w *Writer) Write(name string, iters int, values []Value) error {
	var b strings.Builder
	if family, _, _ := strings.Cut(name, "/"); family != w.family {
		fmt.Fprintf(&b, "%s: %s\n", keys.Family, family)
		w.family = family
	}
	fmt.Fprintf(&b, "Benchmark%s %d", name, iters)
	for _, v := range values {
		fmt.Fprintf(&b, " %s %s", formatNumber(v.Value), v.Unit)
	}
	b.WriteByte('\n')
	_, err := io.WriteString(w.w, b.String())
	return err
}

func formatNumber(v float64) string {
	if v == math.Trunc(v) {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	digits := 5 - int(math.Floor(math.Log10(math.Abs(v))))
	text := strconv.FormatFloat(v, 'f', max(digits, 0), 64)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// InFiles converts a tidied unit back to the files': sec in a numerator becomes ns. So 1.5e-09
// predicted-sec/op is 1.5 predicted-ns/op.
func InFiles(value float64, unit string) (float64, string) {
	var b strings.Builder
	above := true
	for _, token := range unitTokens().FindAllString(unit, -1) {
		switch {
		case token == "/":
			above = false
		case token == "*":
			above = true
		case token == "sec" && above:
			token, value = "ns", value*1e9
		}
		b.WriteString(token)
	}
	return tenDigits(value), b.String()
}

// unitTokens splits a unit as benchunit does.
var unitTokens = compiled(`[*/\-\s]|[^*/\-\s]+`)

// tenDigits removes rounding errors of the conversion to seconds: 0.30000000000000004.
func tenDigits(v float64) float64 {
	if v == math.Trunc(v) {
		return v
	}
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 10, 64), 64)
	if err != nil {
		return v
	}
	return rounded
}
