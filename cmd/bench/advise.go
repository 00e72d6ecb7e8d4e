package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/advise"
	"github.com/stridebench/stridebench/access/cost"
	"github.com/stridebench/stridebench/access/session"
	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/simcache/cpu"
	"github.com/stridebench/stridebench/simcache/machines"
)

// adviseFlags are the flags of bench advise.
type adviseFlags struct {
	pattern  patternFlags
	geometry geometryFlags
	pages    parsed[access.Pages]
	passes   int
	top      int
	preset   string
	caches   string
	time     bool
	asJSON   bool
}

func newAdvise() *cobra.Command {
	var f adviseFlags
	cmd := &cobra.Command{
		Use:   "advise --shape SHAPE",
		Short: "Say in which order, tiles and storage a view is best walked, and why",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, ctx := callOf(cmd), cmd.Context()
			if f.preset == "list" {
				return machines.WriteList(c.out)
			}
			q, err := f.question()
			if err != nil {
				return err
			}
			if err := warnOther(c, "--caches", f.caches); err != nil {
				return err
			}
			defer watch(ctx)()
			err = f.run(ctx, c.out, q)
			if ctx.Err() != nil {
				return stopped(ctx, "nothing is advised")
			}
			return err
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	f.pattern.addTensor(flags)
	f.pattern.addOp(flags)
	flags.IntVar(&f.passes, "passes", 1, "passes that are made over the view")
	flags.BoolVar(&f.time, "time", false, "time the best and the naive walk as well, and decide by that")
	flags.IntVar(&f.top, "top", 8, "rows of the table; those that the advice is about are added")
	f.geometry.add(flags)
	flags.StringVar(&f.caches, "caches", "", "predict for the caches and the TLB that a YAML `file` describes, and for its times if it was measured; measured is what 'bench machine --measure' saved")
	flags.StringVar(&f.preset, "preset", "", "predict for a real machine's caches, by a `name` from --preset list")
	f.pages = parsed[access.Pages]{parse: access.ParsePages, kind: "pages", text: access.Pages4K.String()}
	flags.Var(&f.pages, "pages", "pages of the tensors' memory: 4k, thp or hugetlb")
	flags.BoolVar(&f.asJSON, "json", false, "print as JSON")
	return cmd
}

// question puts the flags together.
func (f *adviseFlags) question() (advise.Question, error) {
	spec, err := f.pattern.spec("row", 0)
	if err != nil {
		return advise.Question{}, err
	}
	if spec.Op == access.Chase {
		return advise.Question{}, errors.New("--op chase: it has one order, a random one (want sum, fill, copy or add)")
	}
	if err := errors.Join(atLeast("passes", f.passes, 1), atLeast("top", f.top, 1)); err != nil {
		return advise.Question{}, err
	}
	q := advise.Question{Spec: spec, Passes: f.passes}
	q.Kernels = append(access.VectorKernels(), access.Builtin)
	q.Model, err = f.model()
	return q, err
}

// model is the cost model of the caches asked for.
func (f *adviseFlags) model() (cost.Model, error) {
	if f.preset == "" {
		return costModel(f.caches, &f.geometry, cpu.TLB(f.pages.value.Size()))
	}
	if f.caches != "" || f.geometry.set() {
		return cost.Model{}, errors.New("--preset names all caches: leave --caches, --I1, --D1 and --LL out")
	}
	m, err := machines.Preset(f.preset)
	if err != nil {
		return cost.Model{}, fmt.Errorf("--preset: %w", err)
	}
	times := cost.Generic(fmt.Sprintf("preset %s has no measured times; kernels are this CPU's", f.preset))
	return cost.Model{Times: times, Caches: m.Config}, nil
}

// run asks, times if it is wanted, and prints.
func (f *adviseFlags) run(ctx context.Context, w io.Writer, q advise.Question) error {
	a, err := advise.Ask(ctx, q)
	if err != nil {
		return atFlag(err)
	}
	if f.time {
		machine := results.ThisMachine()
		if err = session.Measurable(a.Naive.Pattern, machine); err == nil {
			err = a.Time(ctx, access.Options{Count: 7, MinTime: time.Millisecond, MaxMemory: machine.Available, Pages: f.pages.value})
		}
		if err != nil {
			return fmt.Errorf("--time: %w", err)
		}
	}
	rows := a.Rows(f.top)
	if f.asJSON {
		return writeJSON(w, a.JSON(rows))
	}
	return a.Write(w, rows)
}
