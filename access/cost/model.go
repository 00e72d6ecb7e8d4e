package cost

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/stridebench/stridebench/access/probe"
	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/cpu"
)

// ModelOf returns the model to predict with. If name is a file of caches, the model takes levels
// and TLB from it, and also times if that machine was measured. Otherwise the model takes the saved
// measurements of this CPU, or else the given levels and generic times. It takes the given TLB, but
// measured TLB levels replace given ones of the same page size that no flag set. If asked is true,
// the given levels replace the measured ones.
func ModelOf(files probe.Files, name string, this probe.Host, levels []simcache.Level, asked bool,
	tlb []simcache.TLB) (Model, error) {
	if name != "" {
		m, err := files.Description(name)
		if err != nil {
			return Model{}, err
		}
		times, err := fileTimes(files, name)
		return Model{Times: times, Caches: m.Config}, err
	}
	m, found, err := files.Own(this)
	if err != nil {
		return Model{}, err
	}
	model := Model{Times: Generic(Unmeasured)}
	if found {
		model = Model{Times: Measured(m), Caches: m.Simulated}
	}
	if !found || asked {
		model.Caches.Levels, model.Times.Ladder = levels, nil
	}
	model.Caches.TLB = slices.Clone(tlb)
	for i, t := range m.Simulated.TLB {
		if found && i < len(tlb) && tlb[i].Source != cpu.FromFlag && tlb[i].Page == t.Page {
			model.Caches.TLB[i] = t
		}
	}
	return model, nil
}

// fileTimes returns the measured times of a description, or generic times. The times of this
// machine do not apply to the file's caches.
func fileTimes(files probe.Files, name string) (Times, error) {
	m, err := files.Machine(name)
	if errors.Is(err, probe.ErrNotMeasured) {
		return Generic(fmt.Sprintf("%s has no section measured", filepath.Base(name))), nil
	}
	if err != nil {
		return Times{}, err
	}
	return Measured(m), nil
}
