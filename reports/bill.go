package reports

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"math"
	"os"
	"path/filepath"

	"github.com/stridebench/stridebench/results"
)

//go:embed page/bill.html
var billText string

var billTemplate = parsed("bill", &billText)

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
	type row struct {
		BillRow
		LayoutWidth, RestWidth float64
	}
	shown := struct {
		Bill
		Title  string
		Policy string
		Style  template.CSS
		Script template.JS
		Rows   []row
	}{Bill: b, Title: billTitle, Policy: policy(), Style: template.CSS(pageStyle),
		Script: template.JS(pageScript)}
	shown.Sources, shown.Warnings = several(b.Sources), several(b.Warnings)
	for _, r := range b.Rows[:min(len(b.Rows), maxRows)] {
		r.Operator, r.Tensors, r.Verdict = clip(r.Operator), clip(r.Tensors), clip(r.Verdict)
		shown.Rows = append(shown.Rows, row{r, width(r.LayoutNs / longest),
			width((r.Ns - r.LayoutNs) / longest)})
	}
	var page bytes.Buffer
	if err := billTemplate().Execute(&page, shown); err != nil {
		return "", err
	}
	path = filepath.Join(dir, "index.html")
	return path, results.WriteFile(path, page.Bytes())
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

func width(share float64) float64 { return math.Round(1e4*share) / 100 }
