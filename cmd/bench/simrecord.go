package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/stridebench/stridebench/access/csource"
	"github.com/stridebench/stridebench/access/session"
	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/simcache/explain"
)

// record names a simulation by the flags that determine its counts.
func (f *simFlags) record(run explain.Run) session.Simulated {
	s := session.Simulated{Family: "Program", Config: run.Config, Counts: run.Counts,
		Arrays: run.Tensors, Program: thisProgram()}
	if n := len(run.TLB); n > 0 {
		s.Walks = run.TLB[n-1].Misses()
	}
	file := f.program.file
	switch {
	case f.trace != "":
		s.Family, file, s.Arrays = "Trace", f.trace, nil // a trace does not name arrays
	case f.matrix != "":
		s.Family, file = "Matrix", f.matrix
	case f.exec.path != "":
		file = f.exec.path
	}
	add := func(key, value string) {
		s.Parts = append(s.Parts, results.Pair{Key: key, Value: value})
	}
	add("file", filepath.Base(file))
	if f.program.Function != "" {
		add("function", f.program.Function)
	}
	if f.exec.cc != "" {
		add("cc", f.exec.cc)
	}
	if f.exec.args != "" {
		add("args", f.exec.args)
	}
	if f.exec.from.call+f.exec.to.call > 0 {
		add("calls", fmt.Sprintf("%d-%d", f.exec.from.call, f.exec.to.call))
	}
	// Any order of the flags gives one name.
	for _, d := range slices.Sorted(slices.Values(f.program.Defines)) {
		add(csource.Defined(d))
	}
	if f.program.file != "" && f.program.Align != csource.DefaultAlign {
		add("align", strconv.Itoa(f.program.Align))
	}
	if f.matrix != "" {
		add("dtype", f.pattern.dtype.or(layouts.Float32).String())
	}
	if f.passes > 1 {
		add("passes", strconv.Itoa(f.passes))
	}
	return s
}
