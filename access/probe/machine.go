// Package probe measures what a machine's caches deliver, which is often not what
// cpuid states: the latency, effective capacity and bandwidth of each level, and
// the reach of the TLB.
//
// # The file
//
// A measured [Machine] is saved as a description of package
// [github.com/stridebench/stridebench/simcache/machines], with the measurements
// in an additional section, measured. So there is only one format for machines.
// The file can be used wherever a description can. It can be copied, edited by
// hand, and simulated without any knowledge of this package. The levels to
// simulate follow from the measured ones. The file spells them out in full,
// because their lines, and mostly their ways, are not measured and may be edited.
// What the section has beyond a Machine, as those of older versions do, is ignored.
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
	"github.com/stridebench/stridebench/simcache/machines"
)

// A Machine is what was measured of one. The tags are the words of the section measured, and of
// JSON.
type Machine struct {
	// Simulated are the caches and the TLB as the simulator takes them.
	Simulated simcache.Config `yaml:"-" json:"-"`

	Date time.Time `yaml:"date" json:"date"`
	CPU  string    `yaml:"cpu" json:"cpu"` // brand name, "" if unknown
	// Pages are those that the ladder's memory lay in: 4k, thp or hugetlb.
	Pages  string  `yaml:"pages" json:"pages"`
	Levels []Level `yaml:"levels" json:"levels"` // of caches, the nearest first; at least one
	// Memory is what lies behind them; zero where no working set went past them.
	Memory Speed   `yaml:"memory" json:"memory,omitzero"`
	TLB    []Reach `yaml:"tlb" json:"tlb"` // levels of the data TLB, the nearest first

	// Threads have ReadAll and CopyAll; 0 where these were not measured.
	Threads int `yaml:"threads,omitempty" json:"threads,omitzero"`
	// of each NUMA node, where there are several
	Remote List[Remote] `yaml:"remote" json:"remote,omitempty"`
	// threads that streamed for Loads
	Streams int        `yaml:"streams,omitempty" json:"streams,omitzero"`
	Loads   List[Load] `yaml:"loads" json:"loads,omitempty"` // by share, ascending

	Streamed List[Stream] `yaml:"streamed" json:"streamed,omitempty"` // of memory
	Loops    List[Loop]   `yaml:"loops" json:"loops,omitempty"`
	Tiles    List[Tile]   `yaml:"tiles" json:"tiles,omitempty"` // of memory

	Ladder     List[Point] `yaml:"ladder" json:"ladder"`          // sizes ascending
	PageLadder List[Pages] `yaml:"page-ladder" json:"pageLadder"` // pages ascending
}

// A Bandwidth is in bytes a ns, which is GB/s, as the file has it; JSON has B/s.
type Bandwidth float64

// MarshalJSON implements json.Marshaler.
func (b Bandwidth) MarshalJSON() ([]byte, error) { return json.Marshal(1e9 * float64(b)) }

// UnmarshalYAML implements yaml.NodeUnmarshaler.
func (b *Bandwidth) UnmarshalYAML(n ast.Node) error { return yaml.NodeToValue(n, (*float64)(b)) }

// A List is written with an entry a line.
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

// Speed is what a level gives to one core. What was not measured is 0.
type Speed struct {
	// from one load of a pointer to the next
	Latency float64 `yaml:"latency-ns" json:"latencyNs"`
	// of sums in the best vectors
	Read Bandwidth `yaml:"read-GB/s,omitempty" json:"readBytesPerSecond"`
	// Copy is that of copies in the best vectors, bytes read plus bytes written.
	Copy Bandwidth `yaml:"copy-GB/s,omitempty" json:"copyBytesPerSecond"`

	// ReadAll and CopyAll are what all cores have together.
	ReadAll Bandwidth `yaml:"read-all-GB/s,omitempty" json:"readAllBytesPerSecond,omitzero"`
	CopyAll Bandwidth `yaml:"copy-all-GB/s,omitempty" json:"copyAllBytesPerSecond,omitzero"`

	// Near is ns of a load that waits for no other, of lines that are some lines of one page apart.
	Near float64 `yaml:"near-ns,omitempty" json:"nearNs,omitzero"`

	// Crowded and CrowdedStore are ns of a load and of a store that wait for no other, of
	// lines that share a set of the level before, which does not hold so many: of the second level.
	// Some CPUs then have hardly any two in flight.
	Crowded      float64 `yaml:"crowded-ns,omitempty" json:"crowdedNs,omitzero"`
	CrowdedStore float64 `yaml:"crowded-store-ns,omitempty" json:"crowdedStoreNs,omitzero"`
}

// A Level is one cache.
type Level struct {
	Name string `yaml:"name" json:"name"` // L1D, L2, ...
	// bytes that the machine states, 0 where it has no such level
	Stated machines.Size `yaml:"stated,omitempty" json:"stated"`
	// bytes up to which working sets are served by it, measured
	Capacity machines.Size `yaml:"capacity" json:"capacity"`
	Speed    `yaml:",inline"`

	Simulated string `yaml:"-" json:"simulated"` // size,ways,line of a report
}

// differs tells whether the measured capacity is not the stated one: further
// from it than the third that the method itself may be off.
func (l Level) differs() bool { return l.Stated > 0 && !near(int(l.Capacity), int(l.Stated)) }

// near tells whether a measured figure is as good as a stated one.
func near(measured, stated int) bool {
	r := float64(measured) / float64(stated)
	return r >= 3.0/4 && r <= 4.0/3
}

// A Reach is one level of the data TLB.
type Reach struct {
	// pages of PageSize up to which it translates without a miss
	Entries int `yaml:"entries" json:"entries"`
	// Miss is what a load takes longer where it misses here, and the next level hits, or the page
	// tables are walked.
	Miss float64 `yaml:"miss-ns" json:"missNs"`
	// Apart is the same of loads that wait for no other, of pages side by side.
	Apart float64 `yaml:"apart-ns,omitempty" json:"apartNs,omitzero"`

	Simulated string `yaml:"-" json:"simulated"` // entries,ways,page of a report
}

// PageSize is that of the pages that the TLB is measured with, in bytes: the
// system's.
func PageSize() int { return access.PagesSmall.Size() }

// A Point is the latency of a load of a chase over a working set.
type Point struct {
	Size machines.Size `yaml:"size" json:"size"`
	Ns   float64       `yaml:"ns" json:"ns"`
}

// Pages is the latency of a load of a chase over so many pages.
type Pages struct {
	Pages int     `yaml:"pages" json:"pages"`
	Ns    float64 `yaml:"ns" json:"ns"`
}

// section is a Machine of which what is not known is ignored.
type section Machine

// UnmarshalYAML implements yaml.NodeUnmarshaler.
func (s *section) UnmarshalYAML(n ast.Node) error { return yaml.NodeToValue(n, (*Machine)(s)) }
