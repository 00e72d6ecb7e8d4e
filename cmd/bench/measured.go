package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/probe"
	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/cpu"
	"github.com/stridebench/stridebench/simcache/machines"
	"github.com/stridebench/stridebench/simcache/machines/strict"
)

// measuredWord stands, where a file of caches is wanted, for the one that 'bench
// machine --measure' saved.
const measuredWord = "measured"

// savedMachine is the file of 'bench machine --measure'.
func savedMachine() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "stridebench", "measured.yaml"), nil
}

// readDescription reads the file that a flag names, by its path or as measured.
func readDescription(file string) (path string, text []byte, err error) {
	if file != measuredWord {
		text, err = strict.ReadText(file)
		return file, text, err
	}
	if path, err = savedMachine(); err != nil {
		return "", nil, err
	}
	text, err = strict.ReadText(path)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("no machine was measured yet: run 'bench machine --measure', which saves it in %s", path)
	}
	return path, text, err
}

// readMeasured reads the machine of a file.
func readMeasured(file string) (probe.Machine, error) {
	path, text, err := readDescription(file)
	if err != nil {
		return probe.Machine{}, err
	}
	return probe.Parse(path, text)
}

// thisMeasured is the machine that was measured and saved; found tells whether
// one was, and whether it was this CPU.
func thisMeasured() (m probe.Machine, found bool, err error) {
	path, err := savedMachine()
	if err != nil {
		return m, false, nil // no home, no file
	}
	if m, err = readMeasured(path); errors.Is(err, fs.ErrNotExist) {
		return m, false, nil
	}
	if err != nil {
		return m, false, fmt.Errorf("the machine that was measured: %w (measure it again with 'bench machine --measure', or remove the file)", err)
	}
	return m, !otherCPU(m), nil
}

// capacities are the measured ones of this machine's caches, if it was measured.
func capacities() ([]int, error) {
	m, found, err := thisMeasured()
	if err != nil || !found {
		return nil, err
	}
	var sizes []int
	for _, l := range m.Levels {
		sizes = append(sizes, l.Capacity)
	}
	return sizes, nil
}

// otherCPU tells whether a machine that was measured is surely not this one.
func otherCPU(m probe.Machine) bool {
	this := results.ThisMachine().CPU
	return m.CPU != "" && this != "" && m.CPU != this
}

// warnOther says on stderr that the machine of a file is another.
func warnOther(cmd *cobra.Command, flag, file string) error {
	if file != measuredWord {
		return nil
	}
	m, err := readMeasured(file)
	if err == nil && otherCPU(m) {
		_, err = fmt.Fprintf(cmd.ErrOrStderr(), "bench: warning: %s: %s was measured, this is %s: measure it with 'bench machine --measure'\n",
			flag, m.CPU, results.ThisMachine().CPU)
	}
	return err
}

// measureFlags are the flags of bench machine --measure.
type measureFlags struct {
	on      bool
	out     string
	maxSize parsed[int]
	budget  time.Duration
}

func (f *measureFlags) add(flags *pflag.FlagSet) {
	f.maxSize = parsed[int]{parse: machines.ParseSize, kind: "size"}
	flags.BoolVar(&f.on, "measure", false, "measure the caches, memory and TLB, and save what was found")
	flags.StringVarP(&f.out, "out", "o", "", "`file` to save it in, instead of where --caches=measured looks")
	flags.Var(&f.maxSize, "max-size", "largest working set, such as 256MiB; default: twice the last level that the machine states")
	flags.DurationVar(&f.budget, "measure-time", 20*time.Second, "how long to measure, at least about; shorter is less steady")
}

