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

// A Calibration is the result of Measure.
type Calibration struct {
	CPU  string // the Identity of its CPU
	Date time.Time
	Sets map[string]kernel.Tuning // by name of the kernel set
}

// version is the version of the kernels and of their measurement. Calibrations of others do not
// apply.
const version = 8

// Identity returns a string for this CPU. Brand names may be shared, so it adds family, model and
// stepping, if known, and the stated caches. Caches distinguish kinds of cores of one machine.
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

// Of reports whether the calibration is of this CPU and has all sets that the CPU runs and that
// need tuning.
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

// A Tuner says how the vector kernels are tuned to this CPU.
type Tuner struct {
	File string // that keeps a calibration; "" for none
	Anew bool   // calibrate whatever the file says
	Off  bool   // leave the kernels at their defaults, the same on every CPU
}

// Load tunes the kernels as the file says, and reports whether it did. The file may be missing,
// unreadable, or of another CPU or other kernels.
func Load(file, identity string) (c Calibration, kept bool) {
	text, err := strict.ReadKept(file)
	if err == nil {
		c, err = Parse(file, text)
	}
	if kept = err == nil && c.Of(identity); kept {
		c.Apply()
	}
	return c, kept
}

// Apply tunes the kernel sets.
func (c Calibration) Apply() {
	for _, s := range kernel.All() {
		if t, ok := c.Sets[s.Name()]; ok {
			s.Tune(t)
		}
	}
}

// The file's structure.
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
	quoted    string // always quoted
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

// Parse reads what Format writes. Errors begin with the file's name and say what would be right.
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
