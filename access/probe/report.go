package probe

import (
	"cmp"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/cpu"
	"github.com/stridebench/stridebench/simcache/explain"
)

// The largest working set by default: twice the stated last level, within bounds
// of time and memory.
const (
	unknownMax = 64 << 20  // where none is stated
	mostMax    = 256 << 20 // whose chase takes some tenths of a second to prepare
)

// largest is the largest working set by default, with so many bytes of memory
// available; 0 if unknown.
func largest(caches []cpu.Cache, available int) int {
	most := 0
	for _, c := range caches {
		most = max(most, 2*c.Geometry.Size)
		if !c.Known() {
			most = max(most, unknownMax)
		}
	}
	if most == 0 {
		most = unknownMax
	}
	most = min(most, mostMax)
	if available > 0 {
		most = max(min(most, available/4), MinSize)
	}
	return most
}

// Warnings says how the measured caches differ from what the CPU states; name is what --caches
// takes to simulate them.
func (m Machine) Warnings(caches []cpu.Cache, name string) []string {
	var warnings []string
	found := map[int]bool{}
	for _, l := range m.Levels {
		found[l.Stated] = true
		if l.differs() {
			warnings = append(warnings, fmt.Sprintf("%s serves working sets up to %s, where %s states %s. In a virtual machine, or if others use the cache, that is all you get; --caches=%s simulates it.",
				l.Name, simcache.Bytes(l.Capacity), source(caches, l.Stated), simcache.Bytes(l.Stated), name))
		}
	}
	last, stated := 0, cpu.Cache{}
	if n := len(m.Ladder); n > 0 {
		last = m.Ladder[n-1].Size
	}
	for _, c := range caches {
		if size := c.Geometry.Size; !c.Instruction() && size > 0 {
			if !found[size] && 2*size <= last {
				warnings = append(warnings, fmt.Sprintf("%s of %s, which %s states, shows at no working set.", c.Name(), simcache.Bytes(size), c.Source))
			}
			if size > stated.Geometry.Size {
				stated = c
			}
		}
	}
	if size := stated.Geometry.Size; last < 2*size && m.Memory != (Speed{}) {
		warnings = append(warnings, fmt.Sprintf("The largest working set is %s, not twice the %s of %s: the figures for memory may be a cache's.", simcache.Bytes(last), simcache.Bytes(size), stated.Name()))
	}
	if m.Threads > 1 && len(m.Levels) > 0 {
		if l := m.Levels[0]; l.Disturbed(m.Threads) {
			warnings = append(warnings, fmt.Sprintf("%d threads together read %s at %s, one alone at %s: something else ran on a core, and the bandwidth of all cores is higher. Measure again when nothing else runs.",
				m.Threads, l.Name, bandwidthCell(l.ReadAll), bandwidthCell(l.Read)))
		}
	}
	if m.Pages == access.PagesSmall.String() {
		warnings = append(warnings, "No huge pages could be had: misses of the TLB are in the latencies of large working sets.")
	} else if m.takenApart() {
		warnings = append(warnings, "Huge pages are translated as small ones are, as where a hypervisor takes them apart: misses of the TLB are in the latencies of large working sets.")
	}
	return warnings
}

// source is where a size of a cache is from.
func source(caches []cpu.Cache, size int) simcache.Source {
	for _, c := range caches {
		if c.Geometry.Size == size && !c.Instruction() {
			return c.Source
		}
	}
	return "the file"
}

// SimulatedWarnings say where the file simulates something else than was measured:
// an older version's does, and one that was changed by hand.
func (m Machine) SimulatedWarnings() []string {
	const why = "sizes that make no whole sets are rounded, and a file may have been changed by hand or be an older version's: measure again if that is not meant."
	var warnings []string
	for _, l := range m.Levels {
		if g := m.simulated(l.Name); g.Size != l.Capacity {
			how := "not simulated"
			if g.Size > 0 {
				how = "simulated as " + levelCell(g)
			}
			warnings = append(warnings, fmt.Sprintf("%s was found to serve %s and is %s: %s", l.Name, simcache.Bytes(l.Capacity), how, why))
		}
	}
	for i, r := range m.TLB {
		if t := m.simulatedTLB(i); t.Entries != r.Entries {
			how := "not simulated"
			if t.Entries > 0 {
				how = "simulated with " + tlbCell(t)
			}
			warnings = append(warnings, fmt.Sprintf("Level %d of the TLB was found to have %d entries and is %s: %s", i+1, r.Entries, how, why))
		}
	}
	return warnings
}

// simulated is what is simulated for a level that was measured; none if the file
// simulates no such.
func (m Machine) simulated(name string) simcache.Geometry {
	for _, l := range m.Simulated.Levels {
		if l.Name == name {
			return l.Geometry
		}
	}
	return simcache.Geometry{}
}

// simulatedTLB is the same for a level of the TLB.
func (m Machine) simulatedTLB(i int) simcache.TLB {
	if i < len(m.Simulated.TLB) {
		return m.Simulated.TLB[i]
	}
	return simcache.TLB{}
}

