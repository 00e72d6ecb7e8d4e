// Package machines describes cache hierarchies in files: YAML with the words of [simcache.Config],
// read strictly. It includes descriptions of a few real machines ([Names]), with the source of
// each figure. A description may also contain measurements of the machine ([ParseMeasured]), which
// a simulator ignores.
//
//  1. Start from a preset ([Names], [File]), or write a description.
//  2. [Parse] it. Errors give the file, line and column.
//  3. [simcache.NewHierarchy] simulates its Config.
package machines

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/goccy/go-yaml"

	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/machines/strict"
)

// A Machine is a hierarchy with its description.
type Machine struct {
	Name        string
	Description string   // one line
	Sources     []string // sources of the figures
	Config      simcache.Config
}

// The description as in the file, with a section measured of type S. The tags are the words of the
// format.
type (
	file[S any] struct {
		Name        string    `yaml:"name"`
		Description string    `yaml:"description"`
		Sources     []string  `yaml:"sources"`
		I1          *geometry `yaml:"i1"`
		Levels      []level   `yaml:"levels"`
		TLB         []tlb     `yaml:"tlb"`
		WriteBacks  bool      `yaml:"write-backs"`
		Measured    *S        `yaml:"measured"`
	}
	geometry struct {
		Size Size `yaml:"size"`
		Ways int  `yaml:"ways"`
		Line Size `yaml:"line"`
	}
	level struct {
		Name        string                   `yaml:"name"`
		Size        Size                     `yaml:"size"`
		Ways        int                      `yaml:"ways"`
		Line        Size                     `yaml:"line"`
		SharedBy    int                      `yaml:"shared-by"`
		Modulo      bool                     `yaml:"modulo"`
		Policy      word[simcache.Policy]    `yaml:"policy"`
		Seed        uint64                   `yaml:"seed"`
		Inclusion   word[simcache.Inclusion] `yaml:"inclusion"`
		WritePolicy word[writePolicy]        `yaml:"write-policy"`
		WriteMiss   word[writeMiss]          `yaml:"write-miss"`
		VictimLines int                      `yaml:"victim-lines"`
		Prefetch    prefetch                 `yaml:"prefetch"`
	}
	prefetch struct {
		Kind   word[simcache.PrefetchKind] `yaml:"kind"`
		Degree *int                        `yaml:"degree"` // nil if left out, which means 1
	}
	tlb struct {
		Name    string `yaml:"name"`
		Entries int    `yaml:"entries"`
		Ways    int    `yaml:"ways"`
		Page    Size   `yaml:"page"`
	}
)

// Limits of a description, against typing errors.
const (
	maxLevels      = 8
	maxSize        = 4 << 30 // bytes of a level
	maxEntries     = 1 << 20 // of a TLB level
	maxVictimLines = 1 << 16
	maxDegree      = 64
	maxSharedBy    = 1 << 16 // cores
)

// Parse reads a description. An error begins with name, line and column, and says what would be
// right.
func Parse(name string, text []byte) (Machine, error) {
	m, _, _, err := ParseMeasured[skipped](name, text)
	return m, err
}

// ParseMeasured also reads the section measured, into a struct with yaml tags, nil if absent. The
// caller checks its values; the document gives their positions.
func ParseMeasured[S any](name string, text []byte) (m Machine, measured *S, doc *strict.File,
	err error) {
	var f file[S]
	if doc, err = strict.Decode(name, text, &f); err != nil {
		return Machine{}, nil, nil, err
	}
	config, path, err := f.config()
	if err != nil {
		return Machine{}, nil, nil, doc.Errorf(path, "%w", err)
	}
	return Machine{f.Name, f.Description, f.Sources, config}, f.Measured, doc, nil
}

