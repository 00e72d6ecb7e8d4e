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
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

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
		Size strict.Size `yaml:"size"`
		Ways int         `yaml:"ways"`
		Line strict.Size `yaml:"line"`
	}
	level struct {
		Name        string      `yaml:"name"`
		Size        strict.Size `yaml:"size"`
		Ways        int         `yaml:"ways"`
		Line        strict.Size `yaml:"line"`
		SharedBy    int         `yaml:"shared-by"`
		Modulo      bool        `yaml:"modulo"`
		Policy      string      `yaml:"policy"`
		Seed        uint64      `yaml:"seed"`
		Inclusion   string      `yaml:"inclusion"`
		WritePolicy string      `yaml:"write-policy"`
		WriteMiss   string      `yaml:"write-miss"`
		VictimLines int         `yaml:"victim-lines"`
		Prefetch    prefetch    `yaml:"prefetch"`
	}
	prefetch struct {
		Kind   string `yaml:"kind"`
		Degree int    `yaml:"degree"`
	}
	tlb struct {
		Name    string      `yaml:"name"`
		Entries int         `yaml:"entries"`
		Ways    int         `yaml:"ways"`
		Page    strict.Size `yaml:"page"`
	}
)

// The words for stores, the defaults first.
var (
	writePolicies = []string{"write-back", "write-through"}
	writeMisses   = []string{"write-allocate", "no-write-allocate"}
)

// Limits of a description, against typing errors.
const (
	maxLevels      = 8
	maxSize        = 4 << 30 // bytes of a level
	maxEntries     = 1 << 20 // of a TLB level
	maxVictimLines = 1 << 16
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
		f.I1 = &geometry{strict.Size(g.Size), g.Ways, strict.Size(g.Line)}
	}
	for _, l := range m.Config.Levels {
		f.Levels = append(f.Levels, level{
			Name: l.Name, Size: strict.Size(l.Size), Ways: l.Ways, Line: strict.Size(l.Line),
			SharedBy: l.SharedBy, Modulo: l.Modulo, Policy: l.Policy, Seed: l.Seed,
			Inclusion:   l.Inclusion,
			WritePolicy: map[bool]string{true: writePolicies[1]}[l.WriteThrough],
			WriteMiss:   map[bool]string{true: writeMisses[1]}[l.NoWriteAllocate],
			VictimLines: l.VictimLines, Prefetch: prefetch(l.Prefetch),
		})
	}
	for _, t := range m.Config.TLB {
		f.TLB = append(f.TLB, tlb{t.Name, t.Entries, t.Ways, strict.Size(t.Page)})
	}
	return yaml.MarshalWithOptions(f, yaml.OmitZero(), yaml.IndentSequence(true),
		yaml.CustomMarshaler[string](quoted))
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
	if path, err := f.unprintable(); err != nil {
		return c, path, err
	}
	if f.I1 != nil {
		c.I1 = simcache.Geometry{Size: int(f.I1.Size), Ways: f.I1.Ways, Line: int(f.I1.Line)}
	}
	for i, l := range f.Levels {
		at := fmt.Sprintf("levels[%d].", i)
		through, err := either("write policy", writePolicies, l.WritePolicy)
		if err != nil {
			return c, at + "write-policy", err
		}
		none, err := either("policy for a write that misses", writeMisses, l.WriteMiss)
		if err != nil {
			return c, at + "write-miss", err
		}
		c.Levels = append(c.Levels, simcache.Level{
			Name:     l.Name,
			Geometry: simcache.Geometry{Size: int(l.Size), Ways: l.Ways, Line: int(l.Line)},
			SharedBy: l.SharedBy, Modulo: l.Modulo, Policy: unless(l.Policy, "lru"), Seed: l.Seed,
			Inclusion:    unless(l.Inclusion, "non-inclusive"),
			WriteThrough: through, NoWriteAllocate: none, VictimLines: l.VictimLines,
			Prefetch: simcache.Prefetch{Kind: unless(l.Prefetch.Kind, "none"),
				Degree: l.Prefetch.Degree},
		})
	}
	for _, t := range f.TLB {
		c.TLB = append(c.TLB, simcache.TLB{Name: t.Name, Entries: t.Entries, Ways: t.Ways,
			Page: int(t.Page)})
	}
	c.WriteBacks = f.WriteBacks
	if path, err := limits(c); err != nil {
		return c, path, err
	}
	if err := c.Check(); err != nil {
		return c, fault(c), err
	}
	return c, "", nil
}

// either reports whether a text is the second of two words. The first is the default.
func either(what string, words []string, text string) (second bool, err error) {
	if text != "" && !slices.Contains(words, text) {
		return false, fmt.Errorf("unknown %s %q (want %s)", what, text,
			strings.Join(words, " or "))
	}
	return text == words[1], nil
}

// unless returns a word, "" for the default.
func unless(word, standard string) string {
	if word == standard {
		return ""
	}
	return word
}

func limits(c simcache.Config) (path string, err error) {
	type figure struct {
		path        string
		value, most int
	}
	figures := []figure{{"levels", len(c.Levels), maxLevels}, {"tlb", len(c.TLB), maxLevels},
		{"i1.size", c.I1.Size, maxSize}}
	for i, l := range c.Levels {
		at := fmt.Sprintf("levels[%d].", i)
		figures = append(figures, figure{at + "size", l.Size, maxSize},
			figure{at + "victim-lines", l.VictimLines, maxVictimLines})
	}
	for i, t := range c.TLB {
		at := fmt.Sprintf("tlb[%d].", i)
		figures = append(figures, figure{at + "entries", t.Entries, maxEntries})
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
	names := map[string]string{"name": f.Name}
	for i, l := range f.Levels {
		names[fmt.Sprintf("levels[%d].name", i)] = l.Name
	}
	for i, t := range f.TLB {
		names[fmt.Sprintf("tlb[%d].name", i)] = t.Name
	}
	for path, name := range names {
		if strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
			return path, fmt.Errorf("%q has what cannot be printed (want letters and the like, "+
				"in one line)", name)
		}
	}
	return "", nil
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

// skipped is a section that is not read.
type skipped struct{}

// UnmarshalYAML implements yaml.NodeUnmarshaler.
func (*skipped) UnmarshalYAML(n ast.Node) error {
	if n.Type() != ast.MappingType {
		return strict.Refuse(n,
			errors.New("no section (want the keys and values of a measurement)"))
	}
	return nil
}
