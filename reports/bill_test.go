package reports

import (
	"errors"
	"os"
	"strings"
	"testing"
)

// TestBill: the page has a bar for each row, to the scale of the longest, and
// nothing that a stranger's file could bring.
func TestBill(t *testing.T) {
	b := Bill{Sources: []string{"trace.json: a Kineto trace"},
		Sentence: "layout costs 14% of the memory time of this step", Rows: []BillRow{
			{Operator: "aten::copy_", Tensors: "float32 4x4[1,4] -> 4x4",
				Verdict: "<script>alert(1)</script>", Calls: "3", Layout: "3 µs", Time: "4 µs",
				LayoutNs: 3000, Ns: 4000},
			{Operator: "aten::add", Calls: "1", Layout: "0 ns", Time: "1 µs", Ns: 1000},
		}}
	path, err := b.Write(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	for _, want := range []string{"layout costs 14%",
		`4x4[1,4] <span class="unbroken">-&gt;</span> 4x4</code>`,
		`style="width:75%"></span><span style="width:25%"`,
		`style="width:0%"></span><span style="width:25%"`, "&lt;script&gt;"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s", want)
		}
	}
	if strings.Count(page, "<script") != 1 {
		t.Error("a script of the trace is on the page")
	}
	if _, err := (Bill{}).Write(t.TempDir()); !errors.Is(err, errNoRows) {
		t.Error(err)
	}
}
