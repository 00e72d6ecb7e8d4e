package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/advise"
	"github.com/stridebench/stridebench/access/cost"
	"github.com/stridebench/stridebench/layouts"
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
		Long: `advise predicts what passes over a view take in every order of its dims, in
tiles of the two dims along which the tensors lie closest in memory, and by the
kernels, each also with the tensor's rows padded by a cache line; and what
contiguous() and passes over the copy take. It ranks them and says which to
use, which tensor misses where, and after how many passes contiguous() pays.

Predictions are of the caches that are simulated and of what a hit and a miss
cost: as 'bench machine --measure' saved it, else of a generic machine.
docs/advise.md states the model and how far off it is. With --time the best and
the naive walk are timed here as well, and what was measured decides.

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
			err = f.run(ctx, cmd.OutOrStdout(), q)
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
		if err := f.measure(ctx, a); err != nil {
			return fmt.Errorf("--time: %w", err)
		}
	}
	if f.asJSON {
		return writeAdviceJSON(w, a, a.Rows(f.top))
	}
	return writeAdvice(w, a, a.Rows(f.top))
}

// measure times what is worth it, by turns, those of one operation together: a
// copy writes where a sum reads. Walks that need more memory than there is are
// left out, but for the naive one.
func (f *adviseFlags) measure(ctx context.Context, a *advise.Advice) error {
	machine := results.ThisMachine()
	options := access.Options{Count: 7, MinTime: time.Millisecond, MaxMemory: machine.Available, Pages: f.pages.value}
	if err := access.Measurable(a.Naive.Pattern, options.MaxMemory); err != nil {
		return withLimit(err, machine)
	}
	byOp := map[access.Op][]advise.Walk{}
	for _, w := range a.ToTime() {
		if op := w.Spec.Op; access.Measurable(w.Pattern, options.MaxMemory) == nil {
			byOp[op] = append(byOp[op], w)
		}
	}
	var timed []advise.Walk
	for _, op := range slices.Sorted(maps.Keys(byOp)) {
		walks := byOp[op]
		if err := medians(ctx, walks, options); err != nil {
			return err
		}
		timed = append(timed, walks...)
	}
	a.SetTimes(timed)
	return nil
}

// medians sets what walks are measured to take, of their samples the median.
func medians(ctx context.Context, walks []advise.Walk, options access.Options) error {
	var patterns []access.Pattern
	for _, w := range walks {
		patterns = append(patterns, w.Pattern)
	}
	samples := make([][]float64, len(walks))
	for s, err := range access.Measure(ctx, patterns, options) {
		if err != nil {
			return err
		}
		samples[s.Pattern] = append(samples[s.Pattern], s.PerPass())
	}
	for i, all := range samples {
		slices.Sort(all)
		walks[i].Measured = all[len(all)/2]
	}
	return nil
}

// writeAdvice prints the ways, with times and misses of all passes, and the advice.
func writeAdvice(w io.Writer, a *advise.Advice, rows []advise.Candidate) error {
	levels, n := a.Question.Model.Caches.Levels, a.Question.Passes
	header := []string{"walk"}
	bases := []advise.Basis{advise.Predicted}
	if a.Timed != nil {
		bases = append(bases, advise.Measured)
	}
	for _, b := range bases {
		header = append(header, b.String(), "against row order")
	}
	for i := range levels {
		header = append(header, levels[i].Name+" misses")
	}
	t := table{append(header, "TLB walks")}
	for _, c := range rows {
		row := []string{c.Name()}
		for _, b := range bases {
			row = append(row, advise.Duration(c.Total(b, n)), fmt.Sprintf("%.3f", c.Total(b, n)/a.Naive.Total(b, n)))
		}
		for k := range levels {
			row = append(row, count64(uint64(c.Missed(k, n))))
		}
		t = append(t, append(row, count64(uint64(c.Walked(n)))))
	}
	passes := "1 pass"
	if n > 1 {
		passes = count64(uint64(n)) + " passes"
	}
	if _, err := fmt.Fprintf(w, "%s of %s, %s; %d different of %d tried\n", a.Question.Spec.Op, a.Naive.Pattern.View(), passes, len(a.Ranked), a.Considered); err != nil {
		return err
	}
	if err := t.print(w); err != nil {
		return err
	}
	for _, paragraph := range a.Text() {
		if _, err := fmt.Fprintf(w, "\n%s\n", wrap(paragraph, 80)); err != nil {
			return err
		}
	}
	return nil
}

// The parts of --json. Times are in ns, as they are printed: to three digits.
type (
	jsonWalk struct {
		Walk      string        `json:"walk"`
		Order     string        `json:"order"`
		Tile      []int         `json:"tile,omitempty"`
		Padded    int           `json:"padded,omitzero"`
		Kernel    string        `json:"kernel"`
		Predicted float64       `json:"predictedNs"`
		Measured  float64       `json:"measuredNs,omitzero"`
		Loop      float64       `json:"loopNs"`
		Memory    float64       `json:"memoryNs"`
		Tensors   []cost.Tensor `json:"tensors"`
	}
	jsonCandidate struct {
		Name           string    `json:"name"`
		PredictedTotal float64   `json:"predictedTotalNs"` // of all passes, with the copy
		MeasuredTotal  float64   `json:"measuredTotalNs,omitzero"`
		Copy           *jsonWalk `json:"copy,omitempty"` // that contiguous() makes
		jsonWalk                 // of each pass
	}
	jsonDecision struct {
		Basis       string  `json:"basis"` // predicted or measured
		Use         string  `json:"use"`
		Total       float64 `json:"totalNs"`
		Naive       float64 `json:"naiveTotalNs"`
		TimesAsFast float64 `json:"timesAsFast"` // as the naive walk
		Least       string  `json:"least"`
		Predicted   string  `json:"predictedUse"`
		InPlace     string  `json:"inPlace"`
		Plain       string  `json:"plain"`
		Padded      string  `json:"padded,omitempty"`
		PaddedNaive string  `json:"paddedNaive,omitempty"`
		Clear       float64 `json:"clear"` // less than so many times as fast counts as the same
	}
	jsonContiguous struct {
		Basis   string   `json:"basis"`
		Copy    jsonWalk `json:"copy"`
		After   jsonWalk `json:"after"`
		Against string   `json:"against"`
		Best    int      `json:"paysFromAgainstBest"` // passes; 0 for never
		Naive   int      `json:"paysFromAgainstNaive"`
	}
)

func toJSONWalk(w advise.Walk) jsonWalk {
	j := jsonWalk{Walk: w.Name(), Order: w.Spec.Order.String(), Tile: w.Spec.Tile, Padded: w.Padded, Kernel: w.Spec.Kernel.String(),
		Predicted: w.Ns(advise.Predicted), Measured: w.Ns(advise.Measured), Loop: w.Prediction.Loop, Memory: w.Prediction.Memory, Tensors: w.Prediction.Tensors}
	return j
}

func toJSONCandidate(a *advise.Advice, c advise.Candidate) jsonCandidate {
	j := jsonCandidate{Name: c.Name(), PredictedTotal: c.Total(advise.Predicted, a.Question.Passes),
		MeasuredTotal: c.Total(advise.Measured, a.Question.Passes), jsonWalk: toJSONWalk(c.Walk)}
	if c.First != nil {
		first := toJSONWalk(*c.First)
		j.Copy = &first
	}
	return j
}

func toJSONDecision(a *advise.Advice, d advise.Decision) jsonDecision {
	total := func(c advise.Candidate) float64 { return c.Total(d.Basis, a.Question.Passes) }
	j := jsonDecision{Basis: d.Basis.String(), Use: d.Use.Name(), Total: total(d.Use), Naive: total(a.Naive),
		TimesAsFast: advise.Ratio(total(a.Naive), total(d.Use)), Least: d.Least.Name(), Predicted: d.Predicted.Name(),
		InPlace: d.InPlace.Name(), Plain: d.Plain.Name(), Clear: d.Basis.Clear()}
	if d.PaddedLeast != nil {
		j.Padded = d.PaddedLeast.Name()
	}
	if d.PaddedNaive != nil {
		j.PaddedNaive = d.PaddedNaive.Name()
	}
	return j
}

func writeAdviceJSON(w io.Writer, a *advise.Advice, rows []advise.Candidate) error {
	d := a.Decide()
	out := struct {
		Model      string          `json:"model"`
		Passes     int             `json:"passes"`
		Considered int             `json:"considered"`
		Different  int             `json:"different"`
		Decision   jsonDecision    `json:"decision"`
		Naive      jsonCandidate   `json:"naive"`
		Ranked     []jsonCandidate `json:"ranked"`
		Contiguous *jsonContiguous `json:"contiguous,omitempty"`
		Text       []string        `json:"text"`
	}{Model: a.Question.Model.String(), Passes: a.Question.Passes, Considered: a.Considered, Different: len(a.Ranked),
		Decision: toJSONDecision(a, d), Naive: toJSONCandidate(a, a.Naive), Text: a.Text()}
	for _, c := range rows {
		out.Ranked = append(out.Ranked, toJSONCandidate(a, c))
	}
	if c := d.Contiguous; c != nil {
		out.Contiguous = &jsonContiguous{c.Basis.String(), toJSONWalk(c.Copy), toJSONWalk(c.After), c.Against.Name(), c.From, c.FromNaive}
	}
	return writeJSON(w, out)
}
