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
package probe

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/machines"
)

// A Machine is what was measured of one.
type Machine struct {
	// Simulated are the caches and the TLB as the simulator takes them.
	Simulated simcache.Config

	Date   time.Time // when it was measured
	CPU    string    // brand name, "" if unknown
	Pages  string    // that the ladder's memory lay in: 4k, thp or hugetlb
	Levels []Level   // of caches, the nearest first; at least one
	Memory Speed     // of what lies behind them; zero where no working set went past them
	TLB    []Reach   // levels of the data TLB, the nearest first; may be empty

	Threads int      // that ReadAll and CopyAll are of; 0 where they were not measured
	Remote  []Remote // of each NUMA node, where there are several
	Streams int      // threads that streamed for Loads
	Loads   []Load   // by share, ascending; empty where they were not measured

	// Sparse is the latency of a chase in the last of three or more levels over a quarter as many lines as
	// it serves, one in eight of a page: hardly more than the level's own if its sets follow from a hash of the
	// whole address, about memory's if they follow from the place in a page. It is 0 where it was not measured.
	Sparse   float64
	Streamed []Stream // of memory; empty where they were not measured
	Runs     []Run    // of memory, lines ascending; empty where they were not measured
	Loops    []Loop   // empty where they were not measured
	Tiles    []Tile   // of memory; empty where they were not measured

	// Starts are the ns that a copy of runs of memory, each in another page, takes longer for each of them than one of as much side by
	// side, by the bytes of an element, ascending; empty where they were not measured.
	Starts []Point

	ReadLadder []Reading // of working sets about as large as the last level, sizes ascending; empty where they were not measured

	Ladder     []Point // latency of a load by working set, sizes ascending
	PageLadder []Point // cost of the translation of a load by pages touched, ascending

	// HugeLadder is the same, an octave apart, in memory such as the Ladder's: what translations take of the latencies there. Where huge pages
	// are whole that is nothing but for many; where a hypervisor takes them apart, about as much as of small ones. It is empty where it was
	// not measured.
	HugeLadder []Point
}

// Speed is what a level gives to one core.
type Speed struct {
	Latency float64 // ns from one load of a pointer to the next, which depends on it
	Read    float64 // B/s of sums in the best vectors; 0 where it was not measured
	Copy    float64 // B/s of copies in the best vectors, bytes read plus bytes written; 0 where it was not measured

	ReadAll, CopyAll float64 // B/s that all cores have together; 0 where it was not measured

	// Near and Far are ns of a load that waits for no other: of lines that are some lines of
	// one page apart, and of lines in pages that are apart. They are 0 where they were not
	// measured.
	Near, Far float64

	// Crowded and CrowdedStore are ns of a load and of a store that wait for no other, of
	// lines that share a set of the level before, which does not hold so many. Some CPUs then have hardly
	// any two in flight. They are 0 where they were not measured: behind the second level.
	Crowded, CrowdedStore float64
	// Beside and BesideStore are the same where [Beside] sets are crowded and take turns: a quarter as much
	// if a set waits for itself alone, as much if not. They are 0 where they were not measured.
	Beside, BesideStore float64
}

// A Level is one cache.
type Level struct {
	Name     string // L1D, L2, ...
	Stated   int    // bytes that the machine states, 0 where it has no such level
	Capacity int    // bytes up to which working sets are served by it, measured
	Speed
	Ways int // lines of one set that it serves, found by conflict; 0 where that was not found
}

// differs tells whether the measured capacity is not the stated one: further
// from it than the third that the method itself may be off.
func (l Level) differs() bool { return l.Stated > 0 && !near(l.Capacity, l.Stated) }

// near tells whether a measured figure is as good as a stated one.
func near(measured, stated int) bool {
	r := float64(measured) / float64(stated)
	return r >= 3.0/4 && r <= 4.0/3
}

