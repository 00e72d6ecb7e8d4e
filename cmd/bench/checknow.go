package main

import (
	"bytes"
	"context"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/stridebench/stridebench/access/session"
	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/results/check"
)

// reportNow runs the suite and compares it with the baseline. What is known
// beforehand to compare with nothing is not run.
func (f *checkFlags) reportNow(ctx context.Context, c call, old *results.Set) (*check.Report, []byte, error) {
	if err := f.baselineGeometry(old); err != nil {
		return nil, nil, err
	}
	s, err := f.prepare(c)
	if err != nil {
		return nil, nil, err
	}
	if err := f.leaveOut(c, old, s); err != nil {
		return nil, nil, err
	}
	expected, err := s.Expected(old)
	if err != nil {
		return nil, nil, err
	}
	report, err := f.compare(old, thisRun, expected)
	if err != nil || report.Nothing != "" {
		return report, nil, err
	}
	if new := len(report.Appeared); new > 0 && !f.update && f.out == "" {
		fmt.Fprintf(c.err, "note: %d benchmarks that %s lacks are not run (with --update or --out they are)\n", new, f.baseline)
		s.Only(old.Names())
	}
	text, err := f.runNow(ctx, c, s)
	if err != nil {
		return nil, nil, err
	}
	report, err = f.compare(old, thisRun, text)
	return report, text, err
}

// runNow is the text of the results of a run.
func (f *checkFlags) runNow(ctx context.Context, c call, s *session.Session) ([]byte, error) {
	defer watch(ctx)()
	var text bytes.Buffer
	err := measure(ctx, c, s, &text)
	if ctx.Err() != nil {
		return nil, stopped(ctx, "nothing is compared or kept")
	}
	if err == nil && f.out != "" {
		err = writeFile("out", f.out, text.Bytes())
	}
	return text.Bytes(), err
}

// leaveOut takes out of a baseline what --quick leaves out of the suite: that was
// asked for, and is nothing that vanished.
func (f *checkFlags) leaveOut(c call, old *results.Set, s *session.Session) error {
	if !f.suiteOf.quick {
		return nil
	}
	whole := f.suiteOf
	whole.quick = false
	suite, _, err := whole.read()
	if err != nil {
		return err
	}
	all := len(old.Results)
	if left := s.LeaveOut(old, suite); left > 0 {
		fmt.Fprintf(c.err, "note: --quick leaves out %d of the %d results of %s\n", left, all, f.baseline)
	}
	return nil
}

// baselineGeometry sets the flags of the caches that are not given to what the
// baseline simulated.
func (f *checkFlags) baselineGeometry(old *results.Set) error {
	if f.caches != "" {
		return nil
	}
	config, err := old.Config()
	if err != nil {
		return fmt.Errorf("--baseline: %w", err)
	}
	for key, flag := range map[string]interface {
		pflag.Value
		given() bool
	}{results.D1Key: &f.geometry.d1, results.LLKey: &f.geometry.ll, results.TLBKey: &f.tlb} {
		if config[key] == "" || flag.given() {
			continue
		}
		if err := flag.Set(config[key]); err != nil {
			return fmt.Errorf("--baseline %s: %s %q: %w", f.baseline, key, config[key], err)
		}
	}
	return nil
}
