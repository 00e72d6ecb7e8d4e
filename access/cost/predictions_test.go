package cost_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/cost"
	"github.com/stridebench/stridebench/access/probe"
	"github.com/stridebench/stridebench/access/workload"
	"github.com/stridebench/stridebench/simcache"
)

// golden is the file of TestPredictions.
const golden = "testdata/predictions.txt"

var update = os.Getenv("PREDICTIONS") == "write" // golden is written anew

// A setting is a model, and the number of threads that walk every so manieth pattern.
type setting struct {
	name           string
	model          cost.Model
	threads, every int
}

// settings are machines that the model was fitted to, and one with generic times.
func settings(t *testing.T) (all []setting) {
	for _, name := range []string{"emerald", "epyc", "turin"} {
		file := filepath.Join("../../scripts/fit/data", name, "machine.yaml")
		m, err := cost.ModelOf(probe.Files{}, file, probe.Host{}, nil, false, nil)
		if err != nil {
			t.Fatal(err)
		}
		measured, err := probe.Files{}.Machine(file)
		if err != nil {
			t.Fatal(err)
		}
		last := len(measured.Simulated.Levels) - 1
		measured.Simulated.Levels[last].SharedBy = 1
		own := cost.Model{Times: cost.Measured(measured), Caches: measured.Simulated}
		all = append(all, setting{name, m, 1, 1}, setting{name, m, 2, 4},
			setting{name + "-own-caches", own, 2, 6})
	}
	level := func(size, ways int) simcache.Level {
		return simcache.Level{Geometry: simcache.Geometry{Size: size, Ways: ways, Line: 64}}
	}
	generic := cost.Model{Times: cost.Generic("a test"), Caches: simcache.Config{
		Levels: []simcache.Level{level(32<<10, 8), level(512<<10, 8), level(32<<20, 16)},
		TLB: []simcache.TLB{{Entries: 64, Ways: 64, Page: 4096},
			{Entries: 2048, Ways: 8, Page: 4096}},
	}}
	least, torch := generic, generic
	least.Window, torch.Vectors = cost.LeastWindow, true
	return append(all, setting{"generic", generic, 1, 1}, setting{"generic", generic, 8, 4},
		setting{"least-window", least, 1, 3}, setting{"torch", torch, 1, 3})
}

// chased are the working sets of chases, in KiB.
var chased = []int{16, 256, 1 << 10, 12 << 10, 20 << 10, 64 << 10}

// patterns are those of the file of patterns, and chases, each with its name.
func patterns(t *testing.T) (specs []access.Spec) {
	text, err := os.ReadFile("testdata/patterns.yaml")
	if err != nil {
		t.Fatal(err)
	}
	w, err := workload.Parse("patterns.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	for _, comparison := range w.Comparisons {
		for _, b := range comparison {
			specs = append(specs, b.Spec)
		}
	}
	for _, kib := range chased {
		specs = append(specs, access.ChaseSpec(kib<<10/64, 64), access.ChaseSpec(kib/4, 4096))
	}
	return specs
}

// TestPredictions: the model says of the patterns what it said before. A change that is meant
// writes the file anew, by 'PREDICTIONS=write go test ./access/cost'; scripts/fit says whether
// predictions came nearer to measured times.
func TestPredictions(t *testing.T) {
	if probe.PageSize() != 4096 {
		t.Skip("the machines were measured on pages of 4 KiB")
	}
	var b strings.Builder
	b.WriteString("# ns of a pass, of its loop and of its memory; misses of each cache and of " +
		"the TLB\n")
	specs := patterns(t)
	for _, s := range settings(t) {
		fmt.Fprintf(&b, "\n%s, threads %d:\n", s.name, s.threads)
		for i, spec := range specs {
			if i%s.every != 0 {
				continue
			}
			name := spec.Name()
			spec.Threads = s.threads
			p, err := spec.Pattern()
			if err != nil {
				t.Fatal(err)
			}
			got, err := s.model.Predict(p)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&b, "%s: %.4g %.4g %.4g", name, got.Ns, got.Loop, got.Memory)
			for i := range s.model.Caches.Levels {
				fmt.Fprintf(&b, " %.4g", got.Missed(i))
			}
			fmt.Fprintf(&b, " %.4g\n", got.Walked())
		}
	}
	if update {
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"),
		strings.Split(b.String(), "\n")); diff != "" {
		t.Error(diff)
	}
}
