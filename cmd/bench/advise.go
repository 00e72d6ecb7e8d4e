package main

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/advise"
	"github.com/stridebench/stridebench/access/rearrange"
	"github.com/stridebench/stridebench/access/session"
	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/simcache/cpu"
)

type adviseFlags struct {
	modelFlags
	pattern patternFlags
	program programFlags
	limit   time.Duration
	dims    []int
	order   parsed[string]
	passes  int
	top     int
	time    bool
	asJSON  bool
}

func newAdvise() *cobra.Command {
	var f adviseFlags
	cmd := verb("advise {--shape SHAPE | --program FILE.c}", "Answer whether to call "+
		"contiguous(), and how to walk a view or rearrange your own loops", noArgs,
		func(c call, _ []string) error {
			if err := cmp.Or(positive("passes", f.passes), positive("top", f.top)); err != nil {
				return err
			}
			if f.program.file != "" {
				return f.rearrange(c)
			}
			q, err := f.question(c)
			if err != nil {
				return err
			}
			defer watch(c.ctx, "this pass")()
			return c.orStopped(f.run(c, q), "nothing is advised")
		})
	flags := cmd.Flags()
	f.pattern.addTensor(flags, 1)
	f.pattern.view.parse = parseCopied
	f.pattern.addOp(flags, 1)
	flags.IntSliceVar(&f.dims, "dims", nil, "")
	f.order = oneOf("order", "row", "torch")
	flags.Var(&f.order, "order", "")
	flags.IntVar(&f.passes, "passes", 1, "")
	flags.BoolVar(&f.time, "time", false, "")
	flags.IntVar(&f.top, "top", 8, "")
	f.program.add(flags)
	flags.DurationVar(&f.limit, "limit", 4500*time.Millisecond, "")
	f.modelFlags.add(flags)
	flags.BoolVar(&f.asJSON, "json", false, "")
	return cmd
}

func (f *adviseFlags) question(c call) (advise.Question, error) {
	spec, err := f.pattern.spec()
	if err != nil {
		return advise.Question{}, err
	}
	switch {
	case spec.Op == access.Chase:
		return advise.Question{}, errors.New("--op chase: it has one order, a random one")
	case f.dims != nil && spec.Op != access.Sum:
		return advise.Question{}, fmt.Errorf("--dims goes with --op sum, not with --op %v", spec.Op)
	}
	q := advise.Question{Spec: spec, Dims: f.dims, Passes: f.passes,
		Torch: f.order.value == "torch"}
	q.Kernels = append(access.VectorKernels(), access.Builtin)
	q.Model, err = f.model(c)
	q.Spec.Threads = q.Model.Threads
	return q, err
}

func (f *adviseFlags) rearrange(c call) error {
	if err := exclude(c, "program",
		tensorNames+opNames+"dims order passes time threads pages"); err != nil {
		return err
	}
	if f.limit <= 0 {
		return fmt.Errorf("--limit %v: want a length of time above 0, such as 4s", f.limit)
	}
	m, err := f.model(c)
	if err != nil {
		return err
	}
	if f.preset == "" && f.caches == "" { // as bench sim counts
		m.Caches = f.geometry.config(cpu.Caches())
	}
	text, err := f.program.load(c)
	if err != nil {
		return err
	}
	file, err := f.program.read(c, text, m.Caches)
	if err != nil {
		return err
	}
	defer watch(c.ctx, "this count")()
	a, err := rearrange.Ask(c.ctx, file, text, m, f.limit)
	if c.ctx.Err() != nil {
		return stopped(c.ctx, "nothing is advised")
	}
	if err != nil {
		return fmt.Errorf("--program %s: %w", f.program.file, err)
	}
	most := 5
	if c.given("top") {
		most = f.top
	}
	if f.asJSON {
		return writeJSON(c.out, a.JSON(most))
	}
	return a.Write(c.out, most, columns(c.out))
}

// parseCopied parses a chain of views. A final contiguous() is what bench advise answers, so it is
// dropped.
func parseCopied(text string) (layouts.Chain, error) {
	view, _ := strings.CutSuffix(strings.TrimSpace(text), "contiguous()")
	return parseView(strings.TrimSuffix(view, "."))
}

func (f *adviseFlags) run(c call, q advise.Question) error {
	q.Begin = c.meter.Begin
	a, err := advise.Ask(c.ctx, q)
	if err != nil {
		return atFlag(err)
	}
	if f.time {
		machine := session.ThisMachine()
		if err = access.Measurable(a.Naive.Pattern, machine.Available); err == nil {
			err = a.Time(c.ctx, access.Options{Count: 7, MinTime: time.Millisecond,
				MaxMemory: machine.Available, Pages: f.pages.value})
		}
		if err != nil {
			return fmt.Errorf("--time: %w", atFlag(err))
		}
	}
	rows := a.Rows(f.top)
	if f.asJSON {
		return writeJSON(c.out, a.JSON(rows))
	}
	return a.Write(c.out, rows, columns(c.out))
}
