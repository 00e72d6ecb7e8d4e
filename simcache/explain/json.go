package explain

import (
	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache"
)

// PatternJSON is the JSON of a simulated pattern.
type PatternJSON struct {
	Counts   simcache.Counts    `json:"counts"`
	Visited  uint64             `json:"visited"` // accesses looked up, in the caches and once more in the TLB
	Proved   uint64             `json:"proved"`  // accesses proved to hit or miss like others, in both
	Geometry map[string]Setting `json:"geometry"`
	Passes   int                `json:"passes"`
	details
	Nests []jsonNest `json:"nests"`
}

// TraceJSON is the JSON of a simulated trace.
type TraceJSON struct {
	Counts   simcache.Counts    `json:"counts"`
	Geometry map[string]Setting `json:"geometry"`
	details
}

// details is what both have. Empty lists are [], not null.
type details struct {
	Machine     string       `json:"machine,omitempty"`
	Observed    []string     `json:"observed"`
	Levels      []jsonLevel  `json:"levels"`
	TLB         []jsonTLB    `json:"tlb,omitempty"`
	Tensors     []jsonTensor `json:"tensors"`
	Explanation []string     `json:"explanation,omitempty"`
}

// Pattern returns the JSON of a pattern's run on a machine of this name, which may be
// "", with or without the words of Text.
func (r Run) Pattern(machine string, words bool) PatternJSON {
	return PatternJSON{r.Counts, r.Visited, r.Proved, Settings(r.Config, false), r.Passes, r.details(machine, words), jsonNests(r.Nests)}
}

// Trace returns the JSON of a trace's run, see Pattern.
func (r Run) Trace(machine string, words bool) TraceJSON {
	return TraceJSON{r.Counts, Settings(r.Config, true), r.details(machine, words)}
}

type (
	jsonLevel struct {
		simcache.LevelCounts
		Size      int              `json:"size"`
		Ways      int              `json:"ways"`
		Sets      int              `json:"sets"`
		Line      int              `json:"line"`
		Policy    string           `json:"policy"`
		Inclusion string           `json:"inclusion"`
		MissRate  float64          `json:"missRate"`
		UsedPart  *float64         `json:"usedPart,omitempty"`
		Spread    *simcache.Spread `json:"spread,omitempty"`
	}
	jsonTLB struct {
		simcache.LevelCounts
		Entries  int             `json:"entries"`
		Ways     int             `json:"ways"`
		Page     int             `json:"page"`
		MissRate float64         `json:"missRate"`
		Source   simcache.Source `json:"source"`
	}
	jsonTensor struct {
		Tensor string          `json:"tensor"`
		Counts simcache.Counts `json:"counts"`
	}
)

func (r Run) details(machine string, words bool) details {
	j := details{Machine: machine, Observed: r.Config.Observe.Names(), Levels: []jsonLevel{}, Tensors: []jsonTensor{}}
	if words {
		j.Explanation = r.Text()
	}
	for i, l := range r.Levels {
		of := r.Config.Levels[i]
		level := jsonLevel{LevelCounts: l, Size: of.Size, Ways: of.Ways, Sets: of.Sets(), Line: of.Line,
			Policy: of.Policy.String(), Inclusion: of.Inclusion.String(), MissRate: l.MissRate()}
		if spread, ok := l.Spread(); ok {
			level.Spread = &spread
		}
		if r.Config.Observe.Has(simcache.UsedBytes) {
			used := l.UsedPart()
			level.UsedPart = &used
		}
		j.Levels = append(j.Levels, level)
	}
	for i, l := range r.TLB {
		of := r.Config.TLB[i]
		j.TLB = append(j.TLB, jsonTLB{l, of.Entries, of.Ways, of.Page, l.MissRate(), of.Source})
	}
	for _, l := range r.Tensors {
		j.Tensors = append(j.Tensors, jsonTensor{l.Function, l.Counts})
	}
	return j
}

// A Setting is the JSON of a simulated cache.
type Setting struct {
	Size   int             `json:"size"`
	Ways   int             `json:"ways"`
	Line   int             `json:"line"`
	Source simcache.Source `json:"source"`
}

// Settings returns the first and the last level, and I1 if instructions are
// simulated.
func Settings(c simcache.Config, i1 bool) map[string]Setting {
	setting := func(g simcache.Geometry, source simcache.Source) Setting {
		return Setting{g.Size, g.Ways, g.Line, source}
	}
	all := map[string]Setting{"D1": setting(c.First().Geometry, c.First().Source), "LL": setting(c.Last().Geometry, c.Last().Source)}
	if i1 {
		all["I1"] = setting(c.I1, c.I1Source)
	}
	return all
}

type jsonNest struct {
	Trips    []int     `json:"trips"`
	Operands []operand `json:"operands"`
}

type operand struct {
	Tensor  string `json:"tensor"`
	Kind    string `json:"kind"`
	Base    uint64 `json:"base"`
	Width   int    `json:"width"`
	Strides []int  `json:"strides"`
}

func jsonNests(nests []nest.Nest) []jsonNest {
	all := []jsonNest{}
	for _, n := range nests {
		j := jsonNest{append([]int{}, n.Trips...), []operand{}}
		for _, op := range n.Operands {
			j.Operands = append(j.Operands, operand{op.Tensor, op.Kind.String(), op.Base, op.Width, append([]int{}, op.Strides...)})
		}
		all = append(all, j)
	}
	return all
}
