package explain

import (
	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/reuse"
)

// PatternJSON is the JSON of a simulated pattern.
type PatternJSON struct {
	Counts simcache.Counts `json:"counts"`
	// accesses looked up, in the caches and again in the TLB
	Visited uint64 `json:"visited"`
	// accesses proved to hit or miss like others, in both
	Proved   uint64             `json:"proved"`
	Geometry map[string]Setting `json:"geometry"`
	Passes   int                `json:"passes"`
	details
	Nests []jsonNest `json:"nests"`
}

// ProgramJSON is the JSON of a simulated program.
type ProgramJSON struct {
	Counts   simcache.Counts    `json:"counts"`
	Visited  uint64             `json:"visited"` // see PatternJSON
	Proved   uint64             `json:"proved"`
	Geometry map[string]Setting `json:"geometry"`
	Passes   int                `json:"passes"`
	details
	Statements []jsonStatement `json:"statements"`
	Program    []jsonNode      `json:"program"`
}

// TraceJSON is the JSON of a simulated trace, or of a compiled program.
type TraceJSON struct {
	Counts   simcache.Counts    `json:"counts"`
	Geometry map[string]Setting `json:"geometry"`
	Lines    []jsonLine         `json:"lines,omitempty"`
	// why these are not the counts of a whole run
	Partial string `json:"partial,omitempty"`
	details
}

// details are the fields that all kinds share. Empty lists are [], not null.
type details struct {
	Machine     string       `json:"machine,omitempty"`
	Observed    []string     `json:"observed"`
	Levels      []jsonLevel  `json:"levels"`
	TLB         []jsonTLB    `json:"tlb,omitempty"`
	Tensors     []jsonTensor `json:"tensors"`
	Explanation []string     `json:"explanation,omitempty"`
	Curve       *reuse.Table `json:"curve,omitempty"`
}

// Pattern returns the JSON of a pattern's run, with the words of Text if wanted. The name of the
// machine may be "".
func (r Run) Pattern(machine string, words bool) PatternJSON {
	return PatternJSON{r.Counts, r.Visited, r.Proved, Settings(r.Config, false), r.Passes,
		r.details(machine, words), jsonNests(r.Nests)}
}

// Program returns the JSON of a program's run, see Pattern.
func (r Run) Program(machine string, words bool) ProgramJSON {
	number := 0
	return ProgramJSON{r.Counts, r.Visited, r.Proved, Settings(r.Config, false), r.Passes,
		r.details(machine, words),
		r.jsonStatements(), jsonNodes(r.program.Program, &number)}
}

// Trace returns the JSON of a trace's run, see Pattern.
func (r Run) Trace(machine string, words bool) TraceJSON {
	j := TraceJSON{Counts: r.Counts, Geometry: Settings(r.Config, true),
		details: r.details(machine, words)}
	for _, l := range r.Code {
		j.Lines = append(j.Lines, jsonLine{l.File, l.Number, l.Function, l.Counts})
	}
	return j
}

type jsonLine struct {
	File     string          `json:"file"`
	Line     int             `json:"line"`
	Function string          `json:"function"`
	Counts   simcache.Counts `json:"counts"`
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
		MissRate  float64          `json:"missRate"` // of the references that reach it
		UsedPart  *float64         `json:"usedPart,omitempty"`
		Spread    *simcache.Spread `json:"spread,omitempty"`
	}
	jsonTLB struct {
		simcache.LevelCounts
		Entries  int             `json:"entries"`
		Ways     int             `json:"ways"`
		Page     int             `json:"page"`
		MissRate float64         `json:"missRate"` // of the references that reach it
		Source   simcache.Source `json:"source"`
	}
	jsonTensor struct {
		Tensor string          `json:"tensor"`
		Counts simcache.Counts `json:"counts"`
	}
)

func (r Run) details(machine string, words bool) details {
	j := details{Machine: machine, Observed: r.Config.Observe.Names(), Levels: []jsonLevel{},
		Tensors: []jsonTensor{}, Curve: r.Curve}
	if words {
		j.Explanation = r.Text()
	}
	for i, l := range r.Levels {
		of := r.Config.Levels[i]
		level := jsonLevel{LevelCounts: l, Size: of.Size, Ways: of.Ways, Sets: of.Sets(),
			Line:   of.Line,
			Policy: of.Policy.String(), Inclusion: of.Inclusion.String(), MissRate: l.MissRate()}
		if spread, ok := l.Spread(); ok {
			level.Spread = &spread
		}
		if r.Config.Observe&simcache.UsedBytes != 0 {
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

// Settings returns the first and the last level, and I1 if instructions are simulated.
func Settings(c simcache.Config, i1 bool) map[string]Setting {
	setting := func(g simcache.Geometry, source simcache.Source) Setting {
		return Setting{g.Size, g.Ways, g.Line, source}
	}
	all := map[string]Setting{"D1": setting(c.First().Geometry, c.First().Source),
		"LL": setting(c.Last().Geometry, c.Last().Source)}
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
			j.Operands = append(j.Operands, jsonOperand(op))
		}
		all = append(all, j)
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
		Kind   string          `json:"kind"`
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
				j.Accesses = append(j.Accesses, jsonAccess{op, a.Text, of.Tensor, of.Kind.String(),
					r.program.counts[op]})
			}
		}
		all = append(all, j)
	}
	return all
}

// A jsonNode is a loop, a condition or an access. An affine function is a constant and the
// coefficients of induction variables, the outermost loop's first.
type jsonNode struct {
	Loop   *jsonLoop `json:"loop,omitempty"`
	If     *jsonIf   `json:"if,omitempty"`
	Access *jsonOne  `json:"access,omitempty"`
}

type (
	jsonLoop struct {
		Name string       `json:"name"`
		From []jsonAffine `json:"from"` // the largest of these; with a negative step the least
		// the least of these, exclusive; with a negative step the largest
		To   []jsonAffine `json:"to"`
		Step int          `json:"step"`
		Body []jsonNode   `json:"body"`
	}
	jsonIf struct {
		When [][]jsonAffine `json:"when"` // true if in one list all are at least 0
		Then []jsonNode     `json:"then"`
		Else []jsonNode     `json:"else,omitempty"`
	}
	jsonOne struct {
		Number int `json:"number"`
		operand
	}
	jsonAffine struct {
		Const int   `json:"const"`
		Coef  []int `json:"coef"`
	}
)

// jsonNodes numbers accesses from *number on, and advances it.
func jsonNodes(nodes []nest.Node, number *int) []jsonNode {
	all := []jsonNode{}
	for _, node := range nodes {
		var j jsonNode
		switch node := node.(type) {
		case *nest.Loop:
			j.Loop = &jsonLoop{node.Name, jsonAffines(node.From), jsonAffines(node.To), node.Step,
				jsonNodes(node.Body, number)}
		case *nest.If:
			j.If = &jsonIf{When: [][]jsonAffine{}, Then: jsonNodes(node.Then, number),
				Else: jsonNodes(node.Else, number)}
			for _, and := range node.When {
				j.If.When = append(j.If.When, jsonAffines(and))
			}
		case nest.Operand:
			j.Access = &jsonOne{*number, jsonOperand(node)}
			*number++
		}
		all = append(all, j)
	}
	return all
}

func jsonAffines(list []nest.Affine) []jsonAffine {
	all := []jsonAffine{}
	for _, a := range list {
		all = append(all, jsonAffine{a.Const, append([]int{}, a.Coef...)})
	}
	return all
}

func jsonOperand(op nest.Operand) operand {
	return operand{op.Tensor, op.Kind.String(), op.Base, op.Width, append([]int{}, op.Strides...)}
}
