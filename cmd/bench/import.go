package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/advise"
	"github.com/stridebench/stridebench/access/bill"
	"github.com/stridebench/stridebench/access/operators"
	"github.com/stridebench/stridebench/access/session/node"
	"github.com/stridebench/stridebench/access/session/progress"
	"github.com/stridebench/stridebench/reports"
	"github.com/stridebench/stridebench/results/outfile"
	"github.com/stridebench/stridebench/results/show"
	"github.com/stridebench/stridebench/simcache/machines"
)

type importFlags struct {
	modelFlags
	order      parsed[string]
	suite, dir string
	budget     time.Duration
	top        int
	asJSON     bool
	step       bool
}

func newImport() *cobra.Command {
	var f importFlags
	cmd := &cobra.Command{
		Use:   "import FILE...",
		Short: "Price the layouts of a model from a profile of it",
		RunE: func(cmd *cobra.Command, files []string) error {
			c, ctx := callOf(cmd), cmd.Context()
			if f.preset == "list" {
				return writeTables(c.out, machines.WriteList)
			}
			defer watch(ctx, "this pattern")()
			err := f.run(ctx, c, files)
			if ctx.Err() != nil {
				return stopped(ctx, "nothing is priced")
			}
			return err
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.IntVar(&f.top, "top", 15, "rows of the table")
	flags.BoolVar(&f.step, "step", false, "simulate all calls of an execution trace in sequence")
	flags.BoolVar(&f.asJSON, "json", false, "print the whole bill as JSON")
	flags.StringVar(&f.suite, "suite", "", "`file` for a workload of the most expensive "+
		"operators; bench run --suite times it")
	flags.DurationVar(&f.budget, "budget", time.Minute,
		"about how long a run of that workload may take; set-up included")
	flags.StringVarP(&f.dir, "out", "o", "", "`folder` for a page with bars")
	f.order = oneOf("order", access.Torch.String())
	flags.Var(&f.order, "order", "order in which that workload walks operands; only torch so "+
		"far, which is PyTorch 1.13's")
	f.modelFlags.add(flags)
	return cmd
}

func (f *importFlags) check(c call) error {
	switch {
	case f.step && (f.suite != "" || f.dir != ""):
		return errors.New("--step goes with --json and --top, not with --suite or --out")
	case f.suite == "" && c.given("budget"):
		return fmt.Errorf("--budget %v goes with --suite", f.budget)
	case f.budget <= 0:
		return fmt.Errorf("--budget %v: want more than 0, such as 30s", f.budget)
	case f.step && f.threads.set:
		return errors.New("--step simulates one program on one core: leave --threads out")
	}
	if f.dir != "" {
		if err := reports.CheckBillFolder(f.dir); err != nil {
			return fmt.Errorf("--out: %w", err)
		}
	}
	return positive("top", f.top)
}

func (f *importFlags) run(ctx context.Context, c call, names []string) error {
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
	meter := progress.New(c.err)
	defer meter.End()
	profile, err := readProfile(ctx, c, meter, names)
	meter.End()
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
		made, err = bill.StepOf(ctx, profile, model, meter.Begin)
	} else if b, wrong := bill.Of(ctx, profile, model, meter.Begin); wrong != nil {
		err = wrong
	} else {
		made, err = b, f.write(c, b)
	}
	meter.End()
	if err != nil {
		return err
	}
	if f.asJSON {
		return writeJSON(c.out, made)
	}
	return made.Write(c.out, f.top, columns(c.out))
}

func readProfile(ctx context.Context, c call, meter *progress.Meter,
	names []string) (*operators.Profile, error) {
	meter.Phase("reading "+strings.Join(names, ", "), sizeOf(names))
	return operators.ReadFiles(ctx, c.in, meter.Step, names...)
}

func (f *importFlags) write(c call, b *bill.Bill) error {
	if f.suite != "" {
		text, err := b.Suite(bill.Limits{Budget: f.budget,
			Memory: node.ThisMachine().Available / 2})
		if err == nil {
			err = outfile.WriteFile(f.suite, text)
		}
		if err != nil {
			return fmt.Errorf("--suite: %w", err)
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
		return fmt.Errorf("--out: %w", err)
	}
	c.note("the page: %s", written)
	return nil
}