// Format writes a description for ParseMeasured, without settings that the format lacks, such as
// Observe. measured may be nil.
func Format[S any](m Machine, measured *S) ([]byte, error) {
	f := file[S]{Name: m.Name, Description: m.Description, Sources: m.Sources,
		WriteBacks: m.Config.WriteBacks, Measured: measured}
	if g := m.Config.I1; g != (simcache.Geometry{}) {
		f.I1 = &geometry{Size(g.Size), g.Ways, Size(g.Line)}
	}
	for _, l := range m.Config.Levels {
		f.Levels = append(f.Levels, level{
			Name: l.Name, Size: Size(l.Size), Ways: l.Ways, Line: Size(l.Line),
			SharedBy: l.SharedBy, Modulo: l.Modulo,
			Policy: word[simcache.Policy]{l.Policy}, Seed: l.Seed,
			Inclusion:   word[simcache.Inclusion]{l.Inclusion},
			WritePolicy: word[writePolicy]{writePolicy(l.WriteThrough)},
			WriteMiss:   word[writeMiss]{writeMiss(l.NoWriteAllocate)},
			VictimLines: l.VictimLines, Prefetch: prefetchOf(l.Prefetch),
		})
	}
	for _, t := range m.Config.TLB {
		f.TLB = append(f.TLB, tlb{t.Name, t.Entries, t.Ways, Size(t.Page)})
	}
	return yaml.MarshalWithOptions(f, yaml.OmitZero(), yaml.IndentSequence(true),
		yaml.CustomMarshaler[string](quoted))
}

func prefetchOf(p simcache.Prefetch) prefetch {
	of := prefetch{Kind: word[simcache.PrefetchKind]{p.Kind}}
	if p.Degree != 0 {
		of.Degree = &p.Degree
	}
	return of
}

func (p prefetch) degree() int {
	if p.Degree == nil {
		return 0
	}
	return *p.Degree
}

// quoted quotes a text with a leading question mark, which the library would write as a key.
func quoted(text string) ([]byte, error) {
	if strings.HasPrefix(text, "?") {
		return []byte(strconv.Quote(text)), nil
	}
	return yaml.Marshal(text)
}

// config checks the description. With an error it returns the path at fault.
func (f file[S]) config() (c simcache.Config, path string, err error) {
	for _, check := range []func() (string, error){f.limits, f.unprintable,
		f.contradicts, f.lacks} {
		if path, err := check(); err != nil {
			return c, path, err
		}
	}
	if f.I1 != nil {
		c.I1 = simcache.Geometry{Size: int(f.I1.Size), Ways: f.I1.Ways, Line: int(f.I1.Line)}
	}
	for _, l := range f.Levels {
		c.Levels = append(c.Levels, simcache.Level{
			Name:     l.Name,
			Geometry: simcache.Geometry{Size: int(l.Size), Ways: l.Ways, Line: int(l.Line)},
			SharedBy: l.SharedBy,
			Modulo:   l.Modulo, Policy: l.Policy.value, Seed: l.Seed, Inclusion: l.Inclusion.value,
			WriteThrough: bool(l.WritePolicy.value), NoWriteAllocate: bool(l.WriteMiss.value),
			VictimLines: l.VictimLines,
			Prefetch: simcache.Prefetch{Kind: l.Prefetch.Kind.value,
				Degree: l.Prefetch.degree()},
		})
	}
	for _, t := range f.TLB {
		c.TLB = append(c.TLB, simcache.TLB{Name: t.Name, Entries: t.Entries, Ways: t.Ways,
			Page: int(t.Page)})
	}
	c.WriteBacks = f.WriteBacks
	if err := c.Check(); err != nil {
		return c, fault(c), err
	}
	return c, "", nil
}

func (f file[S]) limits() (path string, err error) {
	type figure struct {
		path        string
		value, most int
	}
	figures := []figure{{"levels", len(f.Levels), maxLevels}, {"tlb", len(f.TLB), maxLevels}}
	if f.I1 != nil {
		figures = append(figures, figure{"i1.size", int(f.I1.Size), maxSize})
	}
	for i, l := range f.Levels {
		at := fmt.Sprintf("levels[%d].", i)
		figures = append(figures, figure{at + "size", int(l.Size), maxSize},
			figure{at + "shared-by", l.SharedBy, maxSharedBy},
			figure{at + "victim-lines", l.VictimLines, maxVictimLines},
			figure{at + "prefetch.degree", l.Prefetch.degree(), maxDegree})
	}
	for i, t := range f.TLB {
		at := fmt.Sprintf("tlb[%d].", i)
		figures = append(figures, figure{at + "entries", t.Entries, maxEntries},
			figure{at + "page", int(t.Page), maxSize})
	}
	for _, g := range figures {
		if g.value > g.most {
			return g.path, fmt.Errorf("%d is too much (want at most %d)", g.value, g.most)
		}
	}
	return "", nil
}

