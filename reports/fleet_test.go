package reports

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stridebench/stridebench/results/fleet"
)

// aFleet is a matrix of so many machines with two families, one of which is slow.
func aFleet(machines, slow int) *fleet.Matrix {
	m := &fleet.Matrix{Label: "host", Benchmarks: []string{"A/n=1", "A/n=2", "B/n=1"},
		Memory: []bool{false, true, false}}
	for i := range machines {
		var cells []fleet.Cell
		for k := range m.Benchmarks {
			ns := 100 + float64((i*7+k*3)%5)
			if i == slow {
				ns *= 1.5
			}
			cells = append(cells, fleet.Cell{Ns: ns, Spread: 0.01, N: 5})
		}
		m.Machines = append(m.Machines, fleet.Machine{Name: fmt.Sprintf("<i>%d", i),
			Config: map[string]string{"cpu": "Example"}, Cells: cells})
	}
	return m
}

// TestFleet: the page names who is out of line, has every machine in the table, and
// nothing that a label could bring.
func TestFleet(t *testing.T) {
	for _, machines := range []int{1, 20, 60} {
		if testing.Short() && machines == 60 {
			continue
		}
		f := MakeFleet(aFleet(machines, 13), Options{Command: "bench report --by host"})
		dir := t.TempDir()
		paths, err := f.Write(dir)
		if err != nil || len(paths) != 4 {
			t.Fatal(paths, err)
		}
		text, err := os.ReadFile(filepath.Join(dir, "fleet.html"))
		if err != nil {
			t.Fatal(err)
		}
		page := string(text)
		if n := strings.Count(page, "<td>&lt;i&gt;"); n != machines+len(f.Findings) {
			t.Errorf("%d machines: %d rows", machines, n)
		}
		if strings.Contains(page, "1 machines") && machines == 1 {
			t.Error("the page says 1 machines")
		}
		if strings.Contains(page, "<i>1") || strings.Count(page, "<script") != 1 ||
			strings.Contains(page, "ZgotmplZ") {
			t.Errorf("%d machines: what a file says is markup, or none", machines)
		}
		want := "1 of %d machines are out of line; the farthest is <i>13: everything takes 50% " +
			"longer than on"
		if machines == 1 {
			want = "1 machine: without peers"
		}
		if want = strings.ReplaceAll(want, "%d",
			fmt.Sprint(machines)); !strings.HasPrefix(f.Sentence, want) {
			t.Errorf("%q, want %q", f.Sentence, want)
		}
	}
}

// TestNamesOfMachines: labels of machines whose names begin alike have what differs.
func TestNamesOfMachines(t *testing.T) {
	m := aFleet(5, 0)
	for i := range m.Machines {
		m.Machines[i].Name = fmt.Sprintf("node-of-the-cluster-%d.a-long-domain.example.org", i)
	}
	var names []string
	for _, machine := range m.Machines {
		names = append(names, machine.Name)
	}
	for i, tick := range ticksOf(names, maxNamed, 24) {
		if want := fmt.Sprintf("…%d.a-long-do…example.org", i); tick.Label != want {
			t.Errorf("label %q, want %q", tick.Label, want)
		}
	}
}
