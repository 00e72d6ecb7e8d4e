package fleet

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stridebench/stridebench/results/merge"
	"github.com/stridebench/stridebench/results/outfile"
)

// made is the matrix of a generated fleet.
func made(t *testing.T, f madeFleet) *Matrix {
	t.Helper()
	dir := t.TempDir()
	if err := f.write(dir); err != nil {
		t.Fatal(err)
	}
	paths, err := merge.Find([]string{dir}, "")
	if err != nil {
		t.Fatal(err)
	}
	read := 0
	m, err := Read("host", nil, func() { read++ }, paths...)
	if err != nil || read != len(paths) {
		t.Fatalf("%d of %d files: %v", read, len(paths), err)
	}
	return m
}

// faulty is a fleet with a slow memory, a throttled CPU, a noisy neighbour, and one
// that is slower by what nobody minds.
func faulty(node int, memory bool) float64 {
	switch {
	case node == 3 && memory:
		return 1.3
	case node == 11:
		return 1.2
	case node == 17 && !memory:
		return 1.25
	case node == 20:
		return 1.02
	}
	return 1
}

// TestJudge: what is planted is found, and nothing else.
func TestJudge(t *testing.T) {
	m := made(t, madeFleet{Nodes: 40, Benchmarks: 20, Samples: 5, Slow: faulty,
		Scatter: func(node int) float64 {
			if node == 30 {
				return 0.1
			}
			return 0.01
		}})
	var got []string
	for _, f := range m.Judge(0.01).Findings {
		got = append(got, fmt.Sprintf("%s %v %.1f", m.Machines[f.Machine].Name, f.Aspect, f.Ratio))
		if f.P > 0.01 || f.Peers != 39 || f.Why == "" {
			t.Errorf("%+v", f)
		}
	}
	if len(got) != 4 || got[0][:13] != "node4 memory " || got[1][:14] != "node18 caches " ||
		got[2] != "node12 all 1.2" || got[3][:15] != "node31 scatter " {
		t.Errorf("%q", got)
	}
}

// TestNothing: of a hundred fleets of machines in line, next to none has a finding.
func TestNothing(t *testing.T) {
	found := 0
	random := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		m := &Matrix{Label: "host", Benchmarks: []string{"A", "B"}, Memory: []bool{false, true}}
		for i := range 8 + random.IntN(40) {
			own := 1 + 0.05*random.NormFloat64()
			cell := func() Cell {
				return Cell{Ns: 100 * own * (1 + 0.02*random.NormFloat64()),
					Spread: 0.01 + 0.005*random.Float64(), N: 5}
			}
			m.Machines = append(m.Machines, Machine{Name: fmt.Sprint(i),
				Cells: []Cell{cell(), cell()}})
		}
		if len(m.Judge(0.01).Findings) > 0 {
			found++
		}
	}
	if found > 3 {
		t.Errorf("%d of 100 fleets in line have findings, want about 1", found)
	}
}

// inLine is a fleet of machines that are within a few percent of each other.
func inLine(machines int, benchmarks ...string) *Matrix {
	m := &Matrix{Label: "host", Benchmarks: benchmarks, Memory: make([]bool, len(benchmarks))}
	random := rand.New(rand.NewPCG(3, uint64(machines)))
	for i := range machines {
		one := Machine{Name: fmt.Sprint(i),
			Config: map[string]string{"caches": "L1d=32768,8,64 L2=1048576,16,64"},
			Facts:  map[string]string{"microcode": "0x1", "activity": "others=0.01 steal=0.001"}}
		for range benchmarks {
			one.Cells = append(one.Cells,
				Cell{Ns: 100 * (1 + 0.02*random.NormFloat64()), Spread: 0.01, N: 5, GHz: 3})
		}
		m.Machines = append(m.Machines, one)
	}
	return m
}

// TestSees: a machine is found that is well farther out of line than what is said to be seen, and
// none that is well less; the more machines, the less that is.
func TestSees(t *testing.T) {
	last := math.Inf(1)
	for _, machines := range []int{8, 16, 64} {
		m := inLine(machines, "A")
		j := m.Judge(0.01)
		if j.Sees >= last || j.Sees <= 1.03 || len(j.Findings) > 0 {
			t.Errorf("%d machines: %v is seen, %v with fewer; %v", machines, j.Sees,
				last, j.Findings)
		}
		last = j.Sees
		for _, far := range []float64{0.6, 1.6} {
			m.Machines[5].Cells[0].Ns = 100 * math.Pow(j.Sees, far)
			if found := m.Judge(0.01).Findings; (len(found) == 1 &&
				found[0].Machine == 5) != (far > 1) {
				t.Errorf("%d machines, one %.2f times as slow where %.2f is seen: %v", machines,
					math.Pow(j.Sees, far), j.Sees, found)
			}
		}
	}
	if j := (&Matrix{}).Judge(0.01); j.Sees != 0 {
		t.Errorf("of no machines %v", j.Sees)
	}
}

