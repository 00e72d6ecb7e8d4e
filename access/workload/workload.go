// Package workload is the program's own and promises nothing. It turns a user's tensors and the
// operations on them, in YAML, into benchmarks. docs/workload.md describes the format.
package workload

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/goccy/go-yaml/ast"
	"golang.org/x/perf/benchfmt"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/simcache/machines/strict"
)

// What a file may ask for.
const (
	maxBenchmarks = 1000
	maxRank       = 64  // dims of a tensor, as in PyTorch
	maxText       = 500 // characters of a view, which becomes part of a name
)

// A Workload is what a file asks for.
type Workload struct {
	// Comparisons are in the file's order. Each has benchmarks of one entry, operation, dtype and
	// view's dtype.
	Comparisons []access.Comparison
	places      map[string]*place // by benchmark
}

type place struct {
	file *strict.File
	path string
}

// Errorf returns an error about a benchmark. It begins with the file, line and column of its entry.
func (w Workload) Errorf(benchmark, format string, args ...any) error {
	p := w.places[benchmark]
	return p.file.Errorf(p.path, format, args...)
}

// The file's format. The tags are its words.
type (
	file struct {
		Tensors    map[string]tensor `yaml:"tensors"`
		Benchmarks []entry           `yaml:"benchmarks"`
	}
	tensor struct {
		Shape value `yaml:"shape"`
		DType value `yaml:"dtype"`
		Pad   int   `yaml:"pad"`
	}
	entry struct {
		Name   value  `yaml:"name"`
		Tensor values `yaml:"tensor"`
		View   values `yaml:"view"`
		Op     values `yaml:"op"`
		With   values `yaml:"with"`
		From   values `yaml:"from"`
		To     values `yaml:"to"`
		Order  values `yaml:"order"`
		Tile   values `yaml:"tile"`
		Kernel values `yaml:"kernel"`

		Operands []operandEntry `yaml:"operands"`
		Dims     values         `yaml:"dims"`
		Twin     value          `yaml:"twin"`
	}
)

// A value is a plain value and its place in the file; a default has none.
type value struct {
	text string
	node ast.Node
}

// UnmarshalYAML implements yaml.NodeUnmarshaler.
func (v *value) UnmarshalYAML(n ast.Node) (err error) {
	v.node = n
	v.text, err = strict.Scalar(n, "a word or a number; sizes are joined by x: 64x64")
	return err
}

type values []value

// UnmarshalYAML implements yaml.NodeUnmarshaler.
func (v *values) UnmarshalYAML(n ast.Node) error {
	nodes := []ast.Node{n}
	if list, ok := n.(*ast.SequenceNode); ok {
		nodes = list.Values
	}
	if len(nodes) == 0 {
		return strict.Refuse(n, errors.New("an empty list (want one value or more, or leave the "+
			"key out)"))
	}
	*v = make(values, len(nodes))
	for i, node := range nodes {
		if err := (*v)[i].UnmarshalYAML(node); err != nil {
			return err
		}
	}
	return nil
}

// Parse reads a file. An error begins with the file's name as given, the line and the column, and
// says what would be right. A benchmark has the name of [access.Spec.Name], with the entry's name,
// if any, as first key, wherever it is in the file. The same name twice is an error.
func Parse(name string, text []byte) (Workload, error) {
	var f file
	doc, err := strict.Decode(name, text, &f)
	if err != nil {
		return Workload{}, err
	}
	tensors, err := f.tensors(doc)
	if err != nil {
		return Workload{}, err
	}
	if len(f.Benchmarks) == 0 {
		return Workload{}, doc.Errorf("benchmarks", "no benchmarks (want a list of them)")
	}
	w := Workload{places: map[string]*place{}}
	for i, e := range f.Benchmarks {
		at := &place{doc, fmt.Sprintf("benchmarks[%d]", i)}
		specs, err := e.product(at, tensors)
		if err != nil {
			return Workload{}, err
		}
		if err := w.add(at, e.Name.text, specs); err != nil {
			return Workload{}, err
		}
	}
	if len(w.places) == 0 {
		return Workload{}, doc.Errorf("benchmarks",
			"nothing to run: this CPU has no vector kernels that walk any of these")
	}
	return w, nil
}

func (w *Workload) add(at *place, label string, specs []lowered) error {
	if len(w.places)+len(specs) > maxBenchmarks {
		return at.file.Errorf(at.path, "more than %d benchmarks in a file", maxBenchmarks)
	}
	type group struct {
		op            access.Op
		dtype, walked layouts.DType
	}
	index := map[group]int{}
	for _, s := range specs {
		name := s.Name()
		if label != "" {
			family, keys, _ := strings.Cut(name, "/")
			name = family + "/name=" + label + "/" + keys
		}
		other := w.places[name]
		if other == at {
			return at.file.Errorf(at.path, "%s comes twice of this entry: leave one of two like "+
				"values out", name)
		}
		if other != nil {
			return at.file.Errorf(at.path, "%s is on line %d already (a name: would tell "+
				"them apart)", name, other.file.Line(other.path))
		}
		w.places[name] = at
		g := group{s.Op, s.DType, s.walked}
		i, ok := index[g]
		if !ok {
			i = len(w.Comparisons)
			index[g] = i
			w.Comparisons = append(w.Comparisons, nil)
		}
		w.Comparisons[i] = append(w.Comparisons[i], access.Benchmark{Name: name, Spec: s.Spec})
	}
	return nil
}

type store struct {
	spec         access.Spec
	shape, dtype value
}

var word = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.-]{0,63}$`)
})

// procs reports whether a name ends as the Go benchmark format writes GOMAXPROCS.
func procs(name string) bool {
	_, parts := benchfmt.Name(name).Parts()
	return len(parts) > 0 && parts[len(parts)-1][0] == '-'
}

const wantName = "want letters, digits, _ . -, at most 64, a letter first"

func (f file) tensors(doc *strict.File) (map[string]store, error) {
	stores := map[string]store{}
	for _, name := range slices.Sorted(maps.Keys(f.Tensors)) {
		t, at := f.Tensors[name], "tensors."+name
		if !word().MatchString(name) {
			return nil, doc.Errorf("tensors", "%q is not a name of a tensor (%s)", name, wantName)
		}
		if t.Shape.node == nil {
			return nil, doc.Errorf(at, "tensor %s has no shape (such as shape: 4000x4000)", name)
		}
		s := store{access.Spec{Pad: t.Pad}, t.Shape, t.DType}
		if err := s.spec.Set("shape", t.Shape.text); err != nil {
			return nil, doc.Refuse(t.Shape.node, err)
		}
		if n := len(s.spec.Shape); n > maxRank {
			return nil, doc.Refuse(t.Shape.node,
				fmt.Errorf("%d dims (want at most %d)", n, maxRank))
		}
		dtype := "float32"
		if t.DType.node != nil {
			dtype = t.DType.text
		}
		if err := s.spec.Set("dtype", dtype); err != nil {
			return nil, doc.Refuse(t.DType.node, err)
		}
		if _, err := s.spec.Pattern(); err != nil { // a sum of it, as stored
			fault, _ := errors.AsType[*access.FieldError](err)
			return nil, doc.Errorf(at+"."+fault.Field, "%w", err)
		}
		stores[name] = s
	}
	return stores, nil
}