// check refuses flags that do not go together.
func (f *measureFlags) check(cmd *cobra.Command) error {
	for _, name := range []string{"out", "max-size", "measure-time"} {
		if cmd.Flags().Changed(name) && !f.on {
			return fmt.Errorf("--%s goes with --measure, which is missing", name)
		}
	}
	if f.maxSize.set && (f.maxSize.value < probe.MinSize || f.maxSize.value > probe.MaxSize) {
		return fmt.Errorf("--max-size %s: want at least %s and at most %s", f.maxSize.text, machines.Size(probe.MinSize), machines.Size(probe.MaxSize))
	}
	if f.budget <= 0 || f.budget > time.Hour {
		return fmt.Errorf("--measure-time %v: want more than 0 and at most 1h", f.budget)
	}
	return nil
}

// The largest working set by default: twice the stated last level, within bounds
// of time and memory.
const (
	unknownMax = 64 << 20  // where none is stated
	mostMax    = 256 << 20 // whose chase takes some tenths of a second to prepare
)

// A measurement is a machine that was measured, its file, and what to warn of.
type measurement struct {
	probe.Machine
	file     string
	warnings []string
}

// result is what is measured now, or what was measured and saved; nil if nothing
// was, or of another machine.
func (f *measureFlags) result(cmd *cobra.Command, caches []cpu.Cache) (*measurement, error) {
	if !f.on {
		m, found, err := thisMeasured()
		if err != nil || !found {
			return nil, err
		}
		file, err := savedMachine()
		return &measurement{m, file, measuredWarnings(m, caches)}, err
	}
	ctx, stop := interruptible()
	defer stop()
	before := results.Now()
	m, file, err := f.measure(ctx, cmd, caches)
	if err != nil {
		return nil, err
	}
	warnings := measuredWarnings(m, caches)
	if a, known := before.Until(results.Now()); known && a.Others > busyOthers {
		warnings = append(warnings, fmt.Sprintf("Other programs kept %.1f of %d CPUs busy meanwhile: measure again when the machine is quiet.", a.Others, a.CPUs))
	}
	return &measurement{m, file, warnings}, nil
}

// busyOthers is from how many CPUs on the work of others is warned of.
const busyOthers = 0.25

// measure measures this machine and saves it in a file.
func (f *measureFlags) measure(ctx context.Context, cmd *cobra.Command, caches []cpu.Cache) (m probe.Machine, file string, err error) {
	if file = f.out; file == "" {
		if file, err = savedMachine(); err != nil {
			return m, "", fmt.Errorf("where to save the machine is unknown, name a file with --out: %w", err)
		}
	}
	saved, err := createFile("out", file) // before anything is measured, so that nothing is in vain
	if err != nil {
		return m, "", err
	}
	defer saved.Discard()
	machine := results.ThisMachine()
	o := probe.Options{CPU: machine.CPU, Caches: caches, TLB: cpu.TLB(probe.PageSize),
		MaxSize: f.maxSize.value, MaxMemory: machine.Available, Budget: f.budget}
	if !f.maxSize.set {
		o.MaxSize = largest(caches, machine.Available)
	}
	progress := newProgress(cmd, 100, "measuring: %d of %d %% ")
	defer progress.end()
	shown := 0
	o.Progress = func(done float64) {
		for ; shown < int(100*done); shown++ {
			progress.step()
		}
	}
	m, err = probe.Measure(ctx, o)
	if errors.Is(err, context.Canceled) {
		return m, "", stopped(ctx, "nothing is saved")
	}
	if err != nil {
		return m, "", err
	}
	text, err := m.Format()
	if err != nil {
		return m, "", err
	}
	if _, err := saved.Write(text); err != nil {
		return m, "", err
	}
	return m, file, saved.Commit()
}

func largest(caches []cpu.Cache, available int) int {
	most := 0
	for _, c := range caches {
		most = max(most, 2*c.Geometry.Size)
	}
	if most == 0 {
		most = unknownMax
	}
	most = min(most, mostMax)
	if available > 0 {
		most = max(min(most, available/4), probe.MinSize)
	}
	return most
}

