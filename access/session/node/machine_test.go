package node

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stridebench/stridebench/results/outfile"
)

func TestParseMeminfo(t *testing.T) {
	total, available := parseMeminfo(
		strings.NewReader("MemTotal:       24684188 kB\nMemFree: 1 kB\nMemAvailable:   24307024 " +
			"kB\nHugePages_Total:       0\nBroken: x kB\n"))
	if total != 24684188<<10 || available != 24307024<<10 {
		t.Errorf("%d and %d", total, available)
	}
	if total, available := parseMeminfo(strings.NewReader("")); total != 0 || available != 0 {
		t.Errorf("of nothing: %d and %d", total, available)
	}
}

func TestParseStat(t *testing.T) {
	cpus := parseStat(strings.NewReader(`cpu  100 1 30 900 5 0 2 7 50 0
cpu0 60 1 20 400 5 0 1 3 50 0
cpu1 40 0 10 500 0 0 1 4 0 0
cpu7 40 0 10 500
cpux 1 2 3 4
intr 12345 0 9
ctxt 99
`))
	want := map[int]ticks{0: {busy: 82, steal: 3}, 1: {busy: 51, steal: 4}, 7: {busy: 50}}
	if diff := cmp.Diff(want, cpus, cmp.AllowUnexported(ticks{})); diff != "" {
		t.Error(diff)
	}
}

func TestParseOwn(t *testing.T) {
	for text, want := range map[string]int{
		"4711 (bench) S 1 2 3 4 -1 4194304 100 0 0 0 250 30 7 5 20 0 9 0 1000 0 0": 292,
		"4711 (a (b) c) R 1 2 3 4 -1 4194304 100 0 0 0 1 2 0 0 20 0":               3,
		"4711 (bench) S 1 2": 0,
		"":                   0,
		"1 (x) S 1 2 3 4 -1 4194304 100 0 0 0 a b c d 20 0": 0,
	} {
		if got := parseOwn(text); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

func TestActivity(t *testing.T) {
	start := Moment{at: time.Unix(100, 0), cpus: map[int]ticks{0: {1000, 10},
		1: {2000, 20}}, own: 500}
	end := Moment{at: time.Unix(110, 0), cpus: map[int]ticks{0: {1900, 30},
		1: {2400, 20}}, own: 1400}
	got, known := start.Until(end)
	// In 10 s the CPUs were busy for 13 s, of which 9 s were ours.
	if want := (Activity{CPUs: 2, Others: 0.4, Steal: 20.0 / 1320}); !known || got != want {
		t.Errorf("%+v, %v, want %+v", got, known, want)
	}
	// One that came online meanwhile tells of all the time since the machine started.
	more := Moment{at: end.at, cpus: map[int]ticks{0: end.cpus[0], 1: end.cpus[1], 2: {1e6, 1e6}},
		own: end.own}
	if got, _ := start.Until(more); got != (Activity{CPUs: 3, Others: 0.4, Steal: 20.0 / 1320}) {
		t.Errorf("with a CPU that came online: %+v", got)
	}
	for _, end := range []Moment{{at: time.Unix(110, 0)},
		{at: time.Unix(100, 4e8), cpus: end.cpus}} {
		if got, known := start.Until(end); known {
			t.Errorf("%+v is said of %+v", got, end)
		}
	}
}

func TestFrequency(t *testing.T) {
	dir := t.TempDir()
	write := func(file, text string) {
		if err := outfile.WriteFile(filepath.Join(dir, file), []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if g, turbo := readGovernors(dir), readTurbo(dir); g != nil || turbo != "" {
		t.Errorf("of nothing: %q, %q", g, turbo)
	}
	write("cpu0/cpufreq/scaling_governor", "powersave\n")
	write("cpu1/cpufreq/scaling_governor", "performance\n")
	write("cpu10/cpufreq/scaling_governor", "powersave\n")
	write("cpufreq/boost", "1\n")
	if g, turbo := readGovernors(dir),
		readTurbo(dir); strings.Join(g, " ") != "performance powersave" || turbo != "on" {
		t.Errorf("%q, %q", g, turbo)
	}
	write("cpufreq/boost", "0\n")
	if turbo := readTurbo(dir); turbo != "off" {
		t.Errorf("boost 0 is %q", turbo)
	}
	if err := os.Remove(filepath.Join(dir, "cpufreq/boost")); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{"0\n": "on", "1\n": "off"} {
		if write("intel_pstate/no_turbo", text); readTurbo(dir) != want {
			t.Errorf("no_turbo %q is %q", text, readTurbo(dir))
		}
	}
}

// TestNamed: where no brand is known, the core is the CPU's name, and says so.
func TestNamed(t *testing.T) {
	for _, test := range []struct{ brand, core, want, from string }{
		{"", "Arm Neoverse N1", "Arm Neoverse N1", "midr"}, {"AMD EPYC", "", "AMD EPYC", "cpuid"},
		{"Apple M1", "Apple Firestorm of M1", "Apple M1", "cpuid"},
	} {
		m := Machine{CPU: test.brand, CPUFrom: "cpuid"}
		m.named(test.core)
		if !slices.Contains(m.Facts(), Fact{Name: "cpu", Value: test.want, Source: test.from}) {
			t.Errorf("%+v: %+v", test, m.Facts())
		}
	}
	m := Machine{CPUFrom: "cpuid"}
	if m.named(""); slices.ContainsFunc(m.Facts(), func(f Fact) bool { return f.Name == "cpu" }) {
		t.Errorf("%+v", m.Facts())
	}
}
