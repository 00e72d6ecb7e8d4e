// Package sweep is the program's own and promises nothing. It simulates the design space of a
// kernel: every combination of the shapes, dtypes, operations, orders, tiles and caches that a file
// names. It counts exactly, on all CPUs, and its record survives being killed.
//
//  1. [ReadFile] reads the space (docs/fleet.md describes the file).
//  2. [Space.Run] simulates each point that its record lacks. When all are there, it writes the
//     results as a file that benchstat and package merge read.
package sweep

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/goccy/go-yaml/ast"
	"golang.org/x/perf/benchfmt"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/results/keys"
	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/machines"
	"github.com/stridebench/stridebench/simcache/machines/strict"
)

// The file's format. The tags are its words.
type (
	file struct {
		Suite   string   `yaml:"suite"`
		Shapes  []size   `yaml:"shapes"`
		DTypes  []string `yaml:"dtypes"`
		Ops     []string `yaml:"ops"`
		Views   []string `yaml:"views"`
		Pads    []int    `yaml:"pads"`
		Orders  []string `yaml:"orders"`
		Tiles   []size   `yaml:"tiles"`
		Kernels []string `yaml:"kernels"`
		Caches  []caches `yaml:"caches"`
	}
	caches struct {
		Name   string `yaml:"name"`
		Preset string `yaml:"preset"`
		D1     string `yaml:"d1"`
		LL     string `yaml:"ll"`
	}
)

// A size is sizes as text: YAML would read 0x4, two sizes, as a number.
type size string

// UnmarshalYAML implements yaml.NodeUnmarshaler.
func (s *size) UnmarshalYAML(n ast.Node) error {
	text, err := strict.Scalar(n, "sizes such as 512x512")
	*s = size(text)
	return err
}

func texts(sizes []size) (words []string) {
	for _, s := range sizes {
		words = append(words, string(s))
	}
	return words
}

// maxLine bounds a line in bytes, below what readers of the Go benchmark format accept.
const maxLine = 60_000

// maxPoints bounds the combinations of a file.
const maxPoints = 10_000_000

// A Space is what a file asks for: every spec on every hierarchy.
type Space struct {
	specs       []access.Spec
	names       []string // of the specs
	twins       []int    // for each spec, the first one that makes the same accesses
	hierarchies []hierarchy
	order       []int // of simulating the hierarchies
}

// A hierarchy is simulated caches with a name.
type hierarchy struct {
	name   string
	config simcache.Config
}

// Parse reads a space. Errors begin with the file's name as given, the line and the column. An
// invalid combination, such as tiles of two dims and a shape of three, is an error that names it.
func Parse(name string, text []byte) (*Space, error) {
	f := file{DTypes: []string{"float32"}, Ops: []string{"sum"}, Views: []string{""},
		Pads: []int{0}, Orders: []string{"row"}, Tiles: []size{"none"}, Kernels: []string{"scalar"}}
	doc, err := strict.Decode(name, text, &f)
	if err != nil {
		return nil, err
	}
	s := &Space{}
	for i, c := range f.Caches {
		h, err := c.hierarchy()
		if err != nil {
			return nil, doc.Errorf(fmt.Sprintf("caches[%d]", i), "%w", err)
		}
		if slices.ContainsFunc(s.hierarchies, func(o hierarchy) bool { return o.name == h.name }) {
			return nil, doc.Errorf(fmt.Sprintf("caches[%d]", i),
				"the name %s is there already", h.name)
		}
		s.hierarchies = append(s.hierarchies, h)
	}
	if len(f.Caches) == 0 {
		return nil, doc.Errorf("caches", "no caches (want one or more)")
	}
	if n := len(keys.Swept) + len(s.named()); n > maxLine {
		return nil, doc.Errorf("caches", "the names of %d caches take a line of %d B in the "+
			"results (want at most %d): leave names out", len(s.hierarchies), n, maxLine)
	}
	s.order = order(s.hierarchies)
	if f.Suite != "" {
		return s, s.addSuite(f, doc)
	}
	return s, s.addSpecs(f, doc)
}