// writeTables writes tables of what was measured.
func (m Machine) writeTables(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "measured\tserves up to\tstated\tsimulated\tlatency\tnear\tfar\tcrowded\tread\tcopy")
	for _, l := range m.Levels {
		stated := "unknown"
		if l.Stated > 0 {
			stated = simcache.Bytes(l.Stated)
		}
		serves := simcache.Bytes(l.Capacity)
		if l.Ways > 0 {
			serves += fmt.Sprintf(", %d ways", l.Ways)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", l.Name, serves, stated, levelCell(m.simulated(l.Name)), speedCells(l.Speed))
	}
	if m.Memory != (Speed{}) {
		fmt.Fprintf(t, "memory\t\t\t\t%s\n", speedCells(m.Memory))
	}
	fmt.Fprintln(t, "\nmeasured data TLB\tentries\treach\tsimulated\ta miss costs\tfar\tscattered")
	for i, r := range m.TLB {
		entries := fmt.Sprint(r.Entries)
		if r.Ways > 0 {
			entries += fmt.Sprintf(", %d ways", r.Ways)
		}
		fmt.Fprintf(t, "level %d\t%s\t%s\t%s\t%.3g ns\t%s\t%s\n", i+1, entries, simcache.Bytes(r.Entries*PageSize()), tlbCell(m.simulatedTLB(i)), r.Miss, cmp.Or(timeCell(r.Apart), "unknown"), cmp.Or(timeCell(r.Scattered), "unknown"))
	}
	m.writeThreads(t)
	m.writeReads(t)
	m.writeStreams(t)
	m.writeLoops(t)
	m.writeTiles(t)
	return t.Flush()
}

func levelCell(g simcache.Geometry) string {
	if g.Size == 0 {
		return "not"
	}
	return fmt.Sprintf("%s, %d ways", simcache.Bytes(g.Size), g.Ways)
}

func tlbCell(t simcache.TLB) string {
	if t.Entries == 0 {
		return "not"
	}
	return fmt.Sprintf("%d, %d ways", t.Entries, t.Ways)
}

func speedCells(s Speed) string {
	crowded := ""
	if s.Crowded > 0 {
		crowded = fmt.Sprintf("%.3g, %.3g ns", s.Crowded, s.CrowdedStore)
	}
	return fmt.Sprintf("%.3g ns\t%s\t%s\t%s\t%s\t%s", s.Latency, timeCell(s.Near), timeCell(s.Far), crowded, bandwidthCell(s.Read), bandwidthCell(s.Copy))
}

// writeRow writes a line of a table: its head, and a cell for each.
func writeRow[T any](t *tabwriter.Writer, head string, all []T, cell func(T) string) {
	fmt.Fprint(t, head)
	for _, one := range all {
		fmt.Fprintf(t, "\t%s", cell(one))
	}
	fmt.Fprintln(t)
}

// timeCell is empty where nothing was measured, as of the first level.
func timeCell(ns float64) string {
	if ns == 0 {
		return ""
	}
	return fmt.Sprintf("%.3g ns", ns)
}

func bandwidthCell(v float64) string {
	if v == 0 {
		return "unknown"
	}
	if v >= 999.5e9 { // as of many cores in their first levels; three digits would have an exponent
		return fmt.Sprintf("%.0f GB/s", v/1e9)
	}
	return fmt.Sprintf("%.3g GB/s", v/1e9)
}

// JSON is the JSON of a measured machine.
type JSON struct {
	Date       time.Time       `json:"date"`
	CPU        string          `json:"cpu"`
	Pages      string          `json:"pages"`
	Levels     []jsonServing   `json:"levels"`
	Memory     *jsonSpeed      `json:"memory,omitempty"`
	TLB        []jsonReach     `json:"tlb"`
	Threads    int             `json:"threads,omitzero"`
	Remote     []jsonRemote    `json:"remote,omitempty"`
	Streams    int             `json:"streams,omitzero"`
	Loads      []jsonLoad      `json:"loads,omitempty"`
	Sparse     float64         `json:"sparseNs,omitzero"`
	Streamed   []jsonStream    `json:"streamed,omitempty"`
	Runs       []jsonRun       `json:"runs,omitempty"`
	Starts     []jsonStart     `json:"starts,omitempty"`
	Loops      []jsonLoop      `json:"loops,omitempty"`
	Tiles      []jsonTile      `json:"tiles,omitempty"`
	Ladder     []jsonRung      `json:"ladder"`
	ReadLadder []jsonReading   `json:"readLadder,omitempty"`
	PageLadder []jsonPagesRung `json:"pageLadder"`
	HugeLadder []jsonPagesRung `json:"hugePageLadder,omitempty"`
	Warnings   []string        `json:"warnings"`
	File       string          `json:"file"`
}

