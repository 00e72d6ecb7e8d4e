package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/advise"
	"github.com/stridebench/stridebench/access/cost"
	"github.com/stridebench/stridebench/access/kernel"
	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/simcache"
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
		Long: `advise predicts what a pass over a view takes in every order of its dims, in
tiles of the two dims along which the tensors lie closest in memory, each also
with the tensor's rows padded by a cache line, and by the vector kernels. It
ranks them and says which to use, which tensor misses where, and after how many
passes contiguous() first pays.

Predictions are of the caches that are simulated and of what a hit and a miss
cost: as 'bench machine --measure' saved it, else of a generic machine.
docs/advise.md states the model and how far off it is. With --time the best and
the naive walk are timed here as well.

View operations: ` + strings.Join(layouts.ViewOps(), ", ") + `.`,
		Example: `  bench advise --shape 32x64x56x56 --dtype float32 --view 'permute(0,2,3,1)' --op copy
  bench advise --shape 4096x4096 --view 't()' --op sum --passes 10
  bench advise --shape 4096x4096 --view 't()' --op copy --time
  bench advise --shape 512x512 --view 't()' --op sum --preset intel-skylake-server
  bench advise --shape 4096x4096 --view 't()' --op copy --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.preset == "list" {
				return writePresets(cmd.OutOrStdout())
			}
			q, err := f.question()
			if err != nil {
				return err
			}
			if err := warnOther(cmd, "--caches", f.caches); err != nil {
				return err
			}
			ctx, stop := interruptible()
			defer stop()
			return f.run(ctx, cmd.OutOrStdout(), q)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	f.pattern.addTensor(flags)
	f.pattern.addOp(flags)
	flags.IntVar(&f.passes, "passes", 1, "passes that are made over the view")
	flags.BoolVar(&f.time, "time", false, "time the best and the naive walk as well")
	flags.IntVar(&f.top, "top", 8, "rows of the table")
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
	if best := kernel.Best(); len(kernel.Sets()) > 1 {
		q.Kernels = append(q.Kernels, best.Name())
	}
	if spec.Op == access.Copy {
		q.Kernels = append(q.Kernels, "builtin")
	}
	q.Model, err = f.model()
	return q, err
}

// model is the cost model of the caches asked for.
func (f *adviseFlags) model() (cost.Model, error) {
	if f.preset == "" {
		return costModel(f.caches, &f.geometry, simcache.DetectTLB(f.pages.value.Size()))
	}
	if f.caches != "" || f.geometry.set() {
		return cost.Model{}, errors.New("--preset names all caches: leave --caches, --I1, --D1 and --LL out")
	}
	m, err := machines.Preset(f.preset)
	if err != nil {
		return cost.Model{}, fmt.Errorf("--preset: %w", err)
	}
	return cost.Model{Times: cost.Generic(), Caches: cost.CachesOf(m.Config)}, nil
}

// run asks, times if it is wanted, and prints.
func (f *adviseFlags) run(ctx context.Context, w io.Writer, q advise.Question) error {
	a, err := advise.Ask(ctx, q)
	if err != nil {
		return fmt.Errorf("--%w", err) // which begins with the field at fault
	}
	rows := f.rows(a)
	var measured []float64
	if f.time {
		if rows, measured, err = f.measure(ctx, rows); err != nil {
			return err
		}
	}
	if f.asJSON {
		return writeAdviceJSON(w, a, rows, measured)
	}
	return writeAdvice(w, a, rows, measured)
}

// rows are the best candidates and the naive one.
func (f *adviseFlags) rows(a *advise.Advice) []advise.Candidate {
	rows := slices.Clone(a.Ranked[:min(f.top, len(a.Ranked))])
	add := func(c advise.Candidate) {
		if !slices.ContainsFunc(rows, func(r advise.Candidate) bool { return r.Name() == c.Name() }) {
			rows = append(rows, c)
		}
	}
	add(a.BestPlain())
	add(a.Naive)
	return rows
}

// timedRows is how many of the best are timed; and the naive one is.
const timedRows = 6

// measure times the first rows and the last two, which are the best of plain
// loops and the naive one, by turns, and returns the medians in ns.
func (f *adviseFlags) measure(ctx context.Context, rows []advise.Candidate) ([]advise.Candidate, []float64, error) {
	if len(rows) > timedRows+2 {
		rows = slices.Concat(rows[:timedRows], rows[len(rows)-2:])
	}
	var patterns []access.Pattern
	for _, r := range rows {
		patterns = append(patterns, r.Pattern)
	}
	samples := make([][]float64, len(rows))
	options := access.Options{Count: 7, MinTime: time.Millisecond, MaxMemory: results.ThisMachine().Available, Pages: f.pages.value}
	for s, err := range access.Measure(ctx, patterns, options) {
		if err != nil {
			return nil, nil, fmt.Errorf("--time: %w", err)
		}
		samples[s.Pattern] = append(samples[s.Pattern], s.PerPass())
	}
	medians := make([]float64, len(rows))
	for i, all := range samples {
		slices.Sort(all)
		medians[i] = all[len(all)/2]
	}
	return rows, medians, nil
}

func writeAdvice(w io.Writer, a *advise.Advice, rows []advise.Candidate, measured []float64) error {
	levels := a.Question.Model.Caches.Levels
	header := []string{"walk", "predicted", "against naive"}
	if measured != nil {
		header = append(header, "measured", "against naive")
	}
	for i := range levels {
		header = append(header, levels[i].Name+" misses")
	}
	t := table{append(header, "TLB walks")}
	naive := slices.IndexFunc(rows, func(c advise.Candidate) bool { return c.Name() == a.Naive.Name() })
	for i, c := range rows {
		ns := c.Prediction.Ns
		row := []string{c.Name(), advise.Duration(ns), fmt.Sprintf("%.2f", ns/a.Naive.Prediction.Ns)}
		if measured != nil {
			row = append(row, advise.Duration(measured[i]), fmt.Sprintf("%.2f", measured[i]/measured[naive]))
		}
		for k := range levels {
			row = append(row, count64(uint64(c.Prediction.Missed(k))))
		}
		t = append(t, append(row, count64(uint64(c.Prediction.Walked()))))
	}
	if _, err := fmt.Fprintf(w, "%s of %s, %d walks, %d of them different\n", a.Question.Spec.Op, a.Naive.Pattern.View(), a.Considered, len(a.Ranked)); err != nil {
		return err
	}
	if err := t.print(w); err != nil {
		return err
	}
	text := a.Text()
	if measured != nil {
		text = append(text, timed(rows, measured, naive))
	}
	for _, paragraph := range text {
		if _, err := fmt.Fprintf(w, "\n%s\n", wrap(paragraph, 80)); err != nil {
			return err
		}
	}
	return nil
}

// timed says what came of timing.
func timed(rows []advise.Candidate, measured []float64, naive int) string {
	best := slices.Index(measured, slices.Min(measured))
	return fmt.Sprintf("Timed here, samples by turns: %s is the fastest, %s a pass, %.1f times as fast as the naive walk. By prediction it is number %d of the %d that were timed.",
		rows[best].Name(), advise.Duration(measured[best]), measured[naive]/measured[best], best+1, len(rows))
}

type jsonCandidate struct {
	Walk      string        `json:"walk"`
	Order     string        `json:"order"`
	Tile      []int         `json:"tile,omitempty"`
	Padded    int           `json:"padded,omitzero"`
	Kernel    string        `json:"kernel"`
	Predicted float64       `json:"predictedNs"`
	Measured  *float64      `json:"measuredNs,omitempty"`
	Loop      float64       `json:"loopNs"`
	Memory    float64       `json:"memoryNs"`
	Tensors   []cost.Tensor `json:"tensors"`
}

func toJSONCandidate(c advise.Candidate) jsonCandidate {
	j := jsonCandidate{Walk: c.Name(), Order: c.Spec.Order, Tile: c.Spec.Tile, Padded: c.Padded, Kernel: c.Spec.Kernel,
		Predicted: c.Prediction.Ns, Loop: c.Prediction.Loop, Memory: c.Prediction.Memory, Tensors: c.Prediction.Tensors}
	if j.Kernel == "" {
		j.Kernel = "scalar"
	}
	return j
}

func writeAdviceJSON(w io.Writer, a *advise.Advice, rows []advise.Candidate, measured []float64) error {
	type jsonContiguous struct {
		Copy  jsonCandidate `json:"copy"`
		After jsonCandidate `json:"after"`
		Best  int           `json:"paysFromAgainstBest"` // passes; 0 for never
		Naive int           `json:"paysFromAgainstNaive"`
	}
	out := struct {
		Model      string          `json:"model"`
		Passes     int             `json:"passes"`
		Considered int             `json:"considered"`
		Different  int             `json:"different"`
		Naive      jsonCandidate   `json:"naive"`
		Ranked     []jsonCandidate `json:"ranked"`
		Contiguous *jsonContiguous `json:"contiguous,omitempty"`
		Text       []string        `json:"text"`
	}{Model: a.Question.Model.String(), Passes: a.Question.Passes, Considered: a.Considered, Different: len(a.Ranked),
		Naive: toJSONCandidate(a.Naive), Text: a.Text()}
	for i, c := range rows {
		j := toJSONCandidate(c)
		if measured != nil {
			j.Measured = &measured[i]
		}
		out.Ranked = append(out.Ranked, j)
	}
	if c := a.Contiguous; c != nil {
		out.Contiguous = &jsonContiguous{toJSONCandidate(c.Copy), toJSONCandidate(c.After), c.Best, c.Naive}
	}
	return writeJSON(w, out)
}
