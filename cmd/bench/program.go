package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/csource"
	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/explain"
	"github.com/stridebench/stridebench/simcache/machines"
)

type programFlags struct {
	file string
	csource.Options
}

func (p *programFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&p.file, "program", "", "")
	flags.StringArrayVarP(&p.Defines, "define", "D", nil, "")
	flags.StringArrayVarP(&p.IncludeDirs, "include", "I", nil, "")
	flags.StringVar(&p.Function, "function", "", "")
	flags.IntVar(&p.Align, "align", csource.DefaultAlign, "")
}

// mostProgram is the most bytes of a program's text, more than csource reads.
const mostProgram = 1 << 20

func (p *programFlags) load(c call) ([]byte, error) {
	input, err := c.open(p.file)
	if err != nil {
		return nil, err
	}
	defer input.Close()
	return io.ReadAll(io.LimitReader(input, mostProgram))
}

func (p *programFlags) read(c call, text []byte, config simcache.Config) (*csource.File, error) {
	if p.Align <= 0 || p.Align&(p.Align-1) != 0 {
		return nil, fmt.Errorf("--align %d: want a power of two", p.Align)
	}
	p.Origin = config.Aligned(access.Origin, p.Align)
	for _, define := range p.Defines {
		if strings.Contains(define, "][") {
			return nil, &csource.Error{Pos: csource.Pos{File: p.file},
				Why: "-D '" + define + "' is of a pointer to pointers"}
		}
	}
	read, err := csource.Read(p.file, text, p.Options)
	if err != nil {
		return nil, err
	}
	for _, n := range read.Notes {
		c.note("%v", n)
	}
	return read, nil
}

func (f *simFlags) simulateProgram(c call, m machines.Machine) error {
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
	for _, n := range file.Notes {
		if n.Define != "" && f.results != "" {
			return fmt.Errorf("--define %s: it has no effect, and the results of --out would "+
				"have it in their name: leave it out, or see the note", n.Define)
		}
	}
	if err := m.Config.CheckPasses(f.passes, file.Program); err != nil {
		return atFlag(err)
	}
	if f.look.wanted() {
		source := file.Source()
		walk := walked{program: file.Program, arrays: source.Arrays}
		return f.look.at(c, m.Config, f.passes,
			source.Function+" of "+filepath.Base(f.program.file), walk)
	}
	h, curve, err := f.start(m.Config)
	if err != nil {
		return err
	}
	if err := f.announce(c, f.program.file, h.EffortOfProgram(f.passes, file.Program).And(
		curve.Effort(f.passes, file.Program))); err != nil {
		return err
	}
	if err := curve.Passes(f.passes, file.Program); err != nil {
		return err
	}
	const steps = 10_000
	c.meter.Phase("simulating "+f.program.file, steps)
	h.Progress(c.meter.Shares(steps)) // the time of summaries is not known beforehand
	counts, err := h.RunProgram(f.passes, file.Program)
	if err != nil {
		return fmt.Errorf("--program %s: %w", f.program.file, err)
	}
	run := explain.RunOfProgram(h, m.Config, file.Program, file.Source(), counts, f.passes)
	run.Curve = curve.Table()
	return f.show(c, run, m.Name)
}
