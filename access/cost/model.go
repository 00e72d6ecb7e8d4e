package cost

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/stridebench/stridebench/access/probe"
	"github.com/stridebench/stridebench/simcache"
)

// ModelOf returns the model to predict with. If name names a file of caches, the model
// has the levels and the TLB of the file, and its times if the machine was measured.
// Otherwise it has the saved measurements of this CPU, if there are any, and if not,
// these levels and generic times; both with this TLB, of which measured levels replace
// those of the same pages that no flag gives. If asked is set, the levels were
// asked for and replace those that were measured.
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
		if found && i < len(tlb) && tlb[i].Source != simcache.FromFlag && tlb[i].Page == t.Page {
			model.Caches.TLB[i] = t
		}
	}
	return model, nil
}

// fileTimes are the times of a description: those that were measured of it, else
// generic ones, since those of this machine are of other caches than the file's.
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