// unprintable refuses names with control characters, which a terminal would execute.
func (f file[S]) unprintable() (path string, err error) {
	names := []struct{ path, name string }{{"name", f.Name}}
	for i, l := range f.Levels {
		names = append(names, struct{ path, name string }{fmt.Sprintf("levels[%d].name",
			i), l.Name})
	}
	for i, t := range f.TLB {
		names = append(names, struct{ path, name string }{fmt.Sprintf("tlb[%d].name", i), t.Name})
	}
	for _, n := range names {
		if strings.ContainsFunc(n.name, func(r rune) bool { return !unicode.IsPrint(r) }) {
			return n.path, fmt.Errorf("%q has what cannot be printed (want letters and the like, "+
				"in one line)", n.name)
		}
	}
	return "", nil
}

// contradicts refuses settings without effect and repeated names.
func (f file[S]) contradicts() (path string, err error) {
	for i, l := range f.Levels {
		at := fmt.Sprintf("levels[%d].", i)
		switch p := l.Prefetch; {
		case p.Degree != nil && p.Kind.value == "":
			return at + "prefetch", fmt.Errorf(
				"a degree of %d and no prefetcher (want kind: next-line, or stride)", *p.Degree)
		case p.Degree != nil && *p.Degree < 1:
			return at + "prefetch.degree", fmt.Errorf(
				"a degree of %d (want at least 1, which it is where it is left out, or no "+
					"prefetcher)", *p.Degree)
		case l.Seed != 0 && l.Policy.value != "random":
			return at + "seed", fmt.Errorf("a seed of %d and nothing that draws (want policy: "+
				"random)", l.Seed)
		case l.Name != "" && slices.ContainsFunc(f.Levels[:i], func(before level) bool {
			return before.Name == l.Name
		}):
			return at + "name", fmt.Errorf("%s is the name of a level already", l.Name)
		}
	}
	return "", nil
}

// lacks refuses caches without size, ways or line. Data sheets often state only sizes.
func (f file[S]) lacks() (path string, err error) {
	if f.I1 != nil {
		if err := f.I1.lacks(); err != nil {
			return "i1", err
		}
	}
	for i, l := range f.Levels {
		if err := (geometry{l.Size, l.Ways, l.Line}).lacks(); err != nil {
			return fmt.Sprintf("levels[%d]", i), err
		}
	}
	return "", nil
}

func (g geometry) lacks() error {
	var keys []string
	if g.Size == 0 {
		keys = append(keys, "size")
	}
	if g.Ways == 0 {
		keys = append(keys, "ways")
	}
	if g.Line == 0 {
		keys = append(keys, "line")
	}
	if keys == nil {
		return nil
	}
	return fmt.Errorf("a cache without %s (want size, ways and line, such as size: 32KiB, ways: "+
		"8, line: 64; as many ways as size / line make it fully associative)",
		strings.Join(keys, " and "))
}

// fault returns the path of the first part that fails together with those before it.
func fault(c simcache.Config) string {
	var part simcache.Config
	if c.I1 != part.I1 && c.I1.Check() != nil {
		return "i1"
	}
	part.WriteBacks = c.WriteBacks
	for i := range c.Levels {
		if part.Levels = c.Levels[:i+1]; part.Check() != nil {
			return fmt.Sprintf("levels[%d]", i)
		}
	}
	if part.I1 = c.I1; len(c.Levels) == 0 || part.Check() != nil {
		return "i1"
	}
	for i := range c.TLB {
		if part.TLB = c.TLB[:i+1]; part.Check() != nil {
			return fmt.Sprintf("tlb[%d]", i)
		}
	}
	return ""
}
