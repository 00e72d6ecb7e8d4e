package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/cost"
	"github.com/stridebench/stridebench/access/probe"
	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/cpu"
)

// fileTimes are those of a file: what was measured, else generic ones, since
// those of this machine are of other caches than the file's.
func fileTimes(file string) (cost.Times, error) {
	m, err := readMeasured(file)
	if errors.Is(err, probe.ErrNotMeasured) {
		return cost.Generic(fmt.Sprintf("%s has no section measured", filepath.Base(file))), nil
	}
	if err != nil {
		return cost.Times{}, err
	}
	return cost.Measured(m), nil
}

// savedTimes are those of the machine that was measured and saved, and its
// caches; found tells whether one was.
func savedTimes() (times cost.Times, caches simcache.Config, found bool, err error) {
	m, found, err := thisMeasured()
	if err != nil || !found {
		return cost.Generic("bench machine --measure has not measured this machine"), caches, false, err
	}
	return cost.Measured(m), m.Simulated, true, nil
}

// costModel is what predictions are made by: of a file of --caches its levels,
// and its times if it was measured; else what was measured and saved; else this
// CPU's caches and generic times. Flags that name caches, and the TLB, count
// before what was measured.
func costModel(file string, geometry *geometryFlags, tlb []simcache.TLB) (cost.Model, error) {
	if file != "" {
		if geometry.set() {
			return cost.Model{}, errors.New("--caches names all caches: leave --I1, --D1 and --LL out")
		}
		m, err := readMachine(file)
		if err != nil {
			return cost.Model{}, fmt.Errorf("--caches: %w", err)
		}
		times, err := fileTimes(file)
		if err != nil {
			return cost.Model{}, fmt.Errorf("--caches: %w", err)
		}
		return cost.Model{Times: times, Caches: m.Config}, nil
	}
	times, config, found, err := savedTimes()
	if err != nil {
		return cost.Model{}, err
	}
	if !found || geometry.set() {
		detected := cpu.Caches()
		config.Levels = levelsOf(geometry.config(detected), detected)
	}
	config.TLB = tlb
	return cost.Model{Times: times, Caches: config}, nil
}

// set tells whether a flag names a cache.
func (g *geometryFlags) set() bool { return g.i1.set || g.d1.set || g.ll.set }

// levelsOf are the levels to simulate: D1, the CPU's levels that lie between, and
// LL.
func levelsOf(config simcache.Config, caches []cpu.Cache) []simcache.Level {
	d1, ll := config.First(), config.Last()
	levels := []simcache.Level{d1}
	for _, c := range caches {
		g := c.Geometry
		if c.Level > 1 && c.Type != "Instruction" && g.Line == d1.Line && g.Size > d1.Size && g.Size < ll.Size {
			levels = append(levels, simcache.Level{Name: cacheName(c), Geometry: g.Rounded()})
		}
	}
	return append(levels, ll)
}

// predictions are the ns of a pass over each pattern. It works on all CPUs.
func predictions(m cost.Model, patterns []access.Pattern) ([]float64, error) {
	all := make([]float64, len(patterns))
	var group errgroup.Group
	group.SetLimit(runtime.NumCPU())
	for i, p := range patterns {
		group.Go(func() error {
			prediction, err := m.Predict(p)
			all[i] = prediction.Ns
			return err
		})
	}
	return all, group.Wait()
}
