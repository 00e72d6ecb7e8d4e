package session

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/stridebench/stridebench/access/kernel"
	"github.com/stridebench/stridebench/access/session/node"
	"github.com/stridebench/stridebench/access/tune"
	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/results/keys"
	"github.com/stridebench/stridebench/results/outfile"
	"github.com/stridebench/stridebench/simcache/cpu"
	"github.com/stridebench/stridebench/simcache/machines/strict"
)

// A Tuner says how the vector kernels are tuned to this CPU.
type Tuner struct {
	File string // that keeps a calibration; "" for none
	Anew bool   // calibrate whatever the file says
	Off  bool   // leave the kernels at their defaults, the same on every CPU
}

// Load tunes the kernels as the file says, and reports whether it did. The file may be missing,
// unreadable, or of another CPU or other kernels.
func (t Tuner) Load() bool {
	_, kept := t.load(identity())
	return kept
}

// identity is for the CPU that a thread is pinned to by default.
func identity() string { return tune.Identity(node.ThisMachine().CPU, cpu.Caches()) }

func (t Tuner) load(identity string) (c tune.Calibration, kept bool) {
	c, err := t.read()
	if err != nil || !c.Of(identity) {
		return c, false
	}
	c.Apply()
	return c, true
}

func (t Tuner) read() (tune.Calibration, error) {
	text, err := strict.ReadKept(t.File)
	if err != nil {
		return tune.Calibration{}, err
	}
	return tune.Parse(t.File, text)
}

// Tune tunes the kernels before the session runs, by the file's calibration of the first pinned
// CPU. Without one, it calibrates that CPU in less than two seconds and saves the result; the
// warning says that saving failed. Unless t.Anew is set, it leaves a session without tunable
// kernels alone. If the context is cancelled, the error is Interrupted.
func (s *Session) Tune(ctx context.Context, t Tuner) (warning string, err error) {
	depends, this := s.tunable() != nil, tune.Identity(s.machine.CPU, s.detected)
	switch wanted := t.Anew && slices.ContainsFunc(kernel.Sets(), (*kernel.Set).Streams); {
	case !depends && !wanted:
		return "", nil
	case t.Off:
		s.tuned = "none, which is the same on every CPU"
		return "", nil
	case !t.Anew:
		if c, kept := t.load(this); kept {
			s.tuned = "of " + c.Date.Format(time.RFC3339)
			return "", nil
		}
	}
	start := time.Now()
	// The first timed CPU; any CPU if the kernel refuses to pin.
	unpin, _ := cpu.RunOn(append(slices.Clone(s.CPUs), cpu.Workers()[0].CPU)[0])
	found, err := tune.Measure(ctx, kernel.Sets(), s.machine.Available/2)
	unpin()
	if err != nil {
		return "", Interrupted{0, s.samples(), context.Cause(ctx)}
	}
	c := tune.Calibration{CPU: this, Date: start, Sets: found}
	c.Apply()
	if depends {
		s.tuned = fmt.Sprintf("made for this run in %.1f s", time.Since(start).Seconds())
	}
	if err := t.keep(c); err != nil {
		return fmt.Sprintf("the calibration of the kernels is not saved, so each run makes it "+
			"again (--no-calibrate leaves it out): %v", err), nil
	}
	return "", nil
}

func (t Tuner) keep(c tune.Calibration) error {
	text, err := c.Format()
	if err == nil && t.File == "" {
		err = fmt.Errorf("the user has no cache folder")
	}
	if err == nil {
		err = strict.Regular(t.File)
	}
	if err != nil {
		return err
	}
	return outfile.WriteFile(t.File, text)
}

// tunable returns the session's sets of tunable kernels.
func (s *Session) tunable() (sets []*kernel.Set) {
	for _, set := range kernel.Sets() {
		uses := func(b string) bool { return b == set.Name() }
		if set.Streams() && slices.ContainsFunc(s.kernels(), uses) {
			sets = append(sets, set)
		}
	}
	return sets
}

func (s *Session) kernels() (names []string) {
	for _, c := range s.Comparisons {
		for _, b := range c {
			names = append(names, b.Spec.Kernel.String())
		}
	}
	return names
}

func (s *Session) tunings() (lines []results.Pair) {
	for _, set := range s.tunable() {
		lines = append(lines, results.Pair{Key: keys.Tuning + set.Name(),
			Value: set.Tuning().String()})
	}
	return lines
}
