package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"

	"github.com/stridebench/stridebench/access/session"
	"github.com/stridebench/stridebench/access/session/turns"
	"github.com/stridebench/stridebench/simcache"
)

// interleave runs the older program and this one, and returns the results of both. It also returns
// the selected benchmarks that only the older one has.
func (f *runFlags) interleave(c call, s *session.Session) (old, new []byte, gone []string,
	err error) {
	defer func() {
		if err != nil && c.ctx.Err() != nil {
			err = stopped(c.ctx, "of two interleaved programs nothing is kept")
		}
	}()
	if len(piped) > 0 {
		return nil, nil, nil, errors.New("--ab: both programs read --caches and --suite, again " +
			"in every turn: want files, not stdin or a pipe")
	}
	path, err := exec.LookPath(f.ab)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("--ab: %w", err)
	}
	suite := f.suiteOf.fileFlag()
	of := turns.Turns{Comparisons: s.Comparisons, Count: s.Count, Own: f.pattern.shape.set,
		Step:  func() { c.meter.Step(1) },
		Flags: func(*turns.Contender) []string { return f.childFlags(c, s) }}
	of.Old, err = turns.Meet(c.ctx, path, turns.Process(path, path), suite...)
	if err != nil {
		return nil, nil, nil, err
	}
	self, err := os.Executable()
	if err == nil {
		of.New, err = turns.Meet(c.ctx, self, turns.Process(self, os.Args[0]), suite...)
	}
	if err != nil {
		return nil, nil, nil, err
	}
	flags := append([]string{"--filter", f.suiteOf.filter}, suite...)
	if f.suiteOf.quick {
		flags = append(flags, "--quick")
	}
	if gone, err = of.Old.Gone(c.ctx, s.Comparisons, s.Studies, flags...); err != nil {
		return nil, nil, nil, err
	}
	n := len(s.Comparisons) * s.Count
	c.meter.Timed("taking "+counted(n, "turn"), n)
	old, new, err = of.Run(c.ctx)
	if errors.Is(err, turns.ErrNoneInCommon) {
		err = fmt.Errorf("--ab %s: %w", f.ab, err)
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
		flags = append(flags, "--TLB", simcache.FormatTLB(f.tlb.value))
	}
	if f.pages.set {
		flags = append(flags, "--pages", f.pages.text)
	}
	if f.tuner.Off || !f.tuner.Load() { // otherwise every turn would calibrate
		flags = append(flags, "--no-calibrate")
	}
	if f.pattern.shape.set {
		return append(flags, f.pattern.texts(c)...)
	}
	return append(flags, f.suiteOf.fileFlag()...)
}

// runAB writes both files, or neither if the first cannot be written.
func (f *runFlags) runAB(c call, s *session.Session) error {
	if f.out == "" || f.abOut == "" {
		return errors.New("--ab wants a file for each program's results: --out for this one's, " +
			"--ab-out for the other's")
	}
	newFile, err := createFile("out", f.out)
	if err != nil {
		return err
	}
	defer newFile.Discard()
	oldFile, err := createFile("ab-out", f.abOut)
	if err != nil {
		return err
	}
	defer oldFile.Discard()
	if err := f.tune(c, s); err != nil {
		return err
	}
	old, new, _, err := f.interleave(c, s)
	if err == nil {
		err = oldFile.put(old)
	}
	if err == nil {
		err = newFile.put(new)
	}
	return err
}
