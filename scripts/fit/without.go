package main

import (
	"encoding/csv"
	"fmt"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/stridebench/stridebench/access/cost"
	"github.com/stridebench/stridebench/access/probe"
	"github.com/stridebench/stridebench/results/outfile"
)

// A rule is a part of the model that can be left out.
type rule struct {
	name  string
	fixed map[string]float64 // constants with a fixed value
	same  map[string]string  // constants that equal another
	part  string             // of cost.Parts
	count bool               // it changes the misses

	machine func(*probe.Machine) // removes measurements
}

func rules() []rule {
	constant := func(name string, without float64) rule {
		return rule{name: name, fixed: map[string]float64{name: without}}
	}
	all := []rule{
		constant("Row", 0), constant("Block", 0), constant("Walk", 0),
		{name: "SumRow", same: map[string]string{"SumRow": "Row"}},
		{name: "SumWalk", same: map[string]string{"SumWalk": "Walk"}},
		{name: "Overlap (1)", fixed: map[string]float64{"Overlap": 1}},
		{name: "Overlap (none)", fixed: map[string]float64{"Overlap": 64}},
		constant("InFlight", 1e12), constant("Window", 1e12),
		{name: "Pending", same: map[string]string{"Pending": "Window"}},
	}
	measured := func(name string, count bool, off func(*probe.Machine)) {
		all = append(all, rule{name: "measured " + name, count: count, machine: off})
	}
	speeds := func(of func(s *probe.Speed)) func(*probe.Machine) {
		return func(m *probe.Machine) {
			m.Levels = slices.Clone(m.Levels)
			for i := range m.Levels {
				of(&m.Levels[i].Speed)
			}
			of(&m.Memory)
		}
	}
	measured("loops", false, func(m *probe.Machine) { m.Loops = nil })
	measured("streams of loops", false, func(m *probe.Machine) { m.Streamed = nil })
	measured("tiles", false, func(m *probe.Machine) { m.Tiles = nil })
	measured("near", false, speeds(func(s *probe.Speed) { s.Near = 0 }))
	measured("crowded", false, speeds(func(s *probe.Speed) { s.Crowded, s.CrowdedStore = 0, 0 }))
	measured("share of all cores", false, speeds(func(s *probe.Speed) {
		s.ReadAll, s.CopyAll = 0, 0
	}))
	measured("apart of the TLB", false, func(m *probe.Machine) {
		m.TLB = slices.Clone(m.TLB)
		for i := range m.TLB {
			m.TLB[i].Apart = 0
		}
	})
	measured("ladder of latencies", true, func(m *probe.Machine) { m.Ladder = nil })
	for _, part := range cost.Parts {
		all = append(all, rule{name: part, part: part, count: part == "served"})
	}
	return all
}

// clear is the relative increase of the error, on two machines, that justifies a rule.
const clear = .02

// without cross-validates the model without each rule. It writes the increase of each machine's
// median, of its 90th percentile, and of their geometric mean.
func without(d *dataSet, folder string) error {
	var text strings.Builder
	w := csv.NewWriter(&text)
	head := []string{"without", "worse on machines"}
	for _, m := range d.machines {
		head = append(head, m.name+" median", m.name+" one in ten", m.name+" both")
	}
	head = append(head, "all median", "all one in ten")
	if err := w.Write(head); err != nil {
		return err
	}
	before := d.errors(d.nearly())
	for _, r := range rules() {
		now, err := d.leaving(r)
		if err != nil {
			return err
		}
		row, worse := []string{}, 0
		share := func(now, before float64) string {
			return fmt.Sprintf("%+.1f%%", 100*(now/before-1))
		}
		for k, of := range now[:len(d.machines)] {
			both, was := math.Sqrt(of.Median*of.Tenth), math.Sqrt(before[k].Median*before[k].Tenth)
			if both >= (1+clear)*was {
				worse++
			}
			row = append(row, share(of.Median, before[k].Median), share(of.Tenth, before[k].Tenth),
				share(both, was))
		}
		last := now[len(now)-1]
		row = slices.Concat([]string{r.name, fmt.Sprint(worse)}, row,
			[]string{fmt.Sprintf("%.1f%%", 100*last.Median), fmt.Sprintf("%.1f%%", 100*last.Tenth)})
		fmt.Println(strings.Join(row, " "))
		if err := w.Write(row); err != nil {
			return err
		}
	}
	w.Flush()
	return outfile.WriteFile(filepath.Join(folder, "without.csv"), []byte(text.String()))
}

func (d *dataSet) errors(predicted []float64) (all []cost.FitError) {
	for k := range d.machines {
		all = append(all, d.error("", predicted, func(i int) bool {
			return d.patterns[i].machine == k
		}))
	}
	return append(all, d.error("", predicted, func(int) bool { return true }))
}

func (d *dataSet) leaving(r rule) ([]cost.FitError, error) {
	out := *d
	out.leave, out.machines = r, slices.Clone(d.machines)
	for k := range out.machines {
		out.machines[k].model.Without = r.part
		if m := out.machines[k].measured; r.machine != nil {
			r.machine(&m)
			out.machines[k].model.Times = cost.Measured(m)
		}
	}
	if r.count {
		if err := out.count(); err != nil {
			return nil, err
		}
	}
	return out.errors(out.nearly()), nil
}

// nearly cross-validates approximately. It fits all patterns, and takes one step from there without
// each family. That takes a tenth of the time of complete fits.
func (d *dataSet) nearly() []float64 {
	rules := d.least(cost.Fitted().Rules, func(int) bool { return true })
	crossed := make([]float64, len(d.patterns))
	x := logs(rules)
	f := fitting{data: d, start: x}
	f.weights = d.weights(func(int) bool { return true })
	r := f.residuals(x)
	f.known = f.derivatives(x, r)
	for _, family := range d.families() {
		f.weights = d.weights(func(i int) bool { return d.patterns[i].family != family })
		moved, ok := f.step(x, r, 1e-3)
		if !ok {
			moved = x
		}
		of := rulesOf(moved)
		for i, t := range d.patterns {
			if t.family == family {
				crossed[i] = d.predict(i, &of)
			}
		}
	}
	return crossed
}

func (d *dataSet) count() (err error) {
	d.counted, d.chased = slices.Clone(d.counted), slices.Clone(d.chased)
	for i, p := range d.lowered {
		m := d.machines[d.patterns[i].machine].model
		if p.Ring == nil {
			d.counted[i], err = m.Count(p)
		} else {
			var chased cost.Prediction
			chased, err = m.Predict(p)
			d.chased[i] = chased.Ns
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// left returns the rules without r.
func (r rule) left(rules cost.Rules) cost.Rules {
	v := reflect.ValueOf(&rules).Elem()
	for name, is := range r.fixed {
		v.FieldByName(name).SetFloat(is)
	}
	for name, of := range r.same {
		v.FieldByName(name).SetFloat(v.FieldByName(of).Float())
	}
	return rules
}

// fits reports whether a constant is fitted.
func (r rule) fits(name string) bool {
	_, fixed := r.fixed[name]
	_, same := r.same[name]
	return !fixed && !same
}
