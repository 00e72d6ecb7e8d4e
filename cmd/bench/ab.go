package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/stridebench/stridebench/access/session"
	"github.com/stridebench/stridebench/access/session/progress"
	"github.com/stridebench/stridebench/access/session/turns"
	"github.com/stridebench/stridebench/simcache"
)

// A pair is two programs whose samples are interleaved.
type pair struct{ old, new *turns.Contender }

// programs returns the older program and this one.
func (f *runFlags) programs(ctx context.Context) (p pair, err error) {
	for _, read := range [][2]string{{"caches", f.caches}, {"suite", f.suiteOf.file}} {
		if _, is := piped[read[1]]; is {
			return p, fmt.Errorf("--%s %s: with --ab both programs read it, again in every turn: "+
				"want a file, which this is not", read[0], read[1])
		}
	}
	path, err := exec.LookPath(f.ab)
	if err != nil {
		here := "." + string(filepath.Separator) + f.ab
		if _, missing := exec.LookPath(here); missing == nil && filepath.Base(f.ab) == f.ab {
			err = fmt.Errorf("%w (%s is the program of this folder)", err, here)
		}
		return p, fmt.Errorf("--ab: %w", err)
	}
	self, err := os.Executable()
	if err != nil {
		return p, err
	}
	if p.old, err = turns.Meet(ctx, path, turns.Process(path, path),
		f.suiteOf.fileFlag()...); err != nil {
		return p, abFault(ctx, err)
	}
	p.new, err = turns.Meet(ctx, self, turns.Process(self, os.Args[0]), f.suiteOf.fileFlag()...)
	return p, abFault(ctx, err)
}

// abFault returns err, or the interruption that caused it.
func abFault(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return stopped(ctx, "of two interleaved programs nothing is kept")
	}
	return err
}

func (f *runFlags) interleave(ctx context.Context, c call, s *session.Session, p pair) (old,
	new []byte, err error) {
	all := len(s.Comparisons) * s.Count
	meter := progress.New(c.err)
	defer meter.End()
	meter.Timed("taking "+counted(all, "turn"), all)
	old, new, err = turns.Turns{Old: p.old, New: p.new,
		Comparisons: s.Comparisons, Count: s.Count,
		Flags: func(of *turns.Contender) []string { return f.childFlags(s, of) },
		Own:   f.pattern.shape.set, Step: func() {
			meter.Step(1)
		}}.Run(ctx)
	if errors.Is(err, turns.ErrNoneInCommon) {
		err = fmt.Errorf("--ab %s: %w", f.ab, err)
	}
	return old, new, abFault(ctx, err)
}

// gone returns the selected benchmarks that only the older program has.
func (f *runFlags) gone(ctx context.Context, old *turns.Contender,
	s *session.Session) ([]string, error) {
	flags := append([]string{"--filter", f.suiteOf.filter}, f.suiteOf.fileFlag()...)
	if f.suiteOf.quick {
		flags = append(flags, "--quick")
	}
	names, err := old.Gone(ctx, s.Comparisons, s.Studies, flags...)
	return names, abFault(ctx, err)
}

// childFlags returns the flags of one turn of p, without those that choose the benchmark. Besides
// what the user gave, it passes flags that every version has, or that p knows.
func (f *runFlags) childFlags(s *session.Session, p *turns.Contender) []string {
	flags := []string{"run", "--count", "1", "--sample-time", s.SampleTime.String()}
	if f.caches != "" && p.Knows("--TLB") { // it also takes the TLB of a description
		file := f.caches
		// p may not know a word such as measured.
		if path, _, err := files().Text(file); err == nil {
			file = path
		}
		flags = append(flags, "--caches", file)
	} else {
		flags = append(flags, "--D1", s.Caches.First().String(), "--LL", s.Caches.Last().String())
	}
	if f.tlb.set {
		flags = append(flags, "--TLB", simcache.FormatTLB(f.tlb.value))
	}
	if f.pages.set {
		flags = append(flags, "--pages", f.pages.text)
	}
	// Otherwise every turn would calibrate.
	if (f.tuner.Off || !f.tuner.Load()) && p.Knows("--no-calibrate") {
		flags = append(flags, "--no-calibrate")
	}
	if !f.pattern.shape.set {
		return append(flags, f.suiteOf.fileFlag()...)
	}
	return append(flags, f.pattern.texts()...)
}

// runAB writes both files, or neither if the first cannot be written.
func (f *runFlags) runAB(ctx context.Context, c call, s *session.Session) error {
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
	p, err := f.programs(ctx)
	if err != nil {
		return err
	}
	old, new, err := f.interleave(ctx, c, s, p)
	if err != nil {
		return err
	}
	if _, err := oldFile.Write(old); err != nil {
		return err
	}
	if _, err := newFile.Write(new); err != nil {
		return err
	}
	if err := oldFile.Commit(); err != nil {
		return err
	}
	return newFile.Commit()
}