// measuredWarnings say plainly what is not as stated.
func measuredWarnings(m probe.Machine, caches []cpu.Cache) []string {
	var warnings []string
	found := map[int]bool{}
	for _, l := range m.Levels {
		found[l.Stated] = true
		if l.Differs() {
			warnings = append(warnings, fmt.Sprintf("%s serves working sets up to %s, where %s states %s. In a virtual machine, or beside others who use the cache, that is what there is; --caches=measured simulates it.",
				l.Name, results.Bytes(l.Capacity), source(caches, l.Stated), results.Bytes(l.Stated)))
		}
	}
	last, stated := 0, cpu.Cache{}
	if n := len(m.Ladder); n > 0 {
		last = m.Ladder[n-1].Size
	}
	for _, c := range caches {
		if size := c.Geometry.Size; c.Type != "Instruction" {
			if !found[size] && 2*size <= last {
				warnings = append(warnings, fmt.Sprintf("%s of %s, which %s states, shows at no working set.", cacheName(c), results.Bytes(size), c.Source))
			}
			if size > stated.Geometry.Size {
				stated = c
			}
		}
	}
	if size := stated.Geometry.Size; last < 2*size && m.Memory != (probe.Speed{}) {
		warnings = append(warnings, fmt.Sprintf("The largest working set is %s, not twice the %s of %s: what is called memory may be a cache.", results.Bytes(last), results.Bytes(size), cacheName(stated)))
	}
	if m.Pages == access.Pages4K.String() {
		warnings = append(warnings, "No huge pages could be had: misses of the TLB are in the latencies of large working sets.")
	}
	return warnings
}

// source is where a size of a cache is from.
func source(caches []cpu.Cache, size int) simcache.Source {
	for _, c := range caches {
		if c.Geometry.Size == size && c.Type != "Instruction" {
			return c.Source
		}
	}
	return "the file"
}