type (
	jsonSpeed struct {
		Latency float64 `json:"latencyNs"`
		Read    float64 `json:"readBytesPerSecond"`
		Copy    float64 `json:"copyBytesPerSecond"`
		ReadAll float64 `json:"readAllBytesPerSecond,omitzero"`
		CopyAll float64 `json:"copyAllBytesPerSecond,omitzero"`
		Near    float64 `json:"nearNs,omitzero"`
		Far     float64 `json:"farNs,omitzero"`
		Crowded float64 `json:"crowdedNs,omitzero"`

		CrowdedStore float64 `json:"crowdedStoreNs,omitzero"`
		Beside       float64 `json:"crowdedBesideNs,omitzero"`
		BesideStore  float64 `json:"crowdedStoreBesideNs,omitzero"`
	}
	jsonServing struct {
		Name      string `json:"name"`
		Stated    int    `json:"stated"`
		Capacity  int    `json:"capacity"`
		Ways      int    `json:"ways,omitempty"`
		Simulated string `json:"simulated"` // size,ways,line
		jsonSpeed
	}
	jsonReach struct {
		Entries   int     `json:"entries"`
		Simulated string  `json:"simulated"` // entries,ways,page
		Miss      float64 `json:"missNs"`
		Apart     float64 `json:"apartNs,omitzero"`
		Scattered float64 `json:"scatteredNs,omitzero"`
		Ways      int     `json:"ways,omitzero"`
	}
	jsonRung struct {
		Size int     `json:"size"`
		Ns   float64 `json:"ns"`
	}
	jsonPagesRung struct {
		Pages int     `json:"pages"`
		Ns    float64 `json:"ns"`
	}
)

// JSON returns the JSON of the machine in a file, with warnings. Empty lists are [],
// not null.
func (m Machine) JSON(file string, warnings []string) *JSON {
	j := &JSON{Date: m.Date.UTC().Truncate(time.Second), CPU: m.CPU, Pages: m.Pages, Warnings: append([]string{}, warnings...), File: file,
		Levels: []jsonServing{}, TLB: []jsonReach{}, Ladder: []jsonRung{}, PageLadder: []jsonPagesRung{}}
	for _, l := range m.Levels {
		j.Levels = append(j.Levels, jsonServing{l.Name, l.Stated, l.Capacity, l.Ways, m.simulated(l.Name).String(), jsonSpeed(l.Speed)})
	}
	if m.Memory != (Speed{}) {
		memory := jsonSpeed(m.Memory)
		j.Memory = &memory
	}
	for i, r := range m.TLB {
		j.TLB = append(j.TLB, jsonReach{r.Entries, simcache.FormatTLB([]simcache.TLB{m.simulatedTLB(i)}), r.Miss, r.Apart, r.Scattered, r.Ways})
	}
	j.Threads, j.Streams = m.Threads, m.Streams
	for _, r := range m.Remote {
		j.Remote = append(j.Remote, jsonRemote(r))
	}
	for _, l := range m.Loads {
		j.Loads = append(j.Loads, jsonLoad{l.Share, l.latency(), l.rate()})
	}
	j.Sparse = m.Sparse
	for _, s := range m.Streamed {
		j.Streamed = append(j.Streamed, jsonStream{s.Op.String(), s.Ns, s.Ints, s.All})
	}
	for _, r := range m.Runs {
		j.Runs = append(j.Runs, jsonRun(r))
	}
	for _, of := range m.Starts {
		j.Starts = append(j.Starts, jsonStart{of.Size, of.Ns})
	}
	for _, l := range m.Loops {
		j.Loops = append(j.Loops, jsonLoop{l.Op.String(), l.DType.String(), l.Run, l.Step})
	}
	for _, t := range m.Tiles {
		j.Tiles = append(j.Tiles, jsonTile{t.order().String(), t.Rows, t.Columns, t.Ns})
	}
	for _, p := range m.Ladder {
		j.Ladder = append(j.Ladder, jsonRung(p))
	}
	for _, r := range m.ReadLadder {
		j.ReadLadder = append(j.ReadLadder, jsonReading(r))
	}
	for _, p := range m.PageLadder {
		j.PageLadder = append(j.PageLadder, jsonPagesRung{p.Size, p.Ns})
	}
	for _, p := range m.HugeLadder {
		j.HugeLadder = append(j.HugeLadder, jsonPagesRung{p.Size, p.Ns})
	}
	return j
}

// A Report is a machine that was measured, its file, and what to warn of.
type Report struct {
	Machine
	File     string
	Warnings []string
}

// Write prints what was measured for people.
func (r *Report) Write(w io.Writer) error {
	if err := r.writeTables(w); err != nil {
		return err
	}
	fmt.Fprintf(w, "\nmeasured on %s, the ladder on pages of %s; saved in %s\n", r.Date.UTC().Format(time.DateTime), r.Pages, r.File)
	var warnings []string
	for _, warning := range r.Warnings {
		warnings = append(warnings, "warning: "+warning)
	}
	return explain.WriteParagraphs(w, warnings, 0)
}

// JSON returns the JSON of the report, nil of none.
func (r *Report) JSON() *JSON {
	if r == nil {
		return nil
	}
	return r.Machine.JSON(r.File, r.Warnings)
}