// A Reach is one level of the data TLB.
type Reach struct {
	Entries int     // pages of PageSize up to which it translates without a miss
	Miss    float64 // ns that a load takes longer where it misses here, and the next level hits, or the page tables are walked
	// Apart and Scattered are the same of loads that wait for no other: of pages side by side,
	// and of pages so far apart that each translation is on another line of the page tables.
	// They are 0 where they were not measured.
	Apart, Scattered float64
	Ways             int // pages of one set that it translates, as far as strides tell; 0 where that was not found
}

// PageSize is that of the pages that the TLB is measured with, in bytes: the
// system's.
func PageSize() int { return access.PagesSmall.Size() }

// A Point is one step of a ladder.
type Point struct {
	Size int     // bytes of the working set, or number of pages; of Machine.Starts bytes of an element
	Ns   float64 // of a load; of Machine.Starts of a run
}

// The section measured. The tags are the words of the format.
type (
	section struct {
		Date       time.Time  `yaml:"date"`
		CPU        string     `yaml:"cpu"`
		Pages      string     `yaml:"pages"`
		Levels     []level    `yaml:"levels"`
		Memory     speed      `yaml:"memory"`
		TLB        []reach    `yaml:"tlb"`
		Threads    int        `yaml:"threads"`
		Remote     []remote   `yaml:"remote"`
		Streams    int        `yaml:"streams"`
		Loads      []load     `yaml:"loads"`
		Sparse     float64    `yaml:"sparse-ns,omitempty"`
		Streamed   []stream   `yaml:"streamed,omitempty"`
		Runs       []run      `yaml:"runs,omitempty"`
		Starts     []start    `yaml:"starts,omitempty"`
		Loops      []loop     `yaml:"loops,omitempty"`
		Tiles      []tile     `yaml:"tiles,omitempty"`
		Ladder     []rung     `yaml:"ladder"`
		ReadLadder []readRung `yaml:"read-ladder,omitempty"`
		PageLadder []pages    `yaml:"page-ladder"`
		HugeLadder []pages    `yaml:"huge-page-ladder,omitempty"`
	}
	level struct {
		Name     string        `yaml:"name"`
		Stated   machines.Size `yaml:"stated"`
		Capacity machines.Size `yaml:"capacity"`
		Speed    speed         `yaml:",inline"`
		Ways     int           `yaml:"ways,omitempty"`
	}
	speed struct {
		Latency      float64 `yaml:"latency-ns"`
		Read         float64 `yaml:"read-GB/s"`
		Copy         float64 `yaml:"copy-GB/s"`
		ReadAll      float64 `yaml:"read-all-GB/s"`
		CopyAll      float64 `yaml:"copy-all-GB/s"`
		Near         float64 `yaml:"near-ns,omitempty"`
		Far          float64 `yaml:"far-ns,omitempty"`
		Crowded      float64 `yaml:"crowded-ns,omitempty"`
		Stores       float64 `yaml:"crowded-store-ns,omitempty"`
		Beside       float64 `yaml:"crowded-beside-ns,omitempty"`
		BesideStores float64 `yaml:"crowded-store-beside-ns,omitempty"`
	}
	reach struct {
		Entries   int     `yaml:"entries"`
		Miss      float64 `yaml:"miss-ns"`
		Apart     float64 `yaml:"apart-ns,omitempty"`
		Scattered float64 `yaml:"scattered-ns,omitempty"`
		Ways      int     `yaml:"ways,omitempty"`
	}
	rung struct {
		Size machines.Size `yaml:"size"`
		Ns   float64       `yaml:"ns"`
	}
	pages struct {
		Pages int     `yaml:"pages"`
		Ns    float64 `yaml:"ns"`
	}
)

// giga is the unit of bandwidths in the file.
const giga = 1e9

// flow writes a struct on one line.
func flow(value any) ([]byte, error) { return yaml.MarshalWithOptions(value, yaml.Flow(true)) }

// MarshalYAML implements yaml.BytesMarshaler.
func (r rung) MarshalYAML() ([]byte, error) { type plain rung; return flow(plain(r)) }

// MarshalYAML implements yaml.BytesMarshaler.
func (p pages) MarshalYAML() ([]byte, error) { type plain pages; return flow(plain(p)) }

