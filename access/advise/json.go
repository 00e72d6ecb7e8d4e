package advise

import "github.com/stridebench/stridebench/access/cost"

// JSON is advice in JSON. Times are in ns with the three printed digits.
type JSON struct {
	Model  string `json:"model"`
	Passes int    `json:"passes"`
	// threads that share each pass, if more than one
	Threads    int             `json:"threads,omitzero"`
	Considered int             `json:"considered"`
	Different  int             `json:"different"`
	Decision   jsonDecision    `json:"decision"`
	Naive      jsonCandidate   `json:"naive"`
	Ranked     []jsonCandidate `json:"ranked"`
	Torch      *jsonTorch      `json:"torch,omitempty"`
	CopyFirst  *jsonCopyFirst  `json:"copyFirst,omitempty"`
	Text       []string        `json:"text"`
}

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
		PredictedTotal float64   `json:"predictedTotalNs"` // all passes and the copy
		MeasuredTotal  float64   `json:"measuredTotalNs,omitzero"`
		Copy           *jsonWalk `json:"copy,omitempty"` // by contiguous()
		jsonWalk                 // each pass
	}
	jsonDecision struct {
		Basis       string  `json:"basis"` // predicted or measured
		Use         string  `json:"use"`
		Total       float64 `json:"totalNs"`
		Naive       float64 `json:"naiveTotalNs"`
		TimesAsFast float64 `json:"timesAsFast"` // speedup over the naive walk
		Least       string  `json:"least"`
		Predicted   string  `json:"predictedUse"`
		InPlace     string  `json:"inPlace"`
		Plain       string  `json:"plain"`
		Padded      string  `json:"padded,omitempty"`
		Clear       float64 `json:"clear"` // smaller speedups are ties
	}
	jsonTorch struct {
		Call     string    `json:"call"`
		Copy     bool      `json:"copy"` // call contiguous() first for these passes
		Ties     bool      `json:"ties"` // the difference is within the error
		PaysFrom int       `json:"paysFrom"`
		View     jsonWalk  `json:"view"`
		First    *jsonWalk `json:"contiguous,omitempty"`
		After    *jsonWalk `json:"after,omitempty"`
	}
	jsonCopyFirst struct {
		Basis    string   `json:"basis"`
		Copy     jsonWalk `json:"copy"`
		After    jsonWalk `json:"after"`
		Against  string   `json:"against"`
		PaysFrom int      `json:"paysFrom"` // passes; 0 for never
	}
)

func toJSONWalk(w Walk) jsonWalk {
	return jsonWalk{Walk: w.name(), Order: w.Spec.Order.String(), Tile: w.Spec.Tile,
		Padded: w.Padded, Kernel: w.Spec.Kernel.String(),
		Predicted: w.ns(Predicted), Measured: w.ns(Measured), Loop: w.Prediction.Loop,
		Memory: w.Prediction.Memory, Tensors: w.Prediction.Tensors}
}

func toJSONCandidate(a *Advice, c Candidate) jsonCandidate {
	j := jsonCandidate{Name: c.Name(), PredictedTotal: c.total(Predicted, a.Question.Passes),
		MeasuredTotal: c.total(Measured, a.Question.Passes), jsonWalk: toJSONWalk(c.Walk)}
	if c.First != nil {
		first := toJSONWalk(*c.First)
		j.Copy = &first
	}
	return j
}

func toJSONDecision(a *Advice, d Decision) jsonDecision {
	total := func(c Candidate) float64 { return c.total(d.Basis, a.Question.Passes) }
	j := jsonDecision{Basis: d.Basis.String(), Use: d.Use.Name(), Total: total(d.Use),
		Naive:       total(a.Naive),
		TimesAsFast: ratio(total(a.Naive), total(d.Use)), Least: d.Least.Name(),
		Predicted: d.Predicted.Name(),
		InPlace:   d.InPlace.Name(), Plain: d.Plain.Name(), Clear: d.Basis.clear()}
	if d.Padded != nil {
		j.Padded = d.Padded.Name()
	}
	return j
}

// JSON returns the advice in JSON with these rows (see Rows).
func (a *Advice) JSON(rows []Candidate) JSON {
	d := a.Decide()
	out := JSON{Model: a.Question.Model.String(), Passes: a.Question.Passes,
		Threads: a.Question.Spec.Threads, Considered: a.Considered, Different: a.Different,
		Decision: toJSONDecision(a, d), Naive: toJSONCandidate(a, a.Naive),
		Text: append(a.Verdict(), a.Why())}
	for _, c := range rows {
		out.Ranked = append(out.Ranked, toJSONCandidate(a, c))
	}
	if c := d.CopyFirst; c != nil {
		out.CopyFirst = &jsonCopyFirst{c.Basis.String(), toJSONWalk(c.Copy), toJSONWalk(c.After),
			c.Against.Name(), c.From}
	}
	if t := a.Torch; t != nil {
		n := a.Question.Passes
		out.Torch = &jsonTorch{Call: t.Call, Copy: t.Copy(n), Ties: t.Ties(n), PaysFrom: t.From,
			View: toJSONWalk(t.View.Walk)}
		if t.Copied != nil {
			first, after := toJSONWalk(*t.Copied.First), toJSONWalk(t.Copied.Walk)
			out.Torch.First, out.Torch.After = &first, &after
		}
	}
	return out
}