func (s *Space) addSuite(f file, doc *strict.File) error {
	if f.Suite != "default" && f.Suite != "quick" {
		return doc.Errorf("suite", "%q: want default or quick, the benchmarks of bench run",
			f.Suite)
	}
	if f.Shapes != nil {
		return doc.Errorf("suite", "it names all patterns: leave shapes out")
	}
	same := map[string]int{}
	for _, c := range access.Suite(f.Suite == "quick") {
		for _, b := range c {
			p, err := b.Spec.Pattern()
			if err != nil {
				return doc.Errorf("suite", "%s: %w", b.Name, err)
			}
			s.add(b.Name, p, same)
		}
	}
	return nil
}

// add adds a pattern. same maps accesses to their first spec.
func (s *Space) add(name string, p access.Pattern, same map[string]int) {
	accesses := fmt.Sprint(p.Nests)
	if p.Nests == nil { // a chase: its size determines it
		accesses = name
	}
	if _, ok := same[accesses]; !ok {
		same[accesses] = len(s.specs)
	}
	s.twins = append(s.twins, same[accesses])
	s.specs, s.names = append(s.specs, p.Spec), append(s.names, name)
}

// A list is the words of a list of the file, for a field of a spec.
type list struct {
	key   string // the field, plus s
	words []string
}

func (l list) set(s *access.Spec, word string) error {
	err := s.Set(strings.TrimSuffix(l.key, "s"), word)
	if err == nil && s.Op != access.Sum && s.Op != access.Fill && s.Op != access.Copy {
		err = errors.New("want sum, fill or copy")
	}
	return err
}

// lists returns the lists whose combinations are the specs; the first one changes slowest.
func (f *file) lists() []list {
	var pads []string
	for _, pad := range f.Pads {
		pads = append(pads, strconv.Itoa(pad))
	}
	return []list{{"shapes", texts(f.Shapes)}, {"dtypes", f.DTypes}, {"ops", f.Ops},
		{"views", f.Views}, {"orders", f.Orders}, {"tiles", texts(f.Tiles)},
		{"kernels", f.Kernels}, {"pads", pads}}
}

func (s *Space) addSpecs(f file, doc *strict.File) error {
	n := len(f.Caches)
	lists := f.lists()
	for _, l := range lists {
		if len(l.words) == 0 {
			return doc.Errorf(l.key, "no %s (want one or more)", l.key)
		}
		if n *= len(l.words); n > maxPoints {
			return doc.Errorf("caches", "more than %d combinations", maxPoints)
		}
		for i, word := range l.words {
			if err := l.set(&access.Spec{}, word); err != nil {
				return doc.Errorf(fmt.Sprintf("%s[%d]", l.key, i), "%w", err)
			}
		}
	}
	known, same := map[string]bool{}, map[string]int{}
	return each(lists, access.Spec{}, nil,
		func(spec access.Spec, at []int) error {
			p, err := spec.Pattern()
			if err == nil && known[spec.Name()] {
				err = errors.New("it is there twice")
			}
			if err != nil {
				return refuse(doc, lists, at, err)
			}
			known[spec.Name()] = true
			s.add(spec.Name(), p, same)
			return nil
		})
}

// each calls do for every combination of the lists' words, with their places after at.
func each(lists []list, spec access.Spec, at []int,
	do func(spec access.Spec, at []int) error) error {
	if len(lists) == 0 {
		return do(spec, at)
	}
	for i, word := range lists[0].words {
		if err := lists[0].set(&spec, word); err != nil {
			return err
		}
		if err := each(lists[1:], spec, append(at, i), do); err != nil {
			return err
		}
	}
	return nil
}

// refuse locates a combination's error at the word at fault, or else at its shape.
func refuse(doc *strict.File, lists []list, at []int, err error) error {
	place, words := "shapes", []string{}
	fault, _ := errors.AsType[*access.FieldError](err)
	for k, l := range lists {
		words = append(words, strings.TrimSuffix(l.key, "s")+" "+cmp.Or(l.words[at[k]], "none"))
		if path := fmt.Sprintf("%s[%d]", l.key, at[k]); k == 0 || fault != nil &&
			fault.Field+"s" == l.key && doc.Line(path) > 0 {
			place = path
		}
	}
	return doc.Errorf(place, "with %s: %w", strings.Join(words, ", "), err)
}