// ErrNotMeasured is of a description that has no section measured.
var ErrNotMeasured = errors.New("a description without a section measured, which bench machine --measure writes")

// Parse reads what Format writes. An error begins with the file's name as given,
// the line and the column, and says what would be right.
func Parse(name string, text []byte) (Machine, error) {
	d, s, doc, err := machines.ParseMeasured[section](name, text)
	if err != nil {
		return Machine{}, err
	}
	if s == nil {
		return Machine{}, fmt.Errorf("%s: %w", name, ErrNotMeasured)
	}
	if path, err := s.check(); err != nil {
		return Machine{}, doc.Errorf("measured."+path, "%w", err)
	}
	m := Machine{Simulated: d.Config, Date: s.Date, CPU: s.CPU, Pages: s.Pages, Memory: s.Memory.speed()}
	for _, l := range s.Levels {
		m.Levels = append(m.Levels, Level{l.Name, int(l.Stated), int(l.Capacity), l.Speed.speed(), l.Ways})
	}
	for _, t := range s.TLB {
		m.TLB = append(m.TLB, Reach(t))
	}
	m.Threads, m.Streams = s.Threads, s.Streams
	for _, r := range s.Remote {
		m.Remote = append(m.Remote, Remote{r.CPUs, r.Memory, r.Latency, r.Read * giga})
	}
	for _, l := range s.Loads {
		m.Loads = append(m.Loads, Load{l.Share, l.Ns, each(l.Bandwidth, fromGiga)})
	}
	m.Sparse = s.Sparse
	for _, of := range s.Streamed {
		measured, _ := of.stream() // check has parsed it
		m.Streamed = append(m.Streamed, measured)
	}
	for _, r := range s.Runs {
		m.Runs = append(m.Runs, Run(r))
	}
	for _, of := range s.Starts {
		m.Starts = append(m.Starts, Point{of.Bytes, of.Ns})
	}
	for _, l := range s.Loops {
		measured, _ := l.loop() // likewise
		m.Loops = append(m.Loops, measured)
	}
	for _, t := range s.Tiles {
		measured, _ := t.tile() // likewise
		m.Tiles = append(m.Tiles, measured)
	}
	for _, r := range s.Ladder {
		m.Ladder = append(m.Ladder, Point{int(r.Size), r.Ns})
	}
	for _, r := range s.ReadLadder {
		m.ReadLadder = append(m.ReadLadder, Reading{int(r.Size), r.Read * giga, r.ReadAll * giga})
	}
	for _, p := range s.PageLadder {
		m.PageLadder = append(m.PageLadder, Point{p.Pages, p.Ns})
	}
	for _, p := range s.HugeLadder {
		m.HugeLadder = append(m.HugeLadder, Point{p.Pages, p.Ns})
	}
	return m, nil
}

func (s speed) speed() Speed {
	return Speed{s.Latency, s.Read * giga, s.Copy * giga, s.ReadAll * giga, s.CopyAll * giga, s.Near, s.Far, s.Crowded, s.Stores, s.Beside, s.BesideStores}
}

func (s Speed) section() speed {
	return speed{s.Latency, s.Read / giga, s.Copy / giga, s.ReadAll / giga, s.CopyAll / giga, s.Near, s.Far, s.Crowded, s.CrowdedStore, s.Beside, s.BesideStore}
}

// check refuses what nothing can be concluded from, and tells the path of the
// part at fault.
func (s section) check() (path string, err error) {
	if len(s.Levels) == 0 {
		return "levels", errors.New("no levels (want at least one)")
	}
	if s.Date.IsZero() {
		return "date", errors.New("no date")
	}
	for _, check := range []func() (string, error){s.checkLevels, s.checkTLB, s.checkThreads, s.checkReads, s.checkStreams, s.checkStarts, s.checkLoops, s.checkTiles} {
		if path, err := check(); err != nil {
			return path, err
		}
	}
	last := Point{}
	for i, r := range s.Ladder {
		if last, err = follows(last, Point{int(r.Size), r.Ns}); err != nil {
			return fmt.Sprintf("ladder[%d]", i), err
		}
	}
	last = Point{}
	for i, p := range s.HugeLadder {
		if last, err = follows(last, Point{p.Pages, p.Ns}); err != nil {
			return fmt.Sprintf("huge-page-ladder[%d]", i), err
		}
	}
	last = Point{}
	for i, p := range s.PageLadder {
		if last, err = follows(last, Point{p.Pages, p.Ns}); err != nil {
			return fmt.Sprintf("page-ladder[%d]", i), err
		}
	}
	return s.checkFigures()
}

