package tune

import (
	"bytes"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/klauspost/cpuid/v2"

	"github.com/stridebench/stridebench/access/kernel"
	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/cpu"
	"github.com/stridebench/stridebench/simcache/machines"
	"github.com/stridebench/stridebench/simcache/machines/strict"
)

// A Calibration is what Measure found.
type Calibration struct {
	CPU  string // that it is of, as Identity says
	Date time.Time
	Sets map[string]kernel.Tuning // by the names of sets
}

// version is that of the kernels and of how they are measured: what was found of
// others says nothing of these.
const version = 8

// Identity says what CPU this is, whose brand name may be that of several: with
// family, model and stepping, where it has them, and the caches that it states, which
// tell the kinds of cores of one machine apart.
func Identity(brand string, caches []cpu.Cache) string {
	words := []string{runtime.GOARCH, brand}
	if c := cpuid.CPU; c.Family != 0 {
		words = append(words, fmt.Sprintf("family %d model %d stepping %d", c.Family, c.Model,
			c.Stepping))
	}
	for _, c := range caches {
		if c.Known() {
			words = append(words, fmt.Sprintf("%s=%d", c.Name(), c.Geometry.Size))
		}
	}
	return strings.ToValidUTF8(strings.Join(strings.Fields(strings.Join(words, " ")), " "), "?")
}

// Of tells whether the calibration is of a CPU, and of all sets that this one runs
// and that have a choice.
func (c Calibration) Of(identity string) bool {
	if c.CPU != identity {
		return false
	}
	for _, s := range kernel.Sets() {
		if _, ok := c.Sets[s.Name()]; s.Streams() && !ok {
			return false
		}
	}
	return true
}

// Apply tunes the sets.
func (c Calibration) Apply() {
	for _, s := range kernel.All() {
		if t, ok := c.Sets[s.Name()]; ok {
			s.Tune(t)
		}
	}
}

// The words of the file.
type (
	file struct {
		Version int            `yaml:"version"`
		CPU     quoted         `yaml:"cpu"`
		Date    time.Time      `yaml:"date"`
		Sets    map[string]set `yaml:"sets"`
	}
	set struct {
		Runs       threshold `yaml:"runs"`
		Tiles      threshold `yaml:"tiles"`
		Narrow     threshold `yaml:"narrow"`
		Blocks     threshold `yaml:"blocks"`
		Ahead      int       `yaml:"ahead"`
		Reads      threshold `yaml:"reads"`
		ReadsAhead threshold `yaml:"reads-ahead"`
	}
	threshold int
	quoted    string // whatever it is
)

// MarshalYAML implements yaml.BytesMarshaler.
func (q quoted) MarshalYAML() ([]byte, error) { return strconv.AppendQuote(nil, string(q)), nil }

const never = "never"

// UnmarshalYAML implements yaml.NodeUnmarshaler.
func (t *threshold) UnmarshalYAML(n ast.Node) error {
	text, err := strict.Scalar(n, "a size such as 8MiB, or never")
	if err != nil {
		return err
	}
	if text == never {
		*t = kernel.Never
		return nil
	}
	size, err := simcache.ParseBytes(text)
	if err != nil {
		return strict.Refuse(n, err)
	}
	*t = threshold(size)
	return nil
}

// MarshalYAML implements yaml.InterfaceMarshaler.
func (t threshold) MarshalYAML() (any, error) {
	if t == kernel.Never {
		return never, nil
	}
	return machines.Size(t).String(), nil
}

// Parse reads what Format writes. An error begins with the file's name as given and
// says what would be right.
func Parse(name string, text []byte) (Calibration, error) {
	var f file
	doc, err := strict.Decode(name, text, &f)
	if err != nil {
		return Calibration{}, err
	}
	if f.Version != version {
		return Calibration{}, doc.Errorf("version",
			"of another version of the kernels (%d, want %d)", f.Version, version)
	}
	c := Calibration{CPU: string(f.CPU), Date: f.Date, Sets: map[string]kernel.Tuning{}}
	for _, name := range slices.Sorted(maps.Keys(f.Sets)) {
		s := f.Sets[name]
		t := kernel.Tuning{Runs: int(s.Runs), Tiles: int(s.Tiles), Narrow: int(s.Narrow),
			Blocks: int(s.Blocks), Ahead: s.Ahead, Reads: int(s.Reads),
			ReadsAhead: int(s.ReadsAhead)}
		if _, err := kernel.ByName(name); err != nil {
			return Calibration{}, doc.Errorf("sets", "%s: %w", name, err)
		}
		if err := t.Check(); err != nil {
			return Calibration{}, doc.Errorf("sets", "%s: %w", name, err)
		}
		c.Sets[name] = t
	}
	return c, nil
}

// Format writes the calibration as Parse reads it.
func (c Calibration) Format() ([]byte, error) {
	f := file{Version: version, CPU: quoted(c.CPU), Date: c.Date.UTC().Truncate(time.Second),
		Sets: map[string]set{}}
	for name, t := range c.Sets {
		f.Sets[name] = set{threshold(t.Runs), threshold(t.Tiles), threshold(t.Narrow),
			threshold(t.Blocks), t.Ahead, threshold(t.Reads), threshold(t.ReadsAhead)}
	}
	var text bytes.Buffer
	text.WriteString("# How the vector kernels are tuned on this CPU: the bytes written from " +
		"which on stores go\n" +
		"# past the caches, how many tiles ahead lines are asked for, and the bytes read from " +
		"which\n" +
		"# on sums ask for them, and how far ahead. 'bench run --calibrate' measures it again.\n")
	err := yaml.NewEncoder(&text).Encode(f)
	return text.Bytes(), err
}
