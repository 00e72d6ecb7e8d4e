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

// A Bill is what a page shows of what a model's layouts cost.
type Bill struct {
	Sources  []string // what it is of, a line each
	Facts    string   // for what machine it was priced
	Sentence string   // what was found
	Warnings []string
	Rows     []BillRow // the worst first; the page shows as many as a table of results
	Notes    []string  // what the rows have not
	Command  string    // that makes the page
}

// A BillRow is an operator, with its predicted times in ns.
type BillRow struct {
	Operator, Tensors, Verdict string
	Calls                      string
	Layout, Time               string
	LayoutNs, Ns               float64 // of all calls; the former is part of the latter
}

// errNoRows tells that a bill has nothing to draw.
var errNoRows = errors.New("no operator that takes time: there is nothing to draw")

// Write puts the page, index.html, into a folder and returns its path. Bars are to
// the scale of the longest.
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

// billTitle is that of the page.
const billTitle = "What the layouts of a model cost"

// CheckBillFolder refuses a folder that holds other things than a page of a bill, which is to
// be written into it.
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

// width is a share in percent, to two decimals.
func width(share float64) float64 { return math.Round(1e4*share) / 100 }