// leastBandwidth, in GB/s, and mostFigure, in GB/s and ns, are beyond what a machine has, and far within what can be computed with.
// A time that is the difference of two may be as little as can be.
const leastBandwidth, mostFigure = 1e-6, 1e12

// checkFigures refuses what no machine has, of all figures, and tells the path of the part at fault.
func (s section) checkFigures() (path string, err error) {
	var look func(path, name string, v reflect.Value)
	look = func(at, name string, v reflect.Value) {
		switch v.Kind() {
		case reflect.Float64:
			least := 0.0
			if strings.HasSuffix(name, "GB/s") {
				least = leastBandwidth
			}
			if f := v.Float(); err == nil && f != 0 && !(f >= least && f <= mostFigure) {
				path, err = at, fmt.Errorf("%s: %v (want a figure between %v and %v)", name, f, least, mostFigure)
			}
		case reflect.Slice:
			for i := range v.Len() {
				of := at
				if v.Index(i).Kind() == reflect.Struct { // which has a line of its own
					of = fmt.Sprintf("%s[%d]", at, i)
				}
				look(of, name, v.Index(i))
			}
		case reflect.Struct:
			for i := range v.NumField() {
				tag, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("yaml"), ",")
				switch in := v.Field(i); {
				case !v.Type().Field(i).IsExported(): // of the date
				case at == "" && in.Kind() != reflect.Float64:
					look(tag, tag, in)
				default:
					look(cmp.Or(at, tag), cmp.Or(tag, name), in)
				}
			}
		}
	}
	look("", "", reflect.ValueOf(s))
	return path, err
}

// checkLevels refuses a level that is not larger and slower than the one before, and
// what no level, nor the memory, can take.
func (s section) checkLevels() (path string, err error) {
	before := level{}
	for i, l := range s.Levels {
		path := fmt.Sprintf("levels[%d]", i)
		switch {
		case l.Name == "":
			return path, errors.New("a level without a name")
		case l.Capacity <= before.Capacity:
			return path, fmt.Errorf("a capacity of %s (want more than the %s of the level before)", l.Capacity, before.Capacity)
		case l.Ways < 0:
			return path, fmt.Errorf("%d ways (want 0 for none found, or more)", l.Ways)
		case !(l.Speed.Latency > before.Speed.Latency):
			return path, fmt.Errorf("a latency of %v ns (want more than the %v of the level before)", l.Speed.Latency, before.Speed.Latency)
		}
		if err := l.Speed.check(); err != nil {
			return path, err
		}
		before = l
	}
	if err := s.Memory.check(); err != nil && s.Memory != (speed{}) {
		return "memory", err
	}
	return "", nil
}

func (s section) checkTLB() (path string, err error) {
	for i, t := range s.TLB {
		if t.Ways < 0 {
			return fmt.Sprintf("tlb[%d]", i), fmt.Errorf("%d ways (want 0 for none found, or more)", t.Ways)
		}
		if !(t.Entries > 0 && t.Miss > 0 && min(t.Apart, t.Scattered) >= 0 && !math.IsInf(t.Miss+t.Apart+t.Scattered, 1)) {
			return fmt.Sprintf("tlb[%d]", i), fmt.Errorf("%d entries and %v ns, apart %v and scattered %v ns (want the first two positive, and no time below 0)", t.Entries, t.Miss, t.Apart, t.Scattered)
		}
	}
	return "", nil
}

