package compiled

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/explain"
	"github.com/stridebench/stridebench/simcache/reuse"
)

// A Counter counts accesses by place and by object.
type Counter struct {
	Hierarchy *simcache.Hierarchy
	Curve     *reuse.Meter // nil for none
	Full      error        // of the curve
	sources   []Source
}

// New implements Sink.
func (c *Counter) New(s Source) int {
	c.sources = append(c.sources, s)
	return c.Hierarchy.NewSource(s.Kind)
}

// Accesses implements Sink.
func (c *Counter) Accesses(refs []simcache.Reference) {
	c.Hierarchy.AccessAll(refs)
	if c.Curve == nil {
		return
	}
	for _, r := range refs {
		if c.Full == nil {
			c.Full = c.Curve.Access(r.Addr, int(r.Size))
		}
	}
}

// Lines returns the counts by object and by place.
func (c *Counter) Lines() (objects, code []explain.Line) {
	for i, counts := range c.Hierarchy.SourceCounts() {
		s := c.sources[i]
		objects = append(objects, explain.Line{Function: s.Object, Counts: counts})
		code = append(code, explain.Line{Function: s.Place.Function, File: s.Place.File,
			Number: s.Place.Line, Counts: counts})
	}
	return explain.SumLines(objects), explain.SumLines(code)
}

// Notes returns what to know of the objects, besides Outcome.Notes.
func (c *Counter) Notes(p *Program, o Options) (notes []string) {
	if arrays := c.uncounted(p, o.Function); arrays != nil {
		more := ""
		if left := len(arrays) - 3; left > 0 {
			arrays, more = arrays[:3], fmt.Sprintf(" and %d more", left)
		}
		notes = append(notes, fmt.Sprintf("arrays on the stack may be missing in the counts: "+
			"%s%s; the compiler reports them where their address leaves the function: declare "+
			"them static, or build with gcc -O0", strings.Join(arrays, ", "), more))
	}
	objects, _ := c.Lines()
	for _, object := range objects {
		if o.Arrange.Align > 0 && object.Function == elsewhere {
			notes = append(notes, fmt.Sprintf("%d accesses are outside of all arrays: is one of "+
				"-D 'NAME[EXTENT]' too small?", object.Counts.Refs()))
		}
	}
	return notes
}

// uncounted returns the local arrays, with their places, of the function and of counted ones. Their
// accesses may be uncounted.
func (c *Counter) uncounted(p *Program, function string) (arrays []string) {
	counted := map[string]bool{function: true}
	for _, s := range c.sources {
		counted[s.Place.Function] = true
	}
	for _, l := range p.Locals {
		if counted[l.Function] {
			arrays = append(arrays, fmt.Sprintf("%s (%s:%d)", l.Name, filepath.Base(l.File),
				l.Line))
		}
	}
	return slices.Compact(arrays)
}

// BuildFile builds a source file in dir and returns the program's path. Args are the compiler and
// its options, by default -O2. BuildFile returns path itself if that is not a source file. If the
// compiler fails, said has its messages.
func BuildFile(ctx context.Context, dir, path string, args []string) (program, said string,
	err error) {
	compiler, isSource := Compilers[filepath.Ext(path)]
	if !isSource {
		if args != nil {
			err = errors.New("it is not a source file, which a compiler would build")
		}
		return path, "", err
	}
	if _, err := os.Stat(path); err != nil {
		return "", "", err
	}
	program = filepath.Join(dir, "program")
	if args == nil {
		args = []string{compiler, "-O2"}
	}
	args = append(slices.Clone(args), path)
	build, err := Command(ctx, dir, append(args, "-o", program))
	if err != nil {
		return "", "", err
	}
	if out, err := build.CombinedOutput(); err != nil {
		return "", strings.ReplaceAll(string(out), program, "program"),
			fmt.Errorf("%s: %w", strings.Join(args, " "), err)
	}
	return program, "", nil
}
