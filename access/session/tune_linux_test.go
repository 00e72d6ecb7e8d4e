package session

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/kernel"
	"github.com/stridebench/stridebench/access/session/node"
	"github.com/stridebench/stridebench/access/tune"
	"github.com/stridebench/stridebench/results/outfile"
	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/cpu"
)

// A watched context is cancelled when a calibration first asks, and keeps where that ran.
type watched struct {
	context.Context
	ran unix.CPUSet
}

func (w *watched) Err() error {
	if w.ran.Count() > 0 {
		return context.Canceled
	}
	return errors.Join(unix.SchedGetaffinity(0, &w.ran), context.Canceled)
}

// TestTuneCore: of a machine of several kinds of cores, a calibration is made on the CPU that
// threads are pinned to first, and one of the other kind is none of it.
func TestTuneCore(t *testing.T) {
	if !kernel.Best().Streams() {
		return // nothing is calibrated
	}
	plan := Plan{Comparisons: []access.Comparison{{{Name: "Stream",
		Spec: access.Spec{Kernel: access.Kernel(kernel.Best().Name())}}}}}
	one, other := cores(48<<10), cores(32<<10)
	file, found := filepath.Join(t.TempDir(), "kernels.yaml"), map[string]kernel.Tuning{}
	for _, s := range kernel.Sets() {
		found[s.Name()] = s.Tuning()
	}
	text, err := tune.Calibration{CPU: tune.Identity("Some CPU", one), Date: time.Unix(1e9, 0),
		Sets: found}.Format()
	if err == nil {
		err = outfile.WriteFile(file, text)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		caches []cpu.Cache
		anew   bool
	}{{one, false}, {other, true}} {
		for _, w := range cpu.Workers() {
			s := &Session{Plan: plan, machine: node.Machine{CPU: "Some CPU", Available: 16 << 20},
				detected: c.caches}
			s.CPUs = []int{w.CPU}
			ctx := &watched{Context: context.Background()}
			_, err := s.Tune(ctx, tune.Tuner{File: file})
			if interrupted := errors.As(err, new(Interrupted)); interrupted != c.anew {
				t.Errorf("%v: calibrated anew: %t, %v", c.caches, interrupted, err)
			}
			if c.anew && (ctx.ran.Count() != 1 || !ctx.ran.IsSet(w.CPU)) {
				t.Errorf("calibrated on %v, want CPU %d", ctx.ran, w.CPU)
			}
		}
	}
}

// cores are the caches of a kind of core.
func cores(size int) []cpu.Cache {
	return []cpu.Cache{{Level: 1, Type: "Data",
		Geometry: simcache.Geometry{Size: size, Ways: 8, Line: 64}}}
}
