// Package probe is the program's own and promises nothing. It measures what a machine's caches
// deliver, which often differs from what cpuid states. It measures the latency, capacity and
// bandwidth of each level, and the reach of the TLB.
//
// # The file
//
// A measured [Machine] is saved as a description of package
// [github.com/stridebench/stridebench/simcache/machines], with an additional section, measured. It
// can be used, copied and edited like any other description. The levels to simulate follow from the
// measured ones. The file still lists them, because lines and most ways are not measured and may be
// edited. The parser ignores unknown entries of the section, which older versions wrote.
package probe

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/machines/strict"
)

// A Machine is the measurements of a machine.
type Machine struct {
	// Simulated are the caches and the TLB to simulate.
	Simulated simcache.Config `yaml:"-" json:"-"`

	Date time.Time `yaml:"date" json:"date"`
	CPU  string    `yaml:"cpu" json:"cpu"` // brand name, "" if unknown
	// Pages are the pages of the ladder's memory: 4k, thp or hugetlb.
	Pages  string  `yaml:"pages" json:"pages"`
	Levels []Level `yaml:"levels" json:"levels"` // of caches, the nearest first; at least one
	// Memory follows the last level. It is zero if no working set exceeded the caches.
	Memory Speed   `yaml:"memory" json:"memory,omitzero"`
	TLB    []Reach `yaml:"tlb" json:"tlb"` // levels of the data TLB, the nearest first

	// Threads is the number of threads of ReadAll and CopyAll; 0 if not measured.
	Threads int `yaml:"threads,omitempty" json:"threads,omitzero"`
	// threads that streamed for Loads
	Streams int        `yaml:"streams,omitempty" json:"streams,omitzero"`
	Loads   List[Load] `yaml:"loads" json:"loads,omitempty"` // by share, ascending

	Streamed List[Stream] `yaml:"streamed" json:"streamed,omitempty"` // of memory
	Loops    List[Loop]   `yaml:"loops" json:"loops,omitempty"`
	Tiles    List[Tile]   `yaml:"tiles" json:"tiles,omitempty"` // of memory

	Ladder     List[Point] `yaml:"ladder" json:"ladder"`          // sizes ascending
	PageLadder List[Pages] `yaml:"page-ladder" json:"pageLadder"` // pages ascending
}

// A Bandwidth is in bytes per ns, which is GB/s, as in the file. JSON has B/s.
type Bandwidth float64

// MarshalJSON implements json.Marshaler.
func (b Bandwidth) MarshalJSON() ([]byte, error) { return json.Marshal(1e9 * float64(b)) }

// UnmarshalYAML implements yaml.NodeUnmarshaler.
func (b *Bandwidth) UnmarshalYAML(n ast.Node) error { return yaml.NodeToValue(n, (*float64)(b)) }

// A List is written with one entry per line.
type List[T any] []T

// MarshalYAML implements yaml.BytesMarshaler.
func (l List[T]) MarshalYAML() ([]byte, error) {
	var text strings.Builder
	for _, entry := range l {
		line, err := yaml.MarshalWithOptions(entry, yaml.Flow(true), yaml.OmitZero())
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&text, "- %s", line)
	}
	return []byte(text.String()), nil
}

// Speed is what a level delivers to one core. Figures that were not measured are 0.
type Speed struct {
	// per load of a pointer chase
	Latency float64 `yaml:"latency-ns" json:"latencyNs"`
	// sums with the widest vectors
	Read Bandwidth `yaml:"read-GB/s,omitempty" json:"readBytesPerSecond"`
	// Copy is of copies with the widest vectors, in bytes read plus bytes written.
	Copy Bandwidth `yaml:"copy-GB/s,omitempty" json:"copyBytesPerSecond"`

	// ReadAll and CopyAll are of all cores together.
	ReadAll Bandwidth `yaml:"read-all-GB/s,omitempty" json:"readAllBytesPerSecond,omitzero"`
	CopyAll Bandwidth `yaml:"copy-all-GB/s,omitempty" json:"copyAllBytesPerSecond,omitzero"`

	// Near is ns of an independent load, of lines a few lines apart in a page.
	Near float64 `yaml:"near-ns,omitempty" json:"nearNs,omitzero"`

	// Crowded and CrowdedStore are ns of an independent load and store in a conflict set of the
	// first level. Only the second level has them. Some CPUs overlap hardly any two of these.
	Crowded      float64 `yaml:"crowded-ns,omitempty" json:"crowdedNs,omitzero"`
	CrowdedStore float64 `yaml:"crowded-store-ns,omitempty" json:"crowdedStoreNs,omitzero"`
}

// A Level is one cache.
type Level struct {
	Name string `yaml:"name" json:"name"` // L1D, L2, ...
	// stated bytes, 0 if the level is not stated
	Stated strict.Size `yaml:"stated,omitempty" json:"stated"`
	// largest working set that it serves, in bytes, as measured
	Capacity strict.Size `yaml:"capacity" json:"capacity"`
	Speed    `yaml:",inline"`

	Simulated string `yaml:"-" json:"simulated"` // size,ways,line of a report
}

// near reports whether two capacities differ by at most a third, the error of the method.
func near(measured, stated int) bool {
	r := float64(measured) / float64(stated)
	return r >= 3.0/4 && r <= 4.0/3
}

// A Reach is one level of the data TLB.
type Reach struct {
	// pages of PageSize that it translates without a miss
	Entries int `yaml:"entries" json:"entries"`
	// Miss is the ns that a miss adds to a dependent load, which then hits the next level or walks
	// the page tables.
	Miss float64 `yaml:"miss-ns" json:"missNs"`
	// Apart is the same for independent loads of adjacent pages.
	Apart float64 `yaml:"apart-ns,omitempty" json:"apartNs,omitzero"`

	Simulated string `yaml:"-" json:"simulated"` // entries,ways,page of a report
}

// PageSize returns the page size of the TLB measurements in bytes: the system's.
func PageSize() int { return access.PagesSmall.Size() }

// A Point is the ns per load of a pointer chase over a working set.
type Point struct {
	Size strict.Size `yaml:"size" json:"size"`
	Ns   float64     `yaml:"ns" json:"ns"`
}

// Pages is the ns per load of a pointer chase over this many pages.
type Pages struct {
	Pages int     `yaml:"pages" json:"pages"`
	Ns    float64 `yaml:"ns" json:"ns"`
}

// section is a Machine whose unknown entries are ignored.
type section Machine

// UnmarshalYAML implements yaml.NodeUnmarshaler.
func (s *section) UnmarshalYAML(n ast.Node) error { return yaml.NodeToValue(n, (*Machine)(s)) }