// write prints what was measured for people.
func (m *measurement) write(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "measured\tserves up to\tstated\tsimulated\tlatency\tread\tcopy")
	for _, l := range m.Levels {
		stated := "unknown"
		if l.Stated > 0 {
			stated = results.Bytes(l.Stated)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", l.Name, results.Bytes(l.Capacity), stated, simulatedCell(m.level(l.Name)), speedCells(l.Speed))
	}
	if m.Memory != (probe.Speed{}) {
		fmt.Fprintf(t, "memory\t\t\t\t%s\n", speedCells(m.Memory))
	}
	fmt.Fprintln(t, "\nmeasured data TLB\tentries\treach\tsimulated\ta miss costs")
	for i, r := range m.TLB {
		fmt.Fprintf(t, "level %d\t%d\t%s\t%s\t%.3g ns\n", i+1, r.Entries, results.Bytes(r.Entries*probe.PageSize), simulatedTLBCell(m.tlb(i)), r.Miss)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(w, "\nmeasured on %s, the ladder on pages of %s; saved in %s\n", m.Date.UTC().Format(time.DateTime), m.Pages, m.file)
	for _, warning := range append(m.warnings, m.simulatedWarnings()...) {
		fmt.Fprintf(w, "\n%s\n", wrap("warning: "+warning, 80))
	}
	return nil
}

// level is what is simulated for a level that was measured; none if the file
// simulates no such.
func (m *measurement) level(name string) simcache.Geometry {
	for _, l := range m.Simulated.Levels {
		if l.Name == name {
			return l.Geometry
		}
	}
	return simcache.Geometry{}
}

// tlb is the same for a level of the TLB.
func (m *measurement) tlb(i int) simcache.TLB {
	if i < len(m.Simulated.TLB) {
		return m.Simulated.TLB[i]
	}
	return simcache.TLB{}
}

func simulatedCell(g simcache.Geometry) string {
	if g.Size == 0 {
		return "not"
	}
	return fmt.Sprintf("%s, %d ways", results.Bytes(g.Size), g.Ways)
}

func simulatedTLBCell(t simcache.TLB) string {
	if t.Entries == 0 {
		return "not"
	}
	return fmt.Sprintf("%d, %d ways", t.Entries, t.Ways)
}

// simulatedWarnings say where the file simulates something else than was measured:
// an older version's does, and one that was changed by hand.
func (m *measurement) simulatedWarnings() []string {
	const why = "sizes that make no whole sets are rounded, and a file may have been changed by hand or be an older version's: measure again if that is not meant."
	var warnings []string
	for _, l := range m.Levels {
		if g := m.level(l.Name); g.Size != l.Capacity {
			warnings = append(warnings, fmt.Sprintf("%s was found to serve %s and is simulated as %s: %s", l.Name, results.Bytes(l.Capacity), simulatedCell(g), why))
		}
	}
	for i, r := range m.TLB {
		if t := m.tlb(i); t.Entries != r.Entries {
			warnings = append(warnings, fmt.Sprintf("Level %d of the TLB was found to have %d entries and is simulated with %s: %s", i+1, r.Entries, simulatedTLBCell(t), why))
		}
	}
	return warnings
}

func speedCells(s probe.Speed) string {
	return fmt.Sprintf("%.3g ns\t%s\t%s", s.Latency, bandwidthCell(s.Read), bandwidthCell(s.Copy))
}

func bandwidthCell(v float64) string {
	if v == 0 {
		return "unknown"
	}
	return fmt.Sprintf("%.3g GB/s", v/1e9)
}

// jsonMeasured is a machine that was measured, as JSON.
type jsonMeasured struct {
	Date       time.Time       `json:"date"`
	CPU        string          `json:"cpu"`
	Pages      string          `json:"pages"`
	Levels     []jsonServing   `json:"levels"`
	Memory     *jsonSpeed      `json:"memory,omitempty"`
	TLB        []jsonReach     `json:"tlb"`
	Ladder     []jsonRung      `json:"ladder"`
	PageLadder []jsonPagesRung `json:"pageLadder"`
	Warnings   []string        `json:"warnings"`
	File       string          `json:"file"`
}

type (
	jsonSpeed struct {
		Latency float64 `json:"latencyNs"`
		Read    float64 `json:"readBytesPerSecond"`
		Copy    float64 `json:"copyBytesPerSecond"`
	}
	jsonServing struct {
		Name      string `json:"name"`
		Stated    int    `json:"stated"`
		Capacity  int    `json:"capacity"`
		Simulated string `json:"simulated"` // size,ways,line
		jsonSpeed
	}
	jsonReach struct {
		Entries   int     `json:"entries"`
		Simulated string  `json:"simulated"` // entries,ways,page
		Miss      float64 `json:"missNs"`
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

func (m *measurement) json() *jsonMeasured {
	if m == nil {
		return nil
	}
	j := &jsonMeasured{Date: m.Date.UTC().Truncate(time.Second), CPU: m.CPU, Pages: m.Pages, Warnings: listed(slices.Concat(m.warnings, m.simulatedWarnings())), File: m.file,
		Levels: []jsonServing{}, TLB: []jsonReach{}, Ladder: []jsonRung{}, PageLadder: []jsonPagesRung{}}
	for _, l := range m.Levels {
		j.Levels = append(j.Levels, jsonServing{l.Name, l.Stated, l.Capacity, m.level(l.Name).String(), jsonSpeed(l.Speed)})
	}
	if m.Memory != (probe.Speed{}) {
		memory := jsonSpeed(m.Memory)
		j.Memory = &memory
	}
	for i, r := range m.TLB {
		j.TLB = append(j.TLB, jsonReach{r.Entries, simcache.FormatTLB([]simcache.TLB{m.tlb(i)}), r.Miss})
	}
	for _, p := range m.Ladder {
		j.Ladder = append(j.Ladder, jsonRung(p))
	}
	for _, p := range m.PageLadder {
		j.PageLadder = append(j.PageLadder, jsonPagesRung{p.Size, p.Ns})
	}
	return j
}