// TestWhy: what files say of a machine explains it. Where no cycles are counted, as in most
// virtual machines, loads from the first cache say the clock, and where these are as fast as on
// the peers, nothing does.
func TestWhy(t *testing.T) {
	for _, c := range []struct {
		ns    []float64 // of A, and of chases through 16 KiB, 32 KiB, 1 MiB and 1 GiB
		ghz   float64
		facts map[string]string
		want  []string
	}{
		{[]float64{150, 101, 150, 151, 101}, 2,
			map[string]string{"microcode": "0x2", "activity": "others=1.50 steal=0.05"},
			[]string{"2.00 GHz, the peers' at 3.00", "the host took 5.0%", "1.5 CPUs busy",
				"microcode: 0x2, the peers' 0x1", "from 32KiB to 1MiB are slower"}},
		{[]float64{125, 125, 140, 125, 125}, 0, nil, []string{"times as long: its clock is 0.8"}},
		{[]float64{125, 101, 140, 140, 140}, 0, nil, []string{"others that share its core"}},
	} {
		var names []string
		for _, size := range []string{"16KiB", "32KiB", "1MiB", "1GiB"} {
			names = append(names, "Latency/op=chase/size="+size+"/k=1")
		}
		m := inLine(40, append([]string{"A"}, names...)...)
		slow := &m.Machines[4]
		maps.Copy(slow.Facts, c.facts)
		for k, ns := range c.ns {
			slow.Cells[k].Ns = ns
		}
		for i := range m.Machines {
			for k := range m.Machines[i].Cells {
				if c.ghz == 0 || i == 4 {
					m.Machines[i].Cells[k].GHz = c.ghz
				}
			}
		}
		found := m.Judge(0.01).Findings
		if len(found) != 1 {
			t.Fatal(found)
		}
		for _, want := range c.want {
			if !strings.Contains(found[0].Why, want) {
				t.Errorf("no %q in %q", want, found[0].Why)
			}
		}
	}
}

// TestBand: of a machine that is slower by a fifth everywhere no cache is said to hold less,
// though one working set is just above that and others are just below.
func TestBand(t *testing.T) {
	m := &Matrix{Benchmarks: []string{"Latency/size=16KiB", "Latency/size=1MiB",
		"Latency/size=8MiB",
		"Latency/size=1GiB"}}
	for _, c := range []struct {
		ratios []float64
		found  bool
	}{
		{[]float64{1.19, 1.21, 1.22, 1.18}, false}, {[]float64{1, 1.5, 1.4, 1.02}, true},
		{[]float64{1.2, 1.2, 1.9, 1.2}, true},
		{[]float64{1, 1, 1.5, 1.6}, false}, {[]float64{1, 1, 1, 1}, false},
	} {
		if got := m.band(c.ratios); got != "" != c.found {
			t.Errorf("%v: %q", c.ratios, got)
		}
	}
}

// TestMerged: a merged file is the same fleet as the files that it was made of, and
// keeps what they say of their nodes.
func TestMerged(t *testing.T) {
	dir := t.TempDir()
	if err := (madeFleet{Nodes: 12, Benchmarks: 4, Samples: 3}).write(dir); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "node5.txt")
	text, err := os.ReadFile(path)
	text = bytes.Replace(text, []byte("steal=0.0000"), []byte("steal=0.2000"), 1)
	if err := errors.Join(err, os.WriteFile(path, text, 0o666)); err != nil {
		t.Fatal(err)
	}
	paths, err := merge.Find([]string{dir}, "")
	if err != nil {
		t.Fatal(err)
	}
	plan, err := merge.Read(paths, nil, "host", nil)
	if err != nil || plan.Faults != nil {
		t.Fatal(err, plan.Faults)
	}
	var b bytes.Buffer
	if err := plan.Write(&b); err != nil {
		t.Fatal(err)
	}
	merged := filepath.Join(dir, "all.text")
	if err := outfile.WriteFile(merged, b.Bytes()); err != nil {
		t.Fatal(err)
	}
	one, err := Read("host", nil, nil, merged)
	many, err2 := Read("host", nil, nil, paths...)
	var a, c bytes.Buffer
	if err := errors.Join(err, err2, one.WriteCSV(&a), many.WriteCSV(&c)); err != nil {
		t.Fatal(err)
	}
	if a.String() != c.String() || strings.Count(a.String(), "\n") != 1+12*4 {
		t.Errorf("%s\n%s", &a, &c)
	}
	for i, m := range one.Machines {
		want := "others=0.01 steal=0.0000"
		if m.Name == "node5" {
			want = strings.Replace(want, "0.0000", "0.2000", 1)
		}
		if m.Facts["node"] != m.Name || m.Facts["activity"] != want ||
			many.Machines[i].Facts["activity"] != want {
			t.Errorf("%s: %v, of its own file %v", m.Name, m.Facts, many.Machines[i].Facts)
		}
	}
}

