package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/stridebench/stridebench/access/advise"
	"github.com/stridebench/stridebench/access/bill"
	"github.com/stridebench/stridebench/access/operators"
	"github.com/stridebench/stridebench/access/session/node"
	"github.com/stridebench/stridebench/access/session/progress"
	"github.com/stridebench/stridebench/reports"
	"github.com/stridebench/stridebench/results/outfile"
	"github.com/stridebench/stridebench/results/show"
)

type importFlags struct {
	modelFlags
	suite, dir string
	budget     time.Duration
	top        int
	asJSON     bool
	step       bool
}

func newImport() *cobra.Command {
	var f importFlags
	cmd := verb("import FILE...", "Price the layouts of a model from a profile of it", nil,
		func(c call, files []string) error {
			defer watch(c.ctx, "this pattern")()
			return c.orStopped(f.run(c, files), "nothing is priced")
		})
	flags := cmd.Flags()
	flags.IntVar(&f.top, "top", 15, "")
	flags.BoolVar(&f.step, "step", false, "")
	flags.BoolVar(&f.asJSON, "json", false, "")
	flags.StringVar(&f.suite, "suite", "", "")
	flags.DurationVar(&f.budget, "budget", time.Minute, "")
	flags.StringVarP(&f.dir, "out", "o", "", "")
	f.modelFlags.add(flags)
	return cmd
}

func (f *importFlags) check(c call) error {
	if f.budget <= 0 {
		return fmt.Errorf("--budget %v: want more than 0, such as 30s", f.budget)
	}
	if f.dir != "" {
		if err := reports.CheckBillFolder(f.dir); err != nil {
			return err
		}
	}
	return cmp.Or(exclude(c, "step", "suite out threads"), needs(c, "suite", "budget"),
		positive("top", f.top))
}

func (f *importFlags) run(c call, names []string) error {
	if len(names) == 0 {
		return errors.New("no file: bench import wants a profile (such as bench import " +
			"trace.json.gz)")
	}
	if err := f.check(c); err != nil {
		return err
	}
	model, err := f.model(c)
	if err != nil {
		return err
	}
	c.meter.Phase("reading "+strings.Join(names, ", "), progress.SizeOf(names...))
	profile, err := operators.ReadFiles(c.ctx, c.in, c.meter.Step, names...)
	if err != nil {
		return err
	}
	for _, w := range profile.Warnings {
		c.warn("%s", show.Printable(w))
	}
	var made interface {
		Write(w io.Writer, worst, columns int) error
	}
	if f.step {
		made, err = bill.StepOf(c.ctx, profile, model, c.meter.Begin)
	} else if b, wrong := bill.Of(c.ctx, profile, model, c.meter.Begin); wrong != nil {
		err = wrong
	} else {
		made, err = b, f.write(c, b)
	}
	if err != nil {
		return err
	}
	if f.asJSON {
		return writeJSON(c.out, made)
	}
	return made.Write(c.out, f.top, columns(c.out))
}

func (f *importFlags) write(c call, b *bill.Bill) error {
	if f.suite != "" {
		text, err := b.Suite(bill.Limits{Budget: f.budget,
			Memory: node.ThisMachine().Available / 2})
		if err != nil {
			return fmt.Errorf("--suite: %w", err)
		}
		if err := outfile.WriteFile(f.suite, text); err != nil {
			return err
		}
		c.note("bench run --suite %s times the most expensive operators", f.suite)
	}
	if f.dir == "" {
		return nil
	}
	page := reports.Bill{Sources: b.Lead(), Facts: b.PredictedFor(), Sentence: b.Sentence(),
		Warnings: b.Warnings, Notes: b.Notes(), Command: commandLine()}
	for _, i := range b.Worst(100) {
		page.Rows = append(page.Rows, reports.BillRow{Operator: i.Op, Tensors: i.Tensors(),
			Verdict: i.Said(), Calls: fmt.Sprint(i.Calls),
			Layout: advise.Duration(i.Layout), Time: advise.Duration(i.Ns),
			LayoutNs: i.Layout, Ns: i.Ns})
	}
	written, err := page.Write(f.dir)
	if err != nil {
		return err
	}
	c.note("the page: %s", written)
	return nil
}
