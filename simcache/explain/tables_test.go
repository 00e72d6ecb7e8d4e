package explain_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stridebench/stridebench/simcache/explain"
)

// TestTableWithin: a table that is wider than the lines has the same cells in more of them, none of
// which is wider; one that is not stays as it is.
func TestTableWithin(t *testing.T) {
	table := explain.Table{{"walk", "predicted", "against row order", "L1D misses", "TLB walks"},
		{"row order", "190 µs", "1.000", "17,825,792", "16,793,600"},
		{"row order, tiles of 128x16, rows of x padded by 16", "3.1 ms", "0.163",
			"2,097,152", "145,408"}}
	var plain strings.Builder
	if err := table.WriteWithin(&plain, 0); err != nil {
		t.Fatal(err)
	}
	for _, columns := range []int{0, 20, 30, 40, 50, 60, 80, 200} {
		var text strings.Builder
		if err := table.WriteWithin(&text, columns); err != nil {
			t.Fatal(err)
		}
		if (columns == 0 || columns == 200) != (text.String() == plain.String()) {
			t.Errorf("%d columns:%s", columns, &text)
		}
		for line := range strings.Lines(text.String()) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); columns > 0 &&
				n > columns {
				t.Errorf("%d columns: a line of %d:%s", columns, n, &text)
			}
		}
		rest := strings.Join(strings.Fields(text.String()), " ")
		for _, row := range table[1:] {
			for _, cell := range row {
				_, after, ok := strings.Cut(rest, cell)
				if rest = after; !ok {
					t.Fatalf("%d columns: %s is missing, or out of order:%s", columns, cell, &text)
				}
			}
		}
	}
	var text strings.Builder
	if err := table.WriteWithin(&text, 70); err != nil {
		t.Fatal(err)
	}
	if want := `
                        against
walk       predicted  row order  L1D misses   TLB walks
row order     190 µs      1.000  17,825,792  16,793,600
row order, tiles of 128x16, rows of x padded by 16
              3.1 ms      0.163   2,097,152     145,408
`; text.String() != want {
		t.Errorf("%s, want%s", &text, want)
	}
}

// TestWordsAmongRows: a row of a single cell is words across all columns, which make no column
// wider and are folded below where they begin; a cell that is wider than a line is folded, and so
// is the header.
func TestWordsAmongRows(t *testing.T) {
	table := explain.Table{{"", "ns/elem", "±", "found in L3"}, {"Traverse sum of all there is"},
		{"  row", "0.29", "1%", "4 of call 1, 5 of call 2"}, {"    as it is stored now"}}
	for columns, want := range map[int]string{
		0: `
       ns/elem   ±               found in L3
Traverse sum of all there is
  row     0.29  1%  4 of call 1, 5 of call 2
    as it is stored now
`, 20: `
  ns/elem ± found
    in L3
Traverse sum of
  all there is
  row 0.29 1% 4 of
    call 1, 5 of
    call 2
    as it is
      stored now
`} {
		var text strings.Builder
		if err := table.WriteWithin(&text, columns); err != nil || text.String() != want {
			t.Errorf("%d columns: %v, %s, want%s", columns, err, &text, want)
		}
	}
}

// TestFold: a line that is wider is folded.
func TestFold(t *testing.T) {
	for columns, want := range map[int]string{0: "copy of shape 4x4, 32 KiB",
		25: "copy of shape 4x4, 32 KiB", 24: "copy of shape 4x4,\n  32 KiB",
		12: "copy of\n  shape 4x4,\n  32 KiB"} {
		if got := explain.Fold("copy of shape 4x4, 32 KiB", columns); got != want {
			t.Errorf("%d columns: %q, want %q", columns, got, want)
		}
	}
}

// TestWriteTables: lines that are wider are folded, and what fits stays as it is.
func TestWriteTables(t *testing.T) {
	const text = "ns/op, machine a2a4c7a66b73\n" +
		"time                  commit        median     change\n" +
		"2026-11-21T06:08:25Z  752823889ecb  9640085.5\n" +
		"2026-11-21T06:11:36Z  70e0fd7d8175  8662063    -10.1%\n" +
		"\n" +
		"of L3, 512 B apart  108 ns\n" +
		"\n" +
		"warning: L3 serves working sets up to 16 MiB, where sysfs states 32 MiB. In a\n" +
		"virtual machine, that is what there is.\n" +
		"changes found: 0\n"
	const of40 = "ns/op, machine a2a4c7a66b73\n" +
		"time                  commit\n" +
		"  median     change\n" +
		"2026-11-21T06:08:25Z  752823889ecb\n" +
		"  9640085.5\n" +
		"2026-11-21T06:11:36Z  70e0fd7d8175\n" +
		"  8662063    -10.1%\n" +
		"\n" +
		"of L3, 512 B apart  108 ns\n" +
		"\n" +
		"warning: L3 serves working sets up to\n" +
		"  16 MiB, where sysfs states 32 MiB. In\n" +
		"  a\n" +
		"virtual machine, that is what there is.\n" +
		"changes found: 0\n"
	for columns, want := range map[int]string{0: text, 40: of40, 80: text, 200: text} {
		var got strings.Builder
		if err := explain.WriteTables(&got, text, columns); err != nil || got.String() != want {
			t.Errorf("%d columns: %v\n%s", columns, err, &got)
		}
	}
}