// TestCopies: what several files have counts once, in whatever order they are read: the runs that
// a file was merged of, and a copy of one. What only one has counts, also where the rest of it is
// in another.
func TestCopies(t *testing.T) {
	dir := t.TempDir()
	line := func(host string, ns ...int) (text string) {
		for _, v := range ns {
			text += fmt.Sprintf("BenchmarkA 1 %d ns/op %d hw-cycles/op\n", v, 2*v)
		}
		return "host: " + host + "\n" + text
	}
	for name, text := range map[string]string{
		"a.txt": line("a", 10, 12, 12), "b.txt": line("b", 20), "again.txt": line("a", 12, 30, 40),
		"all.txt": line("a", 10, 12, 12) + line("b", 20), "more.txt": line("a", 12, 10, 12, 50),
		"copy.txt": line("a", 10, 12, 12),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct{ files, copies, cells string }{
		{"a b", "", "a 12 x3, b 20 x1"},
		{"a b all", "a b", "a 12 x3, b 20 x1"},
		{"all a b", "a b", "a 12 x3, b 20 x1"},
		{"a copy", "copy", "a 12 x3"},
		{"copy a all", "copy a", "a 12 x3, b 20 x1"},
		{"a again", "", "a 12 x6"},
		{"again a all", "a", "a 12 x6, b 20 x1"},
		{"a more", "a", "a 12 x4"},
		{"all more", "", "a 12 x4, b 20 x1"},
		{"b all more a", "b a", "a 12 x4, b 20 x1"},
	} {
		var paths, cells []string
		for _, name := range strings.Fields(test.files) {
			paths = append(paths, filepath.Join(dir, name+".txt"))
		}
		m, err := Read("host", nil, nil, paths...)
		if err != nil {
			t.Fatal(err)
		}
		for _, machine := range m.Machines {
			c := machine.Cells[0]
			cells = append(cells, fmt.Sprintf("%s %.6g x%d", machine.Name, c.Ns, c.N))
			if math.Abs(c.GHz-2) > 1e-9 {
				t.Errorf("%s: %s has %v GHz", test.files, machine.Name, c.GHz)
			}
		}
		copies := strings.ReplaceAll(strings.ReplaceAll(strings.Join(m.Copies, " "),
			dir+string(filepath.Separator), ""), ".txt", "")
		if got := strings.Join(cells, ", "); got != test.cells || copies != test.copies {
			t.Errorf("%s: %s, copies %q; want %s, %q", test.files, got, copies, test.cells,
				test.copies)
		}
	}
}

// readText reads a file of a text.
func readText(t *testing.T, text string) (*Matrix, error) {
	t.Helper()
	t.Chdir(t.TempDir())
	if err := os.WriteFile("a.txt", []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return Read("host", nil, nil, "a.txt")
}

func TestReadRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"BenchmarkA 1 5 ns/op\n": `a.txt:1: a result without a line "host:"`,
		"host: a\nBenchmarkA 1 -5 ns/op\n": "a.txt:2: -5 ns/op: want a finite number of " +
			"more than 0",
		"host: a\n": "a.txt holds no benchmark results: no line begins " +
			"with Benchmark",
		"host: a\nBenchmarkA 1 5 ns/op 3\n": "a.txt:2: missing units",
	} {
		if _, err := readText(t, text); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// TestForeignBytes: names that are no UTF-8 make no file that is none. A mark of UTF-8 at the head
// is not part of the first line.
func TestForeignBytes(t *testing.T) {
	m, err := readText(t, "\xEF\xBB\xBFhost: \xff\nBenchmarkX/a=\xfe 1 10 ns/op\n")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := m.WriteCSV(&b); err != nil || !strings.Contains(b.String(),
		"\n\uFFFD,X/a=\uFFFD,10,") {
		t.Errorf("%v, %q", err, b.String())
	}
}
