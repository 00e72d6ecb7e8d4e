package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/session"
	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/cpu"
)

// A parsed is a flag whose value is parsed when it is set, so that every error
// names the flag and the value.
type parsed[T any] struct {
	value T
	text  string
	set   bool
	parse func(string) (T, error)
	kind  string // shown in --help
}

// Set implements pflag.Value.
func (p *parsed[T]) Set(text string) error {
	value, err := p.parse(text)
	if err != nil {
		return err
	}
	p.value, p.text, p.set = value, text, true
	return nil
}

// given tells whether the flag was set.
func (p *parsed[T]) given() bool { return p.set }

// String implements pflag.Value.
func (p *parsed[T]) String() string { return p.text }

// Type implements pflag.Value.
func (p *parsed[T]) Type() string { return p.kind }

// A once is a flag that is given once at most: where it may be repeated elsewhere,
// the last one would win unnoticed.
type once struct {
	text string
	set  bool
}

// Set implements pflag.Value.
func (o *once) Set(text string) error {
	if o.set {
		return errors.New("it is given twice; bench sim simulates one pattern, bench run compares several")
	}
	o.text, o.set = text, true
	return nil
}

// String implements pflag.Value.
func (o *once) String() string { return o.text }

// Type implements pflag.Value.
func (o *once) Type() string { return "string" }

// geometryFlags override the caches of this CPU, in Cachegrind's form.
type geometryFlags struct{ i1, d1, ll parsed[simcache.Geometry] }

func (g *geometryFlags) add(flags *pflag.FlagSet) {
	for _, f := range []struct {
		name, what string
		value      *parsed[simcache.Geometry]
	}{
		{"I1", "level-1 instruction cache (patterns of data do not use it)", &g.i1},
		{"D1", "level-1 data cache", &g.d1},
		{"LL", "last-level cache", &g.ll},
	} {
		f.value.parse, f.value.kind = simcache.ParseGeometry, "size,assoc,line"
		flags.Var(f.value, f.name, "simulated "+f.what+", in bytes; default: this CPU's")
	}
}

// config is the caches to simulate: flags over those of this CPU.
func (g *geometryFlags) config(caches []cpu.Cache) simcache.Config {
	c := cpu.Choose(caches)
	for _, f := range []struct {
		flag     *parsed[simcache.Geometry]
		geometry *simcache.Geometry
		source   *simcache.Source
	}{{&g.i1, &c.I1, &c.I1Source}, {&g.d1, &c.Levels[0].Geometry, &c.Levels[0].Source}, {&g.ll, &c.Levels[1].Geometry, &c.Levels[1].Source}} {
		if f.flag.set {
			*f.geometry, *f.source = f.flag.value, simcache.FromFlag
		}
	}
	return c
}

// set tells whether a flag names a cache.
func (g *geometryFlags) set() bool { return g.i1.set || g.d1.set || g.ll.set }

// patternFlags say what is touched, but for the order.
type patternFlags struct {
	shape, with, tile parsed[[]int]
	dtype             parsed[layouts.DType]
	op                parsed[access.Op]
	view              string
	pad               int
}

func (p *patternFlags) add(flags *pflag.FlagSet) {
	p.addTensor(flags)
	p.addOp(flags)
	p.tile = parsed[[]int]{parse: layouts.ParseShape, kind: "shape"}
	flags.Var(&p.tile, "tile", "sizes of tiles in which the view is walked, one for each of its dims, such as 32x32")
}

// addOp adds the flags that say what is done.
func (p *patternFlags) addOp(flags *pflag.FlagSet) {
	p.with = parsed[[]int]{parse: layouts.ParseShape, kind: "shape"}
	p.op = parsed[access.Op]{parse: access.ParseOp, kind: "op", text: "sum"}
	flags.Var(&p.op, "op", "sum (reads), fill (writes), copy (to a fresh contiguous tensor of the view's shape), add (--with, broadcast, to a fresh tensor), or chase (with run: reads in a random order, each element of int64 saying where the next is)")
	flags.IntVar(&p.pad, "pad", 0, "elements between the tensor's rows, which run along its last dim")
	flags.Var(&p.with, "with", "sizes of the tensor that --op add adds, such as 1x4000")
}

// addTensor adds the flags that say what tensor and which view.
func (p *patternFlags) addTensor(flags *pflag.FlagSet) {
	p.shape = parsed[[]int]{parse: layouts.ParseShape, kind: "shape"}
	p.dtype = parsed[layouts.DType]{parse: layouts.ParseDType, kind: "dtype", value: layouts.Float32, text: "float32"}
	flags.Var(&p.shape, "shape", "sizes of the tensor, which is stored contiguous, such as 4000x4000")
	flags.Var(&p.dtype, "dtype", "type of its elements: "+strings.Join(layouts.DTypeNames(), ", "))
	flags.StringVar(&p.view, "view", "", "chain of view operations, spelled as PyTorch's methods, such as 'transpose(0,1).narrow(1,0,100)'")
}

const orderUsage = "order in which the view's dims are walked: row, col, or a permutation such as 1,0"

const kernelUsage = "what walks it: scalar, a plain loop in the order asked for; builtin, Go's copy; or a set of vector kernels: "

var errNoShape = errors.New("--shape is missing (such as --shape 4000x4000)")

// spec puts the flags together.
func (p *patternFlags) spec(order string, width int) (access.Spec, error) {
	switch {
	case !p.shape.set:
		return access.Spec{}, errNoShape
	case p.op.value == access.Add && !p.with.set:
		return access.Spec{}, errors.New("--op add wants the shape of what is added (such as --with 1x4000)")
	case p.op.value != access.Add && p.with.set:
		return access.Spec{}, fmt.Errorf("--with %s goes with --op add", p.with.text)
	}
	s := access.Spec{Op: p.op.value, Shape: p.shape.value, Pad: p.pad, With: p.with.value, DType: p.dtype.value, Tile: p.tile.value, Width: width}
	var err error
	if s.View, err = layouts.ParseChain(p.view); err != nil {
		return s, fmt.Errorf("--view %q: %w", p.view, err)
	}
	if s.Order, err = access.ParseOrder(order); err != nil {
		return s, fmt.Errorf("--order %q: %w", order, err)
	}
	return s, nil
}

// lower makes the pattern of a spec that came from flags.
func lower(spec access.Spec) (access.Pattern, error) {
	p, err := spec.Pattern()
	if err != nil {
		return p, atFlag(err)
	}
	return p, nil
}

// atFlag says which flag is at fault, of errors that tell: of a spec, of a plan, or
// of a filter.
func atFlag(err error) error {
	_, ofSpec := errors.AsType[*access.FieldError](err) // fields are called as flags are
	if _, ofPlan := errors.AsType[*session.FieldError](err); ofSpec || ofPlan {
		return fmt.Errorf("--%w", err)
	}
	if _, ok := errors.AsType[*results.FilterError](err); ok {
		return fmt.Errorf("--filter %w", err)
	}
	return err
}

// atLeast refuses a flag's value that is too small.
func atLeast(flag string, value, least int) error {
	if value < least {
		return fmt.Errorf("--%s %d: want at least %d", flag, value, least)
	}
	return nil
}
