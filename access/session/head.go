package session

import (
	"fmt"
	"slices"
	"time"

	"github.com/stridebench/stridebench/access/kernel"
	"github.com/stridebench/stridebench/access/session/node"
	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/results/keys"
	"github.com/stridebench/stridebench/simcache"
)

// setup returns the machine and the simulated caches, without the tensors' pages.
func (s *Session) setup() results.Setup {
	m := s.machine
	setup := results.Setup{GOOS: m.GOOS, GOARCH: m.GOARCH, GoVersion: m.GoVersion, CPU: m.CPU,
		CPUs: m.CPUs,
		D1:   cacheOf("D1", s.Caches.First().Geometry), LL: cacheOf("LL", s.Caches.Last().Geometry)}
	if cores := s.Caches.Last().SharedBy; cores > 0 && cores < s.threads() {
		setup.LLCores = cores
	}
	for _, c := range s.detected {
		if !c.Known() {
			continue
		}
		setup.Caches = append(setup.Caches, cacheOf(c.Name(), c.Geometry))
	}
	for _, t := range s.Caches.TLB {
		setup.TLB = append(setup.TLB, results.TLB{Entries: t.Entries, Ways: t.Ways, Page: t.Page})
	}
	return setup
}

// threads returns the largest number of threads of a benchmark.
func (s *Session) threads() (most int) {
	for _, p := range slices.Concat(s.patterns...) {
		most = max(most, len(p.Parts()))
	}
	return most
}

func cacheOf(name string, g simcache.Geometry) results.Cache {
	return results.Cache{Name: name, Size: g.Size, Ways: g.Ways, Line: g.Line}
}

// head returns a results file's configuration, which decides what results can be compared, and its
// comments, which vary from run to run.
func (s *Session) head() (config, comments []results.Pair) {
	setup := s.setup()
	setup.Pages = s.Pages.String()
	add := func(key, value string) {
		comments = append(comments, results.Pair{Key: key, Value: value})
	}
	add("sim-d1-source", string(s.Caches.First().Source))
	add("sim-ll-source", string(s.Caches.Last().Source))
	add("date", time.Now().UTC().Format(time.RFC3339))
	add("version", s.Program.Version)
	add("command", s.Program.Command)
	add("calibration", s.tuned)
	add("kernels", fmt.Sprintf("this CPU runs %s, of %s", kernel.Names(kernel.Sets()),
		kernel.Names(kernel.All())))
	if s.Model.Caches.Levels != nil {
		add("cost-model", s.Model.String())
	}
	if len(s.Caches.TLB) > 0 {
		add("sim-tlb-source", string(s.Caches.TLB[0].Source))
	}
	for _, r := range s.Remarks {
		add(r.Key, r.Value)
	}
	add("commit", s.Program.Commit)
	add("load", node.Load())
	add(keys.Suite, s.suite())
	if s.part.places != nil {
		add(keys.Shard, s.part.shard.String())
	}
	return slices.Concat(setup.Config(), s.tunings(), s.Labels),
		append(comments, node.Comments(s.machine)...)
}
