package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/explain"
	"github.com/stridebench/stridebench/simcache/machines"
)

// mostThreads is also the limit of shared-by in a description. A thread takes about 40 KB with a
// first level of 48 KiB, so this many take 2.6 GB.
const mostThreads = 1 << 16

func (f *simFlags) share(c call, spec *access.Spec) error {
	if !c.given("threads") {
		if c.given("grain") {
			return errors.New("--grain goes with --threads, which is missing")
		}
		return nil
	}
	if err := errors.Join(positive("threads", f.threads), positive("grain", f.grain)); err != nil {
		return err
	}
	if f.threads > mostThreads {
		return fmt.Errorf("--threads %d: want at most %d", f.threads, mostThreads)
	}
	for _, flag := range []string{"cores", "curve", "observe", "explain", "writebacks", "tlb"} {
		if f.threads > 1 && c.given(flag) {
			return fmt.Errorf("--%s is of one thread: it does not go with --threads %d",
				flag, f.threads)
		}
	}
	spec.Threads, spec.Grain = f.threads, f.grain
	return nil
}

func (f *simFlags) simulateThreads(c call, m machines.Machine, p access.Pattern) error {
	if m.Config.TLB != nil {
		c.note("--threads %d: the TLB is left out, which is of one thread", f.threads)
		m.Config.TLB = nil
	}
	var threads [][]nest.Nest
	for _, part := range p.Parts() {
		threads = append(threads, part.Nests)
	}
	t, err := simcache.NewThreads(m.Config, threads)
	if err != nil {
		return fmt.Errorf("--threads %d: %w", f.threads, err)
	}
	if _, err := f.announce(c, "simulating "+f.pattern.shape.text, t.Effort(f.passes)); err != nil {
		return err
	}
	counts, err := t.RunPasses(f.passes)
	if err != nil {
		return atFlag(err)
	}
	nests := slices.Concat(threads...)
	run := explain.Run{Config: m.Config, Levels: t.Levels(),
		Tensors: simcache.ByTensor(nests, slices.Concat(counts...)),
		Nests:   nests, Passes: f.passes, Counts: t.Counts(), Visited: t.Work()}
	return f.show(c, run, simcache.Counts.DataSummary, m.Name)
}
