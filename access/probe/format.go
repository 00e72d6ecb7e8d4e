package probe

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/stridebench/stridebench/simcache/machines"
)

// ErrNotMeasured is the error of a description without a section measured.
var ErrNotMeasured = errors.New("a description without a section measured, which bench machine " +
	"--measure writes")

// Parse reads what Format writes. Errors name the file, line and column, and say what would be
// right.
func Parse(name string, text []byte) (Machine, error) {
	d, s, doc, err := machines.ParseMeasured[section](name, text)
	if err != nil {
		return Machine{}, err
	}
	if s == nil {
		return Machine{}, fmt.Errorf("%s: %w", name, ErrNotMeasured)
	}
	m := Machine(*s)
	if f := m.check(); f.err != nil {
		return Machine{}, doc.Errorf("measured."+f.path, "%w", f.err)
	}
	m.Simulated = d.Config
	return m, nil
}

type fault struct {
	path string
	err  error
}

func (m Machine) check() fault {
	if len(m.Levels) == 0 {
		return fault{"levels", errors.New("no levels (want at least one)")}
	}
	if m.Date.IsZero() {
		return fault{"date", errors.New("no date")}
	}
	return cmp.Or(figures("", "", reflect.ValueOf(m)),
		ascending("levels", m.Levels, func(l Level) float64 { return float64(l.Capacity) }),
		ascending("levels", m.Levels, func(l Level) float64 { return l.Latency }),
		ascending("loads", m.Loads, func(l Load) float64 { return 1 + l.Share }),
		sampled(m.Loads),
		ascending("ladder", m.Ladder, func(p Point) float64 { return float64(p.Size) }),
		ascending("page-ladder", m.PageLadder, func(p Pages) float64 { return float64(p.Pages) }))
}

func ascending[T any](path string, all []T, value func(T) float64) fault {
	last := 0.0
	for i, one := range all {
		if v := value(one); v <= last {
			return fault{fmt.Sprintf("%s[%d]", path, i),
				fmt.Errorf("%v after %v (want more than before)", v, last)}
		}
		last = value(one)
	}
	return fault{}
}

// sampled finds the first load without samples, or with different numbers of times and bandwidths.
func sampled(loads []Load) fault {
	for i, l := range loads {
		if len(l.Ns) == 0 || len(l.Ns) != len(l.Bandwidth) || l.Share > 1 {
			err := fmt.Errorf("%d times and %d bandwidths of a share of %v (want as many of "+
				"both, of 1 at most)",
				len(l.Ns), len(l.Bandwidth), l.Share)
			return fault{fmt.Sprintf("loads[%d]", i), err}
		}
	}
	return fault{}
}

// leastBandwidth in GB/s and mostFigure in ns lie beyond any machine, and well within a float64.
const leastBandwidth, mostFigure = 1e-6, 1e12

// figures finds the first figure that no machine has. Optional figures may be 0.
func figures(path, tag string, v reflect.Value) (f fault) {
	name, option, _ := strings.Cut(tag, ",")
	switch v.Kind() {
	case reflect.Int, reflect.Float64:
		n, least := v.Convert(reflect.TypeFor[float64]()).Float(), 0.0
		if v.Type() == reflect.TypeFor[Bandwidth]() {
			least = leastBandwidth
		}
		if n == 0 && option == "" || n != 0 && !(n >= least && n <= mostFigure) {
			err := fmt.Errorf("%s: %v (want a figure between %v and %v)", name, v,
				least, mostFigure)
			return fault{path, err}
		}
	case reflect.Slice:
		for i := range v.Len() {
			at := path
			if v.Index(i).Kind() == reflect.Struct { // structs have lines of their own
				at = fmt.Sprintf("%s[%d]", path, i)
			}
			f = cmp.Or(f, figures(at, tag, v.Index(i)))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			of := v.Type().Field(i).Tag.Get("yaml")
			if of == "" || of == "-" || v.Field(i).IsZero() && path == "" {
				continue
			}
			word, _, _ := strings.Cut(of, ",")
			f = cmp.Or(f, figures(cmp.Or(path, word), of, v.Field(i)))
		}
	}
	return f
}

// Format writes the machine as Parse reads it.
func (m Machine) Format() ([]byte, error) {
	m.Date = m.Date.UTC().Truncate(time.Second)
	return machines.Format(machines.Machine{
		Name: "measured",
		Description: fmt.Sprintf("%s, measured on %s", cmp.Or(m.CPU, "unknown CPU"),
			m.Date.Format(time.DateOnly)),
		Sources: []string{"sizes and entries: bench machine --measure; ways and lines: about " +
			"those that the " +
			"machine states, or where it states no ways those found by conflict, such that sets " +
			"come out even"},
		Config: m.Simulated,
	}, &m)
}
