package mtx_test

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/mtx"
	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/trace"
)

func Example() {
	m, err := mtx.Read(strings.NewReader("%%MatrixMarket matrix coordinate real symmetric\n3 3 "+
		"3\n1 1 2.5\n3 1 4\n3 2 -1\n"), "a.mtx")
	fmt.Println(m, err)
	_, err = mtx.Read(strings.NewReader("%%MatrixMarket matrix coordinate pattern general\n3 3 "+
		"1\n1 4\n"), "b.mtx")
	fmt.Println(err)
	// Output:
	// {3 3 [0 2 3 5] [0 2 2 0 1] false} <nil>
	// b.mtx:3: column 4 is not within 1 to 3
}

// TestSciPy: files are read as SciPy reads them. MTX_VECTORS names a further
// file of such cases.
func TestSciPy(t *testing.T) {
	for _, file := range []string{"testdata/matrices.jsonl.gz", os.Getenv("MTX_VECTORS")} {
		if file == "" {
			continue
		}
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		z, err := gzip.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		read := 0
		for lines := bufio.NewScanner(z); lines.Scan(); read++ {
			c := struct {
				Text   string
				Values []float64
				mtx.CSR
			}{}
			if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
				t.Fatal(err)
			}
			c.Pattern = c.Values == nil
			got, err := mtx.Read(iotest.OneByteReader(strings.NewReader(c.Text)), "test.mtx")
			if diff := cmp.Diff(c.CSR, got); diff != "" || err != nil {
				t.Errorf("%s\n%v (-SciPy +ours):\n%s", c.Text, err, diff)
			}
		}
		if t.Logf("%s: %d matrices", file, read); read < 100 {
			t.Errorf("%s holds %d matrices", file, read)
		}
	}
}

// TestMark: a mark of UTF-8 at the head of a file is none of it.
func TestMark(t *testing.T) {
	m, err := mtx.Read(strings.NewReader("\xEF\xBB\xBF%%MatrixMarket matrix coordinate pattern "+
		"general\n3 3 1\n1 2\n"), "f")
	if err != nil || len(m.Column) != 1 {
		t.Error(m, err)
	}
}

// TestRefused: what is no such file is refused in one line that names file, line
// and what is wrong.
func TestRefused(t *testing.T) {
	const head = "%%MatrixMarket matrix coordinate real general\n"
	for _, c := range []struct{ text, want string }{
		{"", "f:1: | empty | %%MatrixMarket"},
		{"\x1f\x8b\x08", "f:1: | gzip | unpack"},
		{"hello", "f:1: | header"},
		{"%%MatrixMarket matrix array real general\n", `f:1: | "array"`},
		{"%%MatrixMarket matrix coordinate complex general\n", `f:1: | "complex"`},
		{"%%MatrixMarket matrix coordinate real hermitian\n", `f:1: | "hermitian"`},
		{"%%MatrixMarket matrix coordinate pattern skew-symmetric\n", "f:1: | skew-symmetric"},
		{head, "f:2: | ends | sizes"},
		{head + "% c\n\n3 3\n", "f:4: | 2 numbers | ROWS COLUMNS ENTRIES"},
		{head + "3 x 1\n", `f:2: | "x" | columns`},
		{head + "3 3 -1\n", `f:2: | "-1" | entries`},
		{head + "99999999999999999999 3 1\n", "f:2: | 99999999999999999999 rows | 2147483647"},
		{head + "3 3000000000 1\n", "f:2: | 3000000000 columns | 2147483647"},
		{head + "2000000000 3 1\n1 1 1\n", "f:2: | 2000000000 rows | 1 entries"},
		{head + "0 3 1\n", "f:2: | 1 entries | 0 rows"},
		{"%%MatrixMarket matrix coordinate real symmetric\n3 4 1\n",
			"f:2: | symmetric | 3 rows | 4 columns"},
		{head + "3 3 1\n0 1 1\n", "f:3: | row 0 | 1 to 3"},
		{head + "3 3 1\n1 4 1\n", "f:3: | column 4 | 1 to 3"},
		{head + "3 3 1\n1 99999999999999999999999 1\n", "f:3: | column 99999999999999999999999"},
		{head + "3 3 1\n-1 1 1\n", `f:3: | "-1" | row`},
		{head + "3 3 1\n1 1\n", `f:3: | "1 1" | ROW COLUMN VALUE`},
		{head + "3 3 1\n1 1 1 1\n", `f:3: | "1 1 1 1"`},
		{head + "3 3 2\n1 1 1\n", "f:4: | 1 entries | say 2"},
		{head + "3 3 1\n1 1 1\n% c\n2 2 2\n", "f:5: | more entries | the 1 "},
		{"%%MatrixMarket matrix coordinate pattern general\n3 3 1\n1 1 1\n",
			`f:3: | "1 1 1" | pattern`},
		{head + "%" + strings.Repeat("x", 1<<17) + "\n", "f:2: | 65536 B"},
	} {
		_, err := mtx.Read(strings.NewReader(c.text), "f")
		if err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.80q: %v", c.text, err)
			continue
		}
		for want := range strings.SplitSeq(c.want, " | ") {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%.80q: %v, want %q", c.text, err, want)
			}
		}
	}
	if _, err := mtx.Read(iotest.ErrReader(errors.New("disk on fire")), "f"); err == nil ||
		err.Error() != "f:1: disk on fire" {
		t.Error(err)
	}
}

