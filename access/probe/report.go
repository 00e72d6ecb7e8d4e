package probe

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/cpu"
	"github.com/stridebench/stridebench/simcache/explain"
)

// Bounds of time and memory for the default largest working set, twice the last stated level.
const (
	unknownMax = 64 << 20  // if none is stated
	mostMax    = 256 << 20 // its chase takes some tenths of a second to prepare
)

// largest returns the default largest working set in bytes, given the available memory; 0 means
// unknown memory.
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

// Warnings returns how the measured caches differ from stated ones. --caches=name simulates the
// former.
func (m Machine) Warnings(caches []cpu.Cache, name string) []string {
	var warnings []string
	found := map[int]bool{}
	for _, l := range m.Levels {
		found[int(l.Stated)] = true
		if l.Stated > 0 && !near(int(l.Capacity), int(l.Stated)) {
			warnings = append(warnings, fmt.Sprintf(
				"%s serves working sets up to %s, where %s states %s. In a virtual machine, or "+
					"if others use the cache, that is all you get; --caches=%s simulates it.",
				l.Name, simcache.Bytes(int(l.Capacity)), source(caches, int(l.Stated)),
				simcache.Bytes(int(l.Stated)), name))
		}
	}
	last, stated := 0, cpu.Cache{}
	if n := len(m.Ladder); n > 0 {
		last = int(m.Ladder[n-1].Size)
	}
	for _, c := range caches {
		if size := c.Geometry.Size; !c.Instruction() && size > 0 {
			if !found[size] && 2*size <= last {
				warnings = append(warnings, fmt.Sprintf(
					"%s of %s, which %s states, shows at no working set.", c.Name(),
					simcache.Bytes(size), c.Source))
			}
			if size > stated.Geometry.Size {
				stated = c
			}
		}
	}
	if size := stated.Geometry.Size; last < 2*size && m.Memory != (Speed{}) {
		warnings = append(warnings, fmt.Sprintf(
			"The largest working set is %s, not twice the %s of %s: the figures for memory may "+
				"be a cache's.", simcache.Bytes(last), simcache.Bytes(size), stated.Name()))
	}
	if m.Threads > 1 && len(m.Levels) > 0 {
		if l := m.Levels[0]; l.Disturbed(m.Threads) {
			warnings = append(warnings, fmt.Sprintf(
				"%d threads together read %s at %s, one alone at %s: something else ran on a "+
					"core, and the bandwidth of all cores is higher. Measure again when nothing "+
					"else runs.",
				m.Threads, l.Name, bandwidthCell(l.ReadAll), bandwidthCell(l.Read)))
		}
	}
	if m.Pages == access.PagesSmall.String() {
		warnings = append(warnings, "No huge pages could be had: misses of the TLB are in the "+
			"latencies of large working sets.")
	}
	return warnings
}

func source(caches []cpu.Cache, size int) string {
	for _, c := range caches {
		if c.Geometry.Size == size && !c.Instruction() {
			return c.Source
		}
	}
	return "the file"
}

// simulated returns the simulated cache of a measured level, or the zero Geometry.
func (m Machine) simulated(name string) simcache.Geometry {
	for _, l := range m.Simulated.Levels {
		if l.Name == name {
			return l.Geometry
		}
	}
	return simcache.Geometry{}
}

func (m Machine) simulatedTLB(i int) simcache.TLB {
	if i < len(m.Simulated.TLB) {
		return m.Simulated.TLB[i]
	}
	return simcache.TLB{}
}

func (m Machine) writeTables(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "measured\tserves up to\tstated\tsimulated\tlatency\tnear\tcrowded\tread\tcopy")
	for _, l := range m.Levels {
		stated := "unknown"
		if l.Stated > 0 {
			stated = simcache.Bytes(int(l.Stated))
		}
		serves := simcache.Bytes(int(l.Capacity))
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", l.Name, serves, stated,
			levelCell(m.simulated(l.Name)), speedCells(l.Speed))
	}
	if m.Memory != (Speed{}) {
		fmt.Fprintf(t, "memory\t\t\t\t%s\n", speedCells(m.Memory))
	}
	fmt.Fprintln(t, "\nmeasured data TLB\tentries\treach\tsimulated\ta miss costs\tfar")
	for i, r := range m.TLB {
		reach := simcache.Bytes(r.Entries * PageSize())
		fmt.Fprintf(t, "level %d\t%d\t%s\t%s\t%.3g ns\t%s\n", i+1, r.Entries, reach,
			tlbCell(m.simulatedTLB(i)), r.Miss, cmp.Or(timeCell(r.Apart), "unknown"))
	}
	m.writeThreads(t)
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
	return fmt.Sprintf("%.3g ns\t%s\t%s\t%s\t%s", s.Latency, timeCell(s.Near), crowded,
		bandwidthCell(s.Read), bandwidthCell(s.Copy))
}

// timeCell is empty if nothing was measured, as in the first level.
func timeCell(ns float64) string {
	if ns == 0 {
		return ""
	}
	return fmt.Sprintf("%.3g ns", ns)
}

func bandwidthCell(v Bandwidth) string {
	if v == 0 {
		return "unknown"
	}
	if v >= 999.5 { // for many first levels; three digits would need an exponent
		return fmt.Sprintf("%.0f GB/s", v)
	}
	return fmt.Sprintf("%.3g GB/s", v)
}

// A Report is a measured machine, its file and warnings.
type Report struct {
	Machine
	Warnings []string `json:"warnings"`
	File     string   `json:"file"`
}

// ReportOf returns the report of a machine, with the caches that its file simulates.
func ReportOf(m Machine, file string, warnings []string) *Report {
	r := &Report{m, append([]string{}, warnings...), file}
	r.Date = m.Date.UTC().Truncate(time.Second)
	r.Levels, r.TLB = slices.Clone(m.Levels), slices.Clone(m.TLB)
	for i, l := range r.Levels {
		r.Levels[i].Simulated = m.simulated(l.Name).String()
	}
	for i := range r.TLB {
		r.TLB[i].Simulated = cpu.FormatTLB([]simcache.TLB{m.simulatedTLB(i)})
	}
	// Empty lists are [], not null.
	r.TLB = append([]Reach{}, r.TLB...)
	r.Ladder, r.PageLadder = append(List[Point]{}, m.Ladder...),
		append(List[Pages]{}, m.PageLadder...)
	return r
}

// Write prints the measurements for people.
func (r *Report) Write(w io.Writer) error {
	if err := r.writeTables(w); err != nil {
		return err
	}
	fmt.Fprintf(w, "\nmeasured on %s, the ladder on pages of %s; saved in %s\n",
		r.Date.UTC().Format(time.DateTime), r.Pages, r.File)
	var warnings []string
	for _, warning := range r.Warnings {
		warnings = append(warnings, "warning: "+warning)
	}
	return explain.WriteParagraphs(w, warnings, 0)
}
