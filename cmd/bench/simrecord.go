package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/explain"
	"github.com/stridebench/stridebench/simcache/machines"
)

// levelsKey is the configuration key of all that is simulated but the TLB: a hash of
// its description.
const levelsKey = "sim-levels"

// record is the text of the results of one simulation, of a program, a trace or a matrix:
// a line for all of it, and one for each array, so that bench check compares exactly what
// one's own code does. It says nothing of the machine that it was simulated on, since the
// counts are the same on all.
func (f *simFlags) record(run explain.Run) ([]byte, error) {
	config, err := recordConfig(run.Config)
	if err != nil {
		return nil, err
	}
	program := thisProgram()
	var b bytes.Buffer
	w, err := results.NewWriter(&b, config, []results.Pair{{Key: "version", Value: program.Version}, {Key: "command", Value: program.Command}})
	if err != nil {
		return nil, err
	}
	family, name := f.recordName()
	values := countValues(run.Counts)
	if n := len(run.TLB); n > 0 {
		values = append(values, results.Value{Value: float64(run.TLB[n-1].Misses()), Unit: "TLB-misses/op"})
	}
	err, lines := w.Write(family+name, 1, values), 1
	if f.trace == "" { // which knows of no arrays
		for _, t := range run.Tensors {
			err = errors.Join(err, w.Write("Array"+name+"/array="+namePart(t.Function), 1, countValues(t.Counts)))
			lines++
		}
	}
	err = errors.Join(err, w.Comment(fmt.Sprintf("%s: %d results", results.EndKey, lines)))
	return b.Bytes(), err
}

// recordConfig is what the counts hang on.
func recordConfig(c simcache.Config) ([]results.Pair, error) {
	text, err := machines.Format[struct{}](machines.Machine{Config: simcache.Config{I1: c.I1, Levels: c.Levels}}, nil)
	if err != nil {
		return nil, err
	}
	hash := sha256.Sum256(text)
	config := []results.Pair{{Key: results.D1Key, Value: c.First().Geometry.String()}, {Key: results.LLKey, Value: c.Last().Geometry.String()},
		{Key: levelsKey, Value: fmt.Sprintf("%d %s", len(c.Levels), hex.EncodeToString(hash[:])[:12])}}
	if len(c.TLB) > 0 {
		config = append(config, results.Pair{Key: results.TLBKey, Value: simcache.FormatTLB(c.TLB)})
	}
	return config, nil
}

// recordName is the family of what was simulated, and the rest of its name: what the
// flags say that the counts are of.
func (f *simFlags) recordName() (family, rest string) {
	family, file := "Program", f.program.file
	switch {
	case f.trace != "":
		family, file = "Trace", f.trace
	case f.matrix != "":
		family, file = "Matrix", f.matrix
	}
	parts := []string{"file=" + namePart(filepath.Base(file))}
	if f.program.Function != "" {
		parts = append(parts, "function="+f.program.Function)
	}
	for _, d := range f.program.Defines {
		if !strings.Contains(d, "=") {
			d += "=1"
		}
		parts = append(parts, namePart(d))
	}
	if f.matrix != "" {
		parts = append(parts, "dtype="+f.pattern.dtype.or(layouts.Float32).String())
	}
	if f.passes > 1 {
		parts = append(parts, fmt.Sprintf("passes=%d", f.passes))
	}
	return family, "/" + strings.Join(parts, "/")
}

// namePart is a text as a part of a benchmark's name, which has no spaces and of which a
// slash begins the next part.
func namePart(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '/' || r <= ' ' {
			return '_'
		}
		return r
	}, results.Printable(text))
}

func countValues(c simcache.Counts) []results.Value {
	return []results.Value{{Value: float64(c.Refs()), Unit: "D-refs/op"}, {Value: float64(c.D1Misses()), Unit: "D1-misses/op"},
		{Value: float64(c.LLMisses()), Unit: "LL-misses/op"}}
}