// TestSizesAreNotBelieved: a file that promises much is not given memory for it.
func TestSizesAreNotBelieved(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	text := fmt.Sprintf("%%%%MatrixMarket matrix coordinate real general\n%d %d "+
		"1000000000000\n1 1 1\n", math.MaxInt32, math.MaxInt32)
	if _, err := mtx.Read(strings.NewReader(text), "f"); err == nil {
		t.Error("a file of 1 entry has 10^12")
	}
	if _, err := mtx.Read(strings.NewReader(fmt.Sprintf(
		"%%%%MatrixMarket matrix coordinate real general\n2 %d 1\n1 1 1\n", math.MaxInt32)),
		"f"); err != nil {
		t.Error(err)
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 16<<20 {
		t.Errorf("took %d B", took)
	}
}

// FuzzRead: whatever a file says, a matrix is well-formed, or one line says why
// there is none.
func FuzzRead(f *testing.F) {
	f.Add("%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n1 1 2.5\n3 1 4\n3 2 -1\n")
	f.Add("%%MatrixMarket matrix coordinate pattern general\n%\n2 3 2\n1 3\n1 3\n")
	f.Fuzz(func(t *testing.T, text string) {
		m, err := mtx.Read(strings.NewReader(text), "f")
		if err != nil {
			var line int
			if n, _ := fmt.Sscanf(err.Error(), "f:%d: ", &line); n != 1 || line < 1 ||
				line > strings.Count(text, "\n")+2 || strings.Contains(err.Error(), "\n") {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		if len(m.Starts) != m.Rows+1 || m.Starts[0] != 0 || m.Starts[m.Rows] != len(m.Column) {
			t.Fatalf("%q: %+v", text, m)
		}
		for i := range m.Rows {
			for k := m.Starts[i]; k < m.Starts[i+1]; k++ {
				if c := m.Column[k]; c < 0 || int(c) >= m.Columns || k > m.Starts[i] &&
					c <= m.Column[k-1] {
					t.Fatalf("%q: %+v", text, m)
				}
			}
		}
	})
}

func BenchmarkRead(b *testing.B) {
	var text strings.Builder
	fmt.Fprintf(&text, "%%%%MatrixMarket matrix coordinate real general\n100000 100000 1000000\n")
	for i := range 1000000 {
		fmt.Fprintf(&text, "%d %d %g\n", i*7919%100000+1, i*104729%100000+1, float64(i)/3)
	}
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		if _, err := mtx.Read(strings.NewReader(text.String()), "f"); err != nil {
			b.Fatal(err)
		}
	}
}

// TestProduct: the accesses of a product are those of the loop that computes it,
// and the counts of its arrays add up to those of the whole.
func TestProduct(t *testing.T) {
	const text = "%%MatrixMarket matrix coordinate real general\n3 4 4\n1 3 1\n1 1 1\n3 4 " +
		"1\n3 3 1\n"
	p, err := mtx.ReadProduct(strings.NewReader(text), "a.mtx", layouts.Float32)
	if err != nil {
		t.Fatal(err)
	}
	const page = 4096 // each array lies on its own
	starts, columns, values, x, y := uint64(access.Origin), uint64(access.Origin+page),
		uint64(access.Origin+2*page), uint64(access.Origin+3*page), uint64(access.Origin+4*page)
	var want, got []trace.Record
	add := func(kind nest.Kind, base uint64, element, size int) {
		want = append(want, trace.Record{Kind: kind, Addr: base + uint64(element*size), Size: size})
	}
	for range 2 {
		add(nest.Read, starts, 0, 8)
		entry := 0
		for row, cols := range [][]int{{0, 2}, {}, {2, 3}} {
			add(nest.Read, starts, row+1, 8)
			for _, col := range cols {
				add(nest.Read, columns, entry, 8)
				add(nest.Read, values, entry, 4)
				add(nest.Read, x, col, 4)
				entry++
			}
			add(nest.Write, y, row, 4)
		}
	}
	for r, err := range p.Records(2) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, r)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	config := simcache.Config{Levels: []simcache.Level{{Geometry: simcache.Geometry{Size: 1024,
		Ways: 2, Line: 64}}, {Geometry: simcache.Geometry{Size: 4096, Ways: 2, Line: 64}}}}
	h, err := simcache.NewHierarchy(config)
	if err != nil {
		t.Fatal(err)
	}
	counts, err := trace.Feed(h, config, p.Records(2), p.Regions()...)
	if err != nil {
		t.Fatal(err)
	}
	var sum simcache.Counts
	var names []string
	for i, c := range counts {
		names = append(names, fmt.Sprintf("%s %d", p.Regions()[i].Name, c.Refs()))
		sum = sum.Add(c)
	}
	if diff := cmp.Diff([]string{"starts 8", "columns 8", "values 8", "x 8", "y 6"},
		names); diff != "" || sum != h.Counts() {
		t.Errorf("%v of %v in all\n%s", sum, h.Counts(), diff)
	}
	if _, err := mtx.ReadProduct(strings.NewReader(
		"%%MatrixMarket matrix coordinate real general\n3 2 0\n"), "e.mtx",
		layouts.Float32); err == nil || !strings.Contains(err.Error(),
		"e.mtx: the matrix of 3 x 2 has no entries") {
		t.Errorf("a matrix without entries: %v", err)
	}
	if p, err = mtx.ReadProduct(strings.NewReader(
		"%%MatrixMarket matrix coordinate pattern general\n1 1 1\n1 1\n"), "b.mtx",
		layouts.Bool); err != nil || len(p.Regions()) != 4 {
		t.Errorf("a pattern has %v, %v", p.Regions(), err)
	}
}
