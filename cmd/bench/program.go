package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/pflag"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/csource"
	"github.com/stridebench/stridebench/access/session/progress"
	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/explain"
)

type programFlags struct {
	file string
	csource.Options
}

func (p *programFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&p.file, "program", "", "simulate the loops of a C `file` instead; those "+
		"between #pragma scop and #pragma endscop, or with --function a function's; - for stdin")
	flags.StringArrayVarP(&p.Defines, "define", "D", nil,
		"with --program, a macro or a variable's value, `NAME=VALUE`, or what a pointer points "+
			"to, 'NAME[EXTENT]'; of a field, 'p->NAME=VALUE'; repeatable")
	flags.StringArrayVarP(&p.IncludeDirs, "include", "I", nil,
		"with --program, a `folder` of headers; repeatable, and no other is looked into")
	flags.StringVar(&p.Function, "function", "",
		"with --program and --exec, the function of this `name`")
	flags.IntVar(&p.Align, "align", csource.DefaultAlign,
		"with --program, bytes to whose multiples arrays are aligned, a power of two")
}

// mostProgram is the most bytes of a program's text, more than csource reads.
const mostProgram = 1 << 20

func (p *programFlags) load(c call) ([]byte, error) {
	input, err := openInput(c, "program", p.file)
	if err != nil {
		return nil, err
	}
	defer input.Close()
	text, err := io.ReadAll(io.LimitReader(input, mostProgram))
	if err != nil {
		return nil, fmt.Errorf("--program: %w", err)
	}
	return text, nil
}

func (p *programFlags) read(c call, text []byte, config simcache.Config) (*csource.File, error) {
	if p.Align <= 0 || p.Align&(p.Align-1) != 0 {
		return nil, fmt.Errorf("--align %d: want a power of two", p.Align)
	}
	p.Origin = config.Aligned(access.Origin, p.Align)
	for _, define := range p.Defines {
		if strings.Contains(define, "][") {
			return nil, fmt.Errorf("--program: %w", &csource.Error{Pos: csource.Pos{File: p.file},
				Why: "-D '" + define + "' is of a pointer to pointers"})
		}
	}
	read, err := csource.Read(p.file, text, p.Options)
	if _, ofFile := errors.AsType[*csource.Error](err); ofFile {
		return nil, fmt.Errorf("--program: %w", err)
	}
	if err != nil {
		return nil, err
	}
	for _, n := range read.Notes {
		c.note("%v", n)
	}
	return read, nil
}

// collectAt is the garbage collector's percentage while a program is counted. Summaries live until
// the end, so a collection finds little.
const collectAt = 400

// collectOver is the memory limit in bytes. It is twice the limit of summaries, which are then most
// of live memory.
const collectOver = 2 << 30

func setCollection() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(collectAt)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(collectOver)
	}
}

func (f *simFlags) simulateProgram(c call) error {
	setCollection()
	m, err := f.simulated(c)
	if err != nil {
		return err
	}
	text, err := f.program.load(c)
	if err != nil {
		return err
	}
	file, err := f.program.read(c, text, m.Config)
	affine := f.exact.value == "affine" || f.look.wanted()
	if refused, is := errors.AsType[*csource.Error](err); is && !refused.Outside && !affine {
		return f.compileProgram(c, m, text, refused)
	}
	if err != nil {
		return err
	}
	if i := slices.IndexFunc(file.Notes, func(n csource.Note) bool {
		return n.Define != ""
	}); i >= 0 && f.results != "" {
		return fmt.Errorf("--define %s: it has no effect, and the results of --out would have it "+
			"in their name: leave it out, or see the note", file.Notes[i].Define)
	}
	if err := m.Config.CheckProgram(f.passes, file.Program); err != nil {
		return atFlag(err)
	}
	if f.look.wanted() {
		source := file.Source()
		walk := walked{program: file.Program, arrays: source.Arrays}
		return f.look.at(c, m.Config, f.passes,
			source.Function+" of "+filepath.Base(f.program.file), walk)
	}
	h, curve, err := f.start(c, m.Config)
	if err != nil {
		return err
	}
	effort, err := f.announce(c, "simulating "+f.program.file,
		h.EffortOfProgram(f.passes, file.Program), curve.EffortOfProgram(f.passes, file.Program))
	if err != nil {
		return err
	}
	if err := curve.Program(f.passes, file.Program); err != nil {
		return err
	}
	stop := func() {}
	if effort.LookUps == 0 { // otherwise announce gave an estimate
		stop = f.follow(c, h, "simulating "+f.program.file)
	}
	counts, err := h.RunProgram(f.passes, file.Program)
	stop()
	if err != nil {
		return fmt.Errorf("--program %s: %w", f.program.file, err)
	}
	if h.Counts() == (simcache.Counts{}) {
		c.note("%s: %s makes no access to an array", f.program.file, file.Function)
	}
	run := explain.RunOfProgram(h, m.Config, file.Program, file.Source(), counts, f.passes)
	run.Curve = curve.Table()
	f.improve(&run)
	return f.show(c, run, simcache.Counts.DataSummary, m.Name)
}

const shares = 10_000

// follow shows the share of the outermost loops' iterations that are done, until stop. Without a
// terminal it prints notes.
func (f *simFlags) follow(c call, h *simcache.Hierarchy, what string) (stop func()) {
	if progress.Bars(c.err) {
		done := 0
		f.meter.Phase(what, shares)
		h.Progress(func(share float64) {
			f.meter.Step(int(shares*share) - done)
			done = int(shares * share)
		})
		return func() {}
	}
	f.meter.End()
	f.meter = progress.New(io.Discard) // a signal's message names its phase
	f.meter.Phase(what, 0)
	var done atomic.Uint64 // the share, as bits
	h.Progress(func(share float64) { done.Store(math.Float64bits(share)) })
	share := func() float64 { return math.Float64frombits(done.Load()) }
	return patience(c, quiet, share)
}

var quiet = 5 * time.Second

// patience prints a note after first, and whenever the time has doubled, until stop. The time of
// summaries is not known beforehand.
func patience(c call, first time.Duration, share func() float64) (stop func()) {
	began, done := time.Now(), make(chan struct{})
	go func() {
		for wait := first; ; wait *= 2 {
			select {
			case <-done:
				return
			case <-time.After(time.Until(began.Add(wait))):
				how := fmt.Sprintf("%.1f%%", 100*share())
				if how == "0.0%" {
					how = "less than 0.1%"
				}
				c.note("after %v, %s of the iterations of the outermost loops are counted; "+
					"others may take longer; Ctrl-C ends it", wait, how)
			}
		}
	}()
	return func() { close(done) }
}