func (s speed) check() error {
	all := []float64{s.Latency, s.Near, s.Far, s.Crowded, s.Stores, s.Beside, s.BesideStores, s.Read, s.Copy, s.ReadAll, s.CopyAll}
	if !(s.Latency > 0) || slices.ContainsFunc(all, func(v float64) bool { return !(v >= 0) || math.IsInf(v, 1) }) {
		return fmt.Errorf("a latency of %v ns, near %v, far %v, crowded %v and of stores %v ns, in four sets %v and of stores %v ns, read %v and copy %v GB/s, of all cores %v and %v (want a positive latency, and nothing below 0)", s.Latency, s.Near, s.Far, s.Crowded, s.Stores, s.Beside, s.BesideStores, s.Read, s.Copy, s.ReadAll, s.CopyAll)
	}
	return nil
}

// follows checks a point of a ladder, and returns it.
func follows(last, p Point) (Point, error) {
	if p.Size <= last.Size || !(p.Ns > 0) || math.IsInf(p.Ns, 1) {
		return p, fmt.Errorf("%d after %d, of %v ns (want sizes that ascend and positive times)", p.Size, last.Size, p.Ns)
	}
	return p, nil
}

// Format writes the machine as Parse reads it.
func (m Machine) Format() ([]byte, error) {
	s := section{Date: m.Date.UTC().Truncate(time.Second), CPU: m.CPU, Pages: m.Pages, Memory: m.Memory.section()}
	for _, l := range m.Levels {
		s.Levels = append(s.Levels, level{l.Name, machines.Size(l.Stated), machines.Size(l.Capacity), l.Speed.section(), l.Ways})
	}
	for _, t := range m.TLB {
		s.TLB = append(s.TLB, reach(t))
	}
	s.Threads, s.Streams = m.Threads, m.Streams
	for _, r := range m.Remote {
		s.Remote = append(s.Remote, remote{r.CPUs, r.Memory, r.Latency, r.Read / giga})
	}
	for _, l := range m.Loads {
		s.Loads = append(s.Loads, load{l.Share, l.Ns, each(l.Bandwidth, toGiga)})
	}
	s.Sparse = m.Sparse
	for _, of := range m.Streamed {
		s.Streamed = append(s.Streamed, stream{of.Op.String(), of.Ns, of.Ints, of.All})
	}
	for _, r := range m.Runs {
		s.Runs = append(s.Runs, run(r))
	}
	for _, of := range m.Starts {
		s.Starts = append(s.Starts, start{of.Size, of.Ns})
	}
	for _, l := range m.Loops {
		s.Loops = append(s.Loops, loop{l.Op.String(), l.DType.String(), l.Run, l.Step})
	}
	for _, t := range m.Tiles {
		s.Tiles = append(s.Tiles, tile{t.order().String(), t.Rows, t.Columns, t.Ns})
	}
	for _, p := range m.Ladder {
		s.Ladder = append(s.Ladder, rung{machines.Size(p.Size), p.Ns})
	}
	for _, r := range m.ReadLadder {
		s.ReadLadder = append(s.ReadLadder, readRung{machines.Size(r.Size), r.Read / giga, r.ReadAll / giga})
	}
	for _, p := range m.PageLadder {
		s.PageLadder = append(s.PageLadder, pages{p.Size, p.Ns})
	}
	for _, p := range m.HugeLadder {
		s.HugeLadder = append(s.HugeLadder, pages{p.Size, p.Ns})
	}
	return machines.Format(machines.Machine{
		Name:        "measured",
		Description: fmt.Sprintf("%s, measured on %s", orUnknown(m.CPU), s.Date.Format(time.DateOnly)),
		Sources:     []string{"sizes and entries: bench machine --measure; ways and lines: about those that the machine states, or where it states no ways those found by conflict, such that sets come out even"},
		Config:      m.Simulated,
	}, &s)
}

// Write writes the machine as Parse reads it.
func (m Machine) Write(w io.Writer) error {
	text, err := m.Format()
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}

func orUnknown(cpu string) string {
	if cpu == "" {
		return "unknown CPU"
	}
	return cpu
}
