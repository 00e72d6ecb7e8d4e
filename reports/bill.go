package reports

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/stridebench/stridebench/results/outfile"
)

// A Bill is the content of the page on the cost of a model's layouts.
type Bill struct {
	Sources  []string // a line each
	Facts    string   // the machine that it was priced for
	Sentence string   // the finding
	Warnings []string
	Rows     []BillRow // the worst first; the page shows at most maxRows
	Notes    []string  // what the rows leave out
	Command  string    // that makes the page
}

// A BillRow is an operator, with its predicted times in ns.
type BillRow struct {
	Operator, Tensors, Verdict string
	Calls                      string
	Layout, Time               string
	LayoutNs, Ns               float64 // of all calls; LayoutNs is part of Ns
}

// errNoRows is returned for a bill without anything to draw.
var errNoRows = errors.New("no operator that takes time: there is nothing to draw")

// Write writes the page to index.html in a folder and returns its path. The longest bar sets the
// scale.
func (b Bill) Write(dir string) (path string, err error) {
	longest := 0.0
	for _, r := range b.Rows {
		longest = max(longest, r.Ns)
	}
	if longest == 0 {
		return "", errNoRows
	}
	text, err := page{Title: billTitle, Machine: several(b.Sources), Facts: b.Facts,
		Findings: []string{b.Sentence}, Warnings: b.Warnings, Tables: []table{b.table(longest)},
		Notes: append([]string{"Times are predicted, of all calls. Bars: what the layout costs, " +
			"then the rest."}, b.Notes...), Report: b.Command}.html()
	if err != nil {
		return "", err
	}
	path = filepath.Join(dir, "index.html")
	return path, outfile.WriteFile(path, text)
}

func (b Bill) table(longest float64) table {
	t := table{ID: "operators", Family: "What costs most",
		Columns: []string{"operator", "what to do", "calls", "layout", "time", "bars"}}
	for _, r := range b.Rows[:min(len(b.Rows), maxRows)] {
		bars := numberCell("", r.Ns)
		bars.Bar = []float64{100 * r.LayoutNs / longest, 100 * (r.Ns - r.LayoutNs) / longest}
		t.addRow(tableCell{Text: clip(r.Operator), Code: clip(r.Tensors), Class: "long"},
			textCell(r.Verdict), numberCell(r.Calls, 0), numberCell(r.Layout, r.LayoutNs),
			numberCell(r.Time, r.Ns), bars)
	}
	return t
}

const billTitle = "What the layouts of a model cost"

// CheckBillFolder returns an error if a folder holds anything but the page of a bill.
func CheckBillFolder(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	page, err := os.ReadFile(filepath.Join(dir, "index.html"))
	if err != nil || !bytes.Contains(page, []byte("<title>"+billTitle+"</title>")) {
		return fmt.Errorf("%s holds other things than the page of a bill: give a folder of its own",
			dir)
	}
	return nil
}
