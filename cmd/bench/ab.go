package main

import (
	"errors"
	"fmt"

	"github.com/stridebench/stridebench/access/session"
	"github.com/stridebench/stridebench/access/session/turns"
	"github.com/stridebench/stridebench/simcache/cpu"
)

// interleave runs the older program and this one, writes this one's results to --out, and returns
// the results of both. It also returns the selected benchmarks that only the older one has.
func (f *runFlags) interleave(c call, s *session.Session) (old, new []byte, gone []string,
	err error) {
	if len(piped) > 0 {
		return nil, nil, nil, errors.New("--ab: both programs read --caches and --suite, again " +
			"in every turn: want files, not stdin or a pipe")
	}
	file, err := createFile(f.out)
	if err != nil {
		return nil, nil, nil, err
	}
	defer file.Discard()
	if err := f.tune(c, s); err != nil {
		return nil, nil, nil, err
	}
	of := turns.Turns{Comparisons: s.Comparisons, Count: s.Count, Own: f.pattern.shape.set,
		Flags: f.childFlags(c, s), Step: func() { c.meter.Step(1) }}
	if err = of.Meet(c.ctx, f.ab, f.suiteOf.flags()...); err == nil {
		n := len(s.Comparisons) * s.Count
		gone = of.Gone(s.Studies)
		c.meter.Timed("taking "+counted(n, "turn"), n)
		old, new, err = of.Run(c.ctx)
	}
	switch {
	case err == nil:
		err = file.Put(new)
	case c.ctx.Err() != nil:
		err = stopped(c.ctx, "of two interleaved programs nothing is kept")
	default:
		err = fmt.Errorf("--ab: %w", err)
	}
	return old, new, gone, err
}

// childFlags returns the flags of one turn, without those that choose the benchmark.
func (f *runFlags) childFlags(c call, s *session.Session) []string {
	flags := []string{"run", "--count", "1", "--sample-time", s.SampleTime.String()}
	if f.caches != "" {
		flags = append(flags, "--caches", f.caches)
	} else {
		flags = append(flags, "--D1", s.Caches.First().String(), "--LL", s.Caches.Last().String())
	}
	if f.tlb.set {
		flags = append(flags, "--TLB", cpu.FormatTLB(f.tlb.value))
	}
	if f.pages.set {
		flags = append(flags, "--pages", f.pages.text)
	}
	if f.tuner.Off || !loadKernels() { // otherwise every turn would calibrate
		flags = append(flags, "--no-calibrate")
	}
	if f.pattern.shape.set {
		return append(flags, f.pattern.texts(c)...)
	}
	return append(flags, f.suiteOf.fileFlag()...)
}

// runAB writes both files. If this program's cannot be written, it writes neither.
func (f *runFlags) runAB(c call, s *session.Session) error {
	if f.out == "" || f.abOut == "" {
		return errors.New("--ab wants a file for each program's results: --out for this one's, " +
			"--ab-out for the other's")
	}
	file, err := createFile(f.abOut)
	if err != nil {
		return err
	}
	defer file.Discard()
	old, _, _, err := f.interleave(c, s)
	if err != nil {
		return err
	}
	return file.Put(old)
}
