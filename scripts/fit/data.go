package main

import (
	"context"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/cost"
	"github.com/stridebench/stridebench/access/kernel"
	"github.com/stridebench/stridebench/access/probe"
	"github.com/stridebench/stridebench/results/outfile"
)

// rounds is how often all patterns are timed. A disturbance of one round rarely hits the same
// patterns in all rounds.
const rounds = 5

// measure writes each pattern's least time of all rounds, with the date, CPU and load.
func measure(ctx context.Context, folder string) error {
	_, machine, err := model(folder)
	if err != nil {
		return err
	}
	all, err := patterns(machine.Capacities())
	if err != nil {
		return err
	}
	before := load()
	for round := range rounds {
		for i := range all {
			if round == 0 {
				all[i].ns = math.Inf(1)
			}
			p, err := all[i].spec.Pattern()
			if err != nil {
				return fmt.Errorf("%s: %w", all[i].name, err)
			}
			for s, err := range access.Measure(ctx, []access.Pattern{p},
				access.Options{Count: 3, MinTime: time.Millisecond}) {
				if err != nil {
					return fmt.Errorf("%s: %w", all[i].name, err)
				}
				all[i].ns = min(all[i].ns, s.PerPass)
			}
		}
		fmt.Fprintf(os.Stderr, "round %d of %d\n", round+1, rounds)
	}
	return write(folder, all, fmt.Sprintf("%s, %s, load %s before and %s after",
		time.Now().UTC().Format(time.DateOnly), machine.CPU, before, load()))
}

func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	return strings.Fields(string(text))[0]
}

func model(folder string) (cost.Model, probe.Machine, error) {
	file := filepath.Join(folder, "machine.yaml")
	machine, err := probe.Files{}.Machine(file)
	if err != nil {
		return cost.Model{}, machine, fmt.Errorf("%w (bench machine --measure -o %s)", err, file)
	}
	m, err := cost.ModelOf(probe.Files{}, file, probe.Host{}, nil, false, nil)
	return m, machine, err
}

func write(folder string, all []timed, when string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n", when)
	w := csv.NewWriter(&b)
	for _, t := range all {
		if err := w.Write([]string{t.family, t.name,
			strconv.FormatFloat(t.ns, 'g', 6, 64)}); err != nil {
			return err
		}
	}
	w.Flush()
	return outfile.WriteFile(filepath.Join(folder, timesFile), []byte(b.String()))
}

func recorded(folder string) (when string, ns map[[2]string]float64, err error) {
	text, err := os.ReadFile(filepath.Join(folder, timesFile))
	if err != nil {
		return "", nil, err
	}
	when, rest, _ := strings.Cut(string(text), "\n")
	rows, err := csv.NewReader(strings.NewReader(rest)).ReadAll()
	if err != nil {
		return "", nil, err
	}
	ns = map[[2]string]float64{}
	for _, row := range rows {
		if ns[[2]string{row[0], row[1]}], err = strconv.ParseFloat(row[2], 64); err != nil {
			return "", nil, err
		}
	}
	return strings.TrimPrefix(when, "# "), ns, nil
}

// A data set is the timed patterns of one or more machines, with their counted misses.
type dataSet struct {
	machines []machine
	patterns []timed
	lowered  []access.Pattern
	counted  [][]cost.Counted // by pattern; nil for a chase
	chased   []float64        // ns of a chase, whose price has no constants
	leave    rule             // the rule to leave out
}

type machine struct {
	name, when string
	model      cost.Model
	measured   probe.Machine
}

// read reads the times of all folders in a folder, and counts the patterns' misses.
func read(folder string) (*dataSet, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*", timesFile))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("no folder in %s has a %s (measure writes one)", folder, timesFile)
	}
	d := &dataSet{}
	for _, file := range files {
		if err := d.add(filepath.Dir(file)); err != nil {
			return nil, err
		}
	}
	return d, nil
}

const timesFile = "times.csv"

func (d *dataSet) add(folder string) error {
	m, measured, err := model(folder)
	if err != nil {
		return err
	}
	when, ns, err := recorded(folder)
	if err != nil {
		return err
	}
	all, err := patterns(measured.Capacities())
	if err != nil {
		return err
	}
	d.machines = append(d.machines, machine{filepath.Base(folder), when, m, measured})
	for _, t := range byAnyKernel(all) {
		if t.ns = ns[[2]string{t.family, t.name}]; t.ns == 0 {
			continue // the CPU of the data does not run its kernel
		}
		t.machine = len(d.machines) - 1
		p, err := t.spec.Pattern()
		if err != nil {
			return err
		}
		var counted []cost.Counted
		var chased cost.Prediction
		if p.Ring == nil {
			counted, err = m.Count(p)
		} else {
			chased, err = m.Predict(p)
		}
		if err != nil {
			return err
		}
		d.patterns, d.lowered, d.counted, d.chased = append(d.patterns, t), append(d.lowered, p),
			append(d.counted, counted), append(d.chased, chased.Ns)
	}
	return nil
}

// byAnyKernel adds the patterns of all other vector kernels. The data may come from a CPU with
// other kernels, which every CPU can plan.
func byAnyKernel(all []timed) []timed {
	planned := map[string]bool{}
	for _, t := range all {
		planned[t.name] = true
	}
	for _, t := range slices.Clone(all) {
		was := t.spec.Kernel
		own, ok := strings.CutSuffix(t.name, "/kernel="+was.String())
		for _, set := range kernel.All() {
			of := access.Kernel(set.Name())
			if t.name = own + "/kernel=" + of.String(); ok && !planned[t.name] &&
				was != access.Scalar && was != access.Builtin {
				t.spec.Kernel = of
				all, planned[t.name] = append(all, t), true
			}
		}
	}
	return all
}

func (d *dataSet) predict(i int, rules *cost.Rules) float64 {
	if d.counted[i] == nil {
		return d.chased[i]
	}
	m := d.machines[d.patterns[i].machine].model
	if rules != nil {
		left := d.leave.left(*rules)
		rules = &left
	}
	m.Rules = rules
	return m.Price(d.lowered[i], d.counted[i]).Ns
}