// hierarchy returns an entry's caches: a preset's first and last level, or both in Cachegrind's
// notation.
func (c caches) hierarchy() (h hierarchy, err error) {
	if c.Preset != "" {
		if c.D1 != "" || c.LL != "" {
			return h, errors.New("preset names all caches: leave d1 and ll out")
		}
		m, err := machines.Preset(c.Preset)
		if err != nil {
			return h, err
		}
		if h.config, err = m.Config.TwoLevels(); err != nil {
			return h, err
		}
		h.name = c.Preset
	} else {
		d1, err := simcache.ParseGeometry(c.D1)
		if err != nil {
			return h, fmt.Errorf("d1: %w", err)
		}
		ll, err := simcache.ParseGeometry(c.LL)
		if err != nil {
			return h, fmt.Errorf("ll: %w", err)
		}
		h = hierarchy{c.D1 + "+" + c.LL, simcache.Config{Levels: simcache.TwoLevels(d1, ll)}}
	}
	if c.Name != "" {
		h.name = c.Name
	}
	if err := checkName(h.name); err != nil {
		return h, err
	}
	h.config.TLB = nil
	return h, h.config.Check()
}

// checkName refuses a name that cannot end a benchmark's name: a space ends the name, and "-8" is
// GOMAXPROCS.
func checkName(name string) error {
	if strings.ContainsFunc(name, func(r rune) bool {
		return r == '/' || !unicode.IsPrint(r) || r == ' '
	}) {
		return fmt.Errorf("name %q: want no space and no /", name)
	}
	if _, parts := benchfmt.Name("X/caches=" + name).Parts(); len(parts) > 1 {
		return fmt.Errorf("name %q: the Go benchmark format takes %s for a number of CPUs",
			name, parts[1])
	}
	return nil
}

func (h hierarchy) geometry() string {
	return h.config.First().Geometry.String() + "+" + h.config.Last().Geometry.String()
}

// named returns the value of [keys.Swept]: the geometries of caches with other names.
func (s *Space) named() string {
	var entries []string
	for _, h := range s.hierarchies {
		if g := h.geometry(); g != h.name {
			entries = append(entries, h.name+"="+g)
		}
	}
	return strings.Join(entries, " ")
}

func (s *Space) points() int { return len(s.specs) * len(s.hierarchies) }

// name returns a point's name: the spec's, with the caches as its last key.
func (s *Space) name(point int) string {
	return s.names[point/len(s.hierarchies)] + "/caches=" +
		s.hierarchies[point%len(s.hierarchies)].name
}

// hash identifies the space by 12 hex digits, for [keys.Suite].
func (s *Space) hash() string {
	h := sha256.New()
	for _, name := range s.names {
		fmt.Fprintln(h, name)
	}
	for _, c := range s.hierarchies {
		fmt.Fprintln(h, c.name, c.config.Levels)
	}
	return hex.EncodeToString(h.Sum(nil))[:12]
}

// twin returns the first point with the same accesses on the same caches, such as for a dtype of
// equal width.
func (s *Space) twin(point int) int {
	n := len(s.hierarchies)
	return s.twins[point/n]*n + point%n
}

// A count is a point's events in a pass in the steady state.
type count struct{ refs, d1, ll uint64 }

func (s *Space) simulate(ctx context.Context, point int) (count, error) {
	p, err := s.specs[point/len(s.hierarchies)].Pattern()
	if err != nil {
		return count{}, err
	}
	counts, err := access.Simulate(ctx, s.hierarchies[point%len(s.hierarchies)].config,
		[]access.Pattern{p}, nil)
	if err != nil {
		return count{}, err
	}
	c := counts[0]
	return count{c.Refs(), c.D1Misses(), c.LLMisses()}, nil
}
