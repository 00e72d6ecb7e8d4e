package fleet

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// TestPlain: of each machine the finding that says most is left, and what scatters besides.
func TestPlain(t *testing.T) {
	for _, c := range []struct {
		name  string
		found []Finding
		want  string
	}{
		{"alike", []Finding{{Aspect: All, Ratio: 1.2}, {Aspect: Caches, Ratio: 1.21},
			{Aspect: Memory, Ratio: 1.19}}, "all"},
		{"memory most", []Finding{{Aspect: All, Ratio: 1.2}, {Aspect: Caches, Ratio: 1.05},
			{Aspect: Memory, Ratio: 1.4}}, "memory"},
		{"caches most, and faster",
			[]Finding{{Aspect: All, Ratio: 0.9}, {Aspect: Caches, Ratio: 0.7},
				{Aspect: Memory, Ratio: 1.04}}, "caches"},
		{"all and one", []Finding{{Aspect: All, Ratio: 1.2},
			{Aspect: Caches, Ratio: 1.2}}, "caches"},
		{"all alone", []Finding{{Aspect: All, Ratio: 1.2}}, "all"},
		{"scatters", []Finding{{Aspect: Scatter, Ratio: 3}, {Aspect: Memory, Ratio: 1.2}},
			"memory scatter"},
		{"both without all", []Finding{{Aspect: Caches, Ratio: 1.3}, {Aspect: Memory, Ratio: 1.2}},
			"caches"},
		{"the farthest first", []Finding{{Machine: 1, Aspect: Memory, Ratio: 1.2},
			{Machine: 2, Aspect: Caches, Ratio: 0.5}, {Machine: 3, Aspect: Scatter, Ratio: 9}},
			"caches memory scatter"},
	} {
		var got []string
		for _, f := range (&Matrix{}).plain(c.found) {
			got = append(got, f.Aspect.String())
		}
		if diff := cmp.Diff(c.want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

// TestMostly: where files say nothing, the pattern of what is slow is told with where it mostly
// comes from.
func TestMostly(t *testing.T) {
	both, memory := &Matrix{Memory: []bool{false, true}}, &Matrix{Memory: []bool{true}}
	for _, c := range []struct {
		m    *Matrix
		f    Finding
		want string
	}{
		{both, Finding{Aspect: Scatter, Ratio: 3},
			"nothing in its files explains it: look for a noisy neighbour, or a daemon that " +
				"wakes often"},
		{both, Finding{Aspect: Memory, Ratio: 0.5},
			"it is faster, and nothing in its files explains it: look whether the peers are " +
				"limited in power or frequency"},
		{both, Finding{Aspect: Memory, Ratio: 1.5},
			"data in the caches is as fast as on its peers: look at its memory, such as a slow " +
				"or missing DIMM, the wrong NUMA node, or others on its bus"},
		{memory, Finding{Aspect: Memory, Ratio: 1.5},
			"look at its memory, such as a slow or missing DIMM, the wrong NUMA node, or others " +
				"on its bus"},
		{both, Finding{Aspect: Caches, Ratio: 1.5},
			"memory is as fast as on its peers: look at its clock, or at others that share its core"},
		{both, Finding{Aspect: All, Ratio: 1.5},
			"caches and memory are both slow: look at its clock, such as a thermal or power " +
				"limit, or a core that another shares"},
	} {
		if got := c.m.mostly(c.f); got != c.want {
			t.Errorf("%+v: %s, want %s", c.f, got, c.want)
		}
	}
}

// TestCauses: what is as on the peers, but for a little, explains nothing, and what a file does
// not say is unknown.
func TestCauses(t *testing.T) {
	fleet := func(own Machine) *Matrix {
		m := &Matrix{Benchmarks: []string{"A"}, Memory: []bool{false}}
		for i := range 8 {
			m.Machines = append(m.Machines,
				Machine{Name: fmt.Sprint(i), Config: map[string]string{"pages": "4k"},
					Facts: map[string]string{"activity": "others=0.50 steal=0.010"},
					Cells: []Cell{{Ns: 100, N: 5, GHz: 3}}})
		}
		m.Machines[2] = own
		return m
	}
	const nothing = "look at its clock, or at others that share its core"
	as := func(pages, activity string, ghz float64) Machine {
		return Machine{Name: "own", Config: map[string]string{"pages": pages},
			Facts: map[string]string{"activity": activity},
			Cells: []Cell{{Ns: 150, N: 5, GHz: ghz}}}
	}
	for _, c := range []struct {
		own  Machine
		want string
	}{
		{as("4k", "others=0.70 steal=0.015", 2.95), nothing},
		{as("4k", "others=0.80 steal=0.015", 2.95), "other programs kept 0.8 CPUs busy"},
		{as("4k", "others=0.70 steal=0.025", 2.95), "the host took 2.5% of its CPU time"},
		{as("4k", "", 2.9), "its CPU ran at 2.90 GHz, the peers' at 3.00"},
		{as("4k", "", 0), nothing},
		{as("thp", "", 3), "pages: thp, the peers' 4k"},
		{as("", "", 3), "pages: unknown, the peers' 4k"},
	} {
		if got := fleet(c.own).why(Finding{Machine: 2, Aspect: Caches, Ratio: 1.5},
			[]float64{1.5}); got != c.want {
			t.Errorf("%+v: %s, want %s", c.own, got, c.want)
		}
	}
}

// TestRead: what files say of a machine is its configuration, its facts, and by benchmark its
// times, cycles and what misses.
func TestRead(t *testing.T) {
	text := "cpu: A\nhost: b\n# node: first\nBenchmarkX 1 4 ns/op 100 D-refs/op 1 LL-misses/op " +
		"12 hw-cycles/op\nBenchmarkX 1 6 ns/op 100 D-refs/op 1 LL-misses/op 18 hw-cycles/op\n" +
		"BenchmarkStudy 1 7 D1-misses/op\n# activity: steal=0.5\nBenchmarkY 1 5 ns/op 100 " +
		"D-refs/op 2 LL-misses/op\nhost: c\n# node: second\nBenchmarkY 1 10 ns/op\n# " +
		"activity: steal=0.7\n"
	m, err := readText(t, text)
	if err != nil {
		t.Fatal(err)
	}
	want := []Machine{
		{"b", map[string]string{"cpu": "A", "host": "b"},
			map[string]string{"node": "first", "activity": "steal=0.5"},
			[]Cell{{Ns: 5, Spread: 0.2, N: 2, GHz: 3}, {Ns: 5, N: 1}}},
		{"c", map[string]string{"cpu": "A", "host": "c"},
			map[string]string{"node": "second", "activity": "steal=0.7"},
			[]Cell{{}, {Ns: 10, N: 1}}},
	}
	if diff := cmp.Diff(want, m.Machines, cmpopts.EquateApprox(1e-12, 0)); diff != "" ||
		cmp.Diff([]string{"X", "Y"}, m.Benchmarks) != "" ||
		cmp.Diff([]bool{false, true}, m.Memory) != "" {
		t.Error(diff, m.Benchmarks, m.Memory)
	}
}

// TestGroups: machines are compared with those of their CPU, where there are enough of these, in
// the benchmarks that they have.
func TestGroups(t *testing.T) {
	m := &Matrix{Label: "host", Benchmarks: []string{"A", "B"}, Memory: []bool{false, true}}
	for i := range 30 {
		cpu, slow := "fast", 1.0
		switch {
		case i%3 == 1:
			cpu, slow = "slow", 2
		case i >= 24:
			cpu, slow = "rare", 5
		}
		cell := Cell{Ns: slow * (100 + float64(i%7)), N: 3}
		m.Machines = append(m.Machines,
			Machine{Name: fmt.Sprint(i), Config: map[string]string{"cpu": cpu},
				Cells: []Cell{cell, {Ns: slow * 200, N: 3}}})
	}
	m.Machines[3].Cells[1] = Cell{}
	j := m.Judge(0.01)
	if len(j.Findings) != 0 || j.Untested != 4 || j.Tests != 26*4-1 {
		t.Errorf("%d findings, %d untested, %d tests: %v", len(j.Findings), j.Untested, j.Tests,
			j.Findings)
	}
	if ratios := m.Ratios(); !math.IsNaN(ratios[3][1]) || ratios[1][1] != 1 || ratios[2][1] != 1 {
		t.Errorf("%v", ratios)
	}
	if s := j.Scores[3]; math.IsNaN(s[All]) || s[All] != s[Caches] || !math.IsNaN(s[Memory]) {
		t.Errorf("%v", s)
	}
}
