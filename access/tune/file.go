package tune

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/klauspost/cpuid/v2"

	"github.com/stridebench/stridebench/access/kernel"
	"github.com/stridebench/stridebench/simcache/cpu"
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
const version = 9

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

// Load tunes the kernels as a file says, and reports whether it did. The file may be missing,
// unreadable, or of another CPU or other kernels.
func Load(file, identity string) (c Calibration, known bool) {
	text, err := strict.ReadKept(file)
	if err == nil {
		c, err = Parse(text)
	}
	if known = err == nil && c.Of(identity); known {
		c.Apply()
	}
	return c, known
}

// Apply tunes the kernel sets.
func (c Calibration) Apply() {
	for _, s := range kernel.All() {
		if t, ok := c.Sets[s.Name()]; ok {
			s.Tune(t)
		}
	}
}

// A kept calibration is the file's structure.
type kept struct {
	Version int
	Calibration
}

// Parse reads what Format writes.
func Parse(text []byte) (Calibration, error) {
	var k kept
	err := json.Unmarshal(text, &k)
	if err == nil && k.Version != version {
		err = fmt.Errorf("of another version of the kernels (%d, want %d)", k.Version, version)
	}
	for name, t := range k.Sets {
		if wrong := t.Check(); err == nil && wrong != nil {
			err = fmt.Errorf("%s: %w", name, wrong)
		}
	}
	return k.Calibration, err
}

// Format writes the calibration in JSON, which is YAML, too.
func (c Calibration) Format() ([]byte, error) {
	c.Date = c.Date.UTC().Truncate(time.Second)
	text, err := json.MarshalIndent(kept{version, c}, "", "  ")
	return append(text, '\n'), err
}
