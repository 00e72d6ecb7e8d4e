package explain

import (
	"cmp"
	"strings"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/reuse"
)

// A result is the JSON of a run. Empty lists are [], not null.
type result struct {
	Counts simcache.Counts `json:"counts"`
	// accesses looked up, in the caches and again in the TLB; not of a trace
	Visited *uint64 `json:"visited,omitempty"`
	// accesses proved to hit or miss like others, in both; not of a trace
	Proved      *uint64            `json:"proved,omitempty"`
	Geometry    map[string]setting `json:"geometry"`
	Lines       []Line             `json:"lines,omitempty"`
	Partial     string             `json:"partial,omitempty"`
	Passes      *int               `json:"passes,omitempty"` // not of a trace
	Machine     string             `json:"machine,omitempty"`
	Observed    []string           `json:"observed"`
	Levels      []jsonLevel        `json:"levels"`
	TLB         []jsonTLB          `json:"tlb,omitempty"`
	Tensors     []jsonTensor       `json:"tensors"`
	Explanation []string           `json:"explanation,omitempty"`
	Curve       *reuse.Table       `json:"curve,omitempty"`
	Nests       []nest.Nest        `json:"nests,omitzero"`      // of a pattern
	Statements  []jsonStatement    `json:"statements,omitzero"` // of a program
}

// JSON returns the run for JSON, with the words of Text if wanted. The name of the machine may be
// "".
func (r Run) JSON(machine string, words bool) any {
	trace := r.program == nil && r.Nests == nil
	j := result{Counts: r.Counts, Geometry: Settings(r.Config, trace), Partial: r.Partial,
		Machine: machine, Observed: []string{}, Levels: r.jsonLevels(),
		Lines: r.Code, Tensors: []jsonTensor{}, Curve: r.Curve, Nests: r.Nests}
	if r.Config.Observe != "" {
		j.Observed = strings.Split(r.Config.Observe, ",")
	}
	if words {
		j.Explanation = r.Text()
	}
	if !trace {
		j.Visited, j.Proved, j.Passes = &r.Visited, &r.Proved, &r.Passes
	}
	if r.program != nil {
		j.Statements = r.jsonStatements()
	}
	for i, l := range r.TLB {
		of := r.Config.TLB[i]
		j.TLB = append(j.TLB, jsonTLB{l, of.Entries, of.Ways, of.Page, missRate(l), of.Source})
	}
	for _, l := range r.Tensors {
		j.Tensors = append(j.Tensors, jsonTensor{l.Function, l.Counts})
	}
	return j
}

type (
	jsonLevel struct {
		simcache.LevelCounts
		Size      int      `json:"size"`
		Ways      int      `json:"ways"`
		Sets      int      `json:"sets"`
		Line      int      `json:"line"`
		Policy    string   `json:"policy"`
		Inclusion string   `json:"inclusion"`
		MissRate  float64  `json:"missRate"` // of the references that reach it
		UsedPart  *float64 `json:"usedPart,omitempty"`
		Spread    *spread  `json:"spread,omitempty"`
	}
	jsonTLB struct {
		simcache.LevelCounts
		Entries  int     `json:"entries"`
		Ways     int     `json:"ways"`
		Page     int     `json:"page"`
		MissRate float64 `json:"missRate"` // of the references that reach it
		Source   string  `json:"source"`
	}
	jsonTensor struct {
		Tensor string          `json:"tensor"`
		Counts simcache.Counts `json:"counts"`
	}
)

func (r Run) jsonLevels() []jsonLevel {
	all := []jsonLevel{}
	for i, l := range r.Levels {
		of := r.Config.Levels[i]
		level := jsonLevel{LevelCounts: l, Size: of.Size, Ways: of.Ways, Sets: of.Sets(),
			Line: of.Line, Policy: cmp.Or(of.Policy, "lru"),
			Inclusion: cmp.Or(of.Inclusion, independent),
			MissRate:  missRate(l)}
		if spread, ok := spreadOf(l); ok {
			level.Spread = &spread
		}
		if r.Config.Observes("bytes") {
			used := usedPart(l)
			level.UsedPart = &used
		}
		all = append(all, level)
	}
	return all
}

// A setting is the JSON of a simulated cache.
type setting struct {
	Size   int    `json:"size"`
	Ways   int    `json:"ways"`
	Line   int    `json:"line"`
	Source string `json:"source"`
}

// Settings returns the first and the last level for JSON, and I1 if instructions are simulated.
func Settings(c simcache.Config, i1 bool) map[string]setting {
	of := func(g simcache.Geometry, source string) setting {
		return setting{g.Size, g.Ways, g.Line, source}
	}
	all := map[string]setting{"D1": of(c.First().Geometry, c.First().Source),
		"LL": of(c.Last().Geometry, c.Last().Source)}
	if i1 {
		all["I1"] = of(c.I1, c.I1Source)
	}
	return all
}

type (
	jsonStatement struct {
		File     string          `json:"file"`
		Line     int             `json:"line"`
		Column   int             `json:"column"`
		Text     string          `json:"text"`
		Counts   simcache.Counts `json:"counts"`
		Accesses []jsonAccess    `json:"accesses"`
	}
	jsonAccess struct {
		Number int             `json:"number"` // in the program
		Text   string          `json:"text"`
		Tensor string          `json:"tensor"`
		Kind   nest.Kind       `json:"kind"`
		Counts simcache.Counts `json:"counts"`
	}
)

func (r Run) jsonStatements() []jsonStatement {
	sums, all := r.statements(), []jsonStatement{}
	for i, s := range r.program.source.Statements {
		j := jsonStatement{s.File, s.Line, s.Column, s.Text, sums[i], []jsonAccess{}}
		for op, a := range r.program.source.Accesses {
			if a.Statement == i {
				of := r.program.operands[op]
				j.Accesses = append(j.Accesses, jsonAccess{op, a.Text, of.Tensor, of.Kind,
					r.program.counts[op]})
			}
		}
		all = append(all, j)
	}
	return all
}
