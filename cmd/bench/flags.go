package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/kernel"
	"github.com/stridebench/stridebench/access/sweep"
	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/layouts/blocked"
	"github.com/stridebench/stridebench/results/filter"
	"github.com/stridebench/stridebench/results/keys"
	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/cpu"
)

// A parsed is a flag that parses its value when set, so that errors name flag and value.
type parsed[T any] struct {
	value T
	text  string // as given, or the default that --help shows
	set   bool
	parse func(string) (T, error)
	kind  string   // shown in --help
	known []string // all values, if there are few
}

func (p *parsed[T]) add(flags *pflag.FlagSet, name, kind string, parse func(string) (T, error)) {
	p.parse, p.kind = parse, kind
	flags.Var(p, name, "")
}

func (p *parsed[T]) choices() []string { return p.known }

// Set implements pflag.Value.
func (p *parsed[T]) Set(text string) (err error) {
	if p.set && text != p.text {
		return fmt.Errorf("it is given twice, as %s before, and takes one value", p.text)
	}
	p.set, p.text = true, text
	p.value, err = p.parse(text)
	return err
}

func (p *parsed[T]) all() []string { return []string{p.text} }

// String implements pflag.Value.
func (p *parsed[T]) String() string { return p.text }

// Type implements pflag.Value.
func (p *parsed[T]) Type() string { return p.kind }

// oneOf returns a flag that takes one of the known values, by default the first.
func oneOf[T ~string](kind string, known ...T) parsed[T] {
	p := parsed[T]{value: known[0], text: string(known[0]), kind: kind}
	for _, k := range known {
		p.known = append(p.known, string(k))
	}
	p.parse = func(text string) (T, error) {
		if slices.Contains(p.known, text) {
			return T(text), nil
		}
		return "", fmt.Errorf("want one of %s", strings.Join(p.known, ", "))
	}
	return p
}

// A several is a flag that may be given more than once.
type several[T any] struct {
	parsed[T]
	values []T
	texts  []string
	// Greatest number of values; 0 means any. More are an error, or the last would silently win.
	most int
}

func (s *several[T]) add(flags *pflag.FlagSet, name, kind string, most int,
	parse func(string) (T, error)) {
	s.parse, s.kind, s.most = parse, kind, most
	flags.Var(s, name, "")
	if most == 0 {
		flags.Lookup(name).Usage = "; several are compared"
	}
}

// Set implements pflag.Value.
func (s *several[T]) Set(text string) error {
	if slices.Contains(s.texts, text) {
		return nil
	}
	if s.most > 0 && len(s.values) == s.most {
		return fmt.Errorf("it is given more than %s here; bench run compares several",
			counted(s.most, "time"))
	}
	value, err := s.parse(text)
	s.values, s.texts, s.text = append(s.values, value), append(s.texts, text), text
	return err
}

func (s *several[T]) all() []string { return s.texts }

func (s *several[T]) or(otherwise T) T { return append(s.values, otherwise)[0] }

// geometryFlags override this CPU's caches, in Cachegrind's form.
type geometryFlags struct{ i1, d1, ll parsed[simcache.Geometry] }

func (g *geometryFlags) add(flags *pflag.FlagSet) {
	const kind = "size,assoc,line"
	g.i1.add(flags, "I1", kind, simcache.ParseGeometry)
	g.d1.add(flags, "D1", kind, simcache.ParseGeometry)
	g.ll.add(flags, "LL", kind, simcache.ParseGeometry)
}

func (g *geometryFlags) config(caches []cpu.Cache) simcache.Config {
	c := cpu.Choose(caches)
	choose := func(of *parsed[simcache.Geometry], to *simcache.Geometry, from *string) {
		if of.set {
			*to, *from = of.value, cpu.FromFlag
		}
	}
	choose(&g.i1, &c.I1, &c.I1Source)
	choose(&g.d1, &c.Levels[0].Geometry, &c.Levels[0].Source)
	choose(&g.ll, &c.Levels[1].Geometry, &c.Levels[1].Source)
	if g.ll.set {
		c.Levels[1].SharedBy = 0 // all cores, on every machine
	}
	return c
}

// apart is a variable for tests: few machines have several kinds of cores.
var apart = cpu.Apart

// noteApart notes which CPU's caches these are if others differ.
func (g *geometryFlags) noteApart(c call, pinned ...int) {
	if g.d1.set && g.ll.set {
		return
	}
	if shown, others := apart(pinned...); others != nil {
		c.note("these are the caches of CPU %d; other CPUs (%s) have others: choose with taskset "+
			"-c, or with --pin of bench run", shown, cpu.FormatList(others))
	}
}

// set reports whether a flag names a cache.
func (g *geometryFlags) set() bool { return g.i1.set || g.d1.set || g.ll.set }

// patternFlags choose the accesses.
type patternFlags struct {
	shape, with parsed[[]int]
	op          parsed[access.Op]
	from, to    parsed[blocked.Tag]
	dtype       several[layouts.DType]
	view        several[layouts.Chain]
	pad         several[int]
	tile        several[[]int]
	order       several[access.Order]
	kernel      several[access.Kernel]
}

// Names of the flags of patterns.
const (
	tensorNames  = "shape dtype view "
	opNames      = "pad op with from to "
	patternNames = tensorNames + opNames + "tile order kernel"
)

// add adds all flags. Flags of a sweep may be given most times; 0 means any number.
func (p *patternFlags) add(flags *pflag.FlagSet, most int) {
	p.addTensor(flags, most)
	p.addOp(flags, most)
	p.order.text, p.kernel.text = "row", "scalar"
	p.order.known = []string{"row", "col", "torch", "from", "to"}
	p.kernel.known = strings.Split("scalar, builtin, "+kernel.Names(kernel.All()), ", ")
	p.tile.add(flags, "tile", "shape", most, field("tile", func(s access.Spec) []int {
		return s.Tile
	}))
	p.order.add(flags, "order", "order", most, field("order", func(s access.Spec) access.Order {
		return s.Order
	}))
	p.kernel.add(flags, "kernel", "kernel", most,
		field("kernel", func(s access.Spec) access.Kernel {
			return s.Kernel
		}))
}

func (p *patternFlags) addOp(flags *pflag.FlagSet, most int) {
	p.op.text, p.op.known = "sum", []string{"sum", "fill", "copy", "add", "chase", "reorder"}
	p.op.add(flags, "op", "op", field("op", func(s access.Spec) access.Op { return s.Op }))
	p.pad.text = "0"
	p.pad.add(flags, "pad", "int", most, strconv.Atoi)
	p.with.add(flags, "with", "shape", layouts.ParseShape)
	p.from.add(flags, "from", "tag", parseTag)
	p.to.add(flags, "to", "tag", parseTag)
}

func (p *patternFlags) addTensor(flags *pflag.FlagSet, most int) {
	p.shape.add(flags, "shape", "shape", layouts.ParseShape)
	p.dtype.text, p.dtype.known = "float32", layouts.DTypeNames()
	p.dtype.add(flags, "dtype", "dtype", most, layouts.ParseDType)
	p.view.add(flags, "view", "chain", most, parseView)
}

// parseView parses a chain of views, or "none", as in files of benchmarks.
func parseView(text string) (layouts.Chain, error) {
	if text == "none" {
		text = ""
	}
	return layouts.ParseChain(text)
}

// parseShare reads a share such as "5%" or "0.05". It refuses 1, which may mean 1% and would let
// anything pass.
func parseShare(text string) (float64, error) {
	number, percent := strings.CutSuffix(text, "%")
	v, err := strconv.ParseFloat(number, 64)
	if percent {
		v /= 100
	}
	if err != nil || !(v >= 0) || v >= 1 && !percent || v > 100 {
		return 0, errors.New("want a share such as 5% or 0.05 (less than 1 without %, which may " +
			"be up to 10000%)")
	}
	return v, nil
}

// addPages adds a flag for the pages of the tensors' memory.
func addPages(flags *pflag.FlagSet, p *parsed[access.Pages]) {
	for _, pages := range []access.Pages{access.PagesSmall, access.PagesTHP, access.PagesHuge} {
		p.known = append(p.known, pages.String())
	}
	p.text = p.known[0]
	parse := func(text string) (access.Pages, error) {
		if i := slices.Index(p.known, text); i >= 0 {
			return access.Pages(i), nil
		}
		return 0, fmt.Errorf("no such pages (this system has %s)", strings.Join(p.known, ", "))
	}
	p.add(flags, "pages", "pages", parse)
}

func (p *patternFlags) product() (sweep.Product, error) {
	if !p.shape.set {
		return sweep.Product{}, errors.New("--shape is missing (such as --shape 4000x4000)")
	}
	spec := access.Spec{Op: p.op.value, Shape: p.shape.value, With: p.with.value,
		DType: layouts.Float32, From: p.from.value, To: p.to.value}
	return sweep.Product{Spec: spec, DTypes: p.dtype.values, Pads: p.pad.values,
		Views: p.view.values, Tiles: p.tile.values,
		Orders: p.order.values, Kernels: p.kernel.values}, nil
}

// field returns what reads a field of a pattern from a flag.
func field[T any](name string, of func(s access.Spec) T) func(text string) (T, error) {
	return func(text string) (T, error) {
		var s access.Spec
		err := s.Set(name, text)
		if fault, ok := errors.AsType[*access.FieldError](err); ok {
			err = fault.Err // the flag itself is named by pflag
		}
		return of(s), err
	}
}

func (p *patternFlags) spec() (access.Spec, error) {
	s, err := p.product()
	return s.Specs()[0], err
}

// texts returns the flags as they were given, for another program.
func (p *patternFlags) texts(c call) (flags []string) {
	for name := range strings.FieldsSeq(patternNames) {
		for _, text := range c.flags.Lookup(name).Value.(interface{ all() []string }).all() {
			if c.given(name) {
				flags = append(flags, "--"+name+"="+text)
			}
		}
	}
	return flags
}

// atFlag prefixes an error of a spec, a plan or a filter with the flag at fault.
func atFlag(err error) error {
	hint := ""
	if errors.Is(err, layouts.ErrCopies) {
		hint = ": time the copy with --op copy and the views before it, or walk its result: its " +
			"own sizes as --shape"
	}
	if e, ok := errors.AsType[*access.FieldError](err); ok { // fields have the flags' names
		return fmt.Errorf("--%w%s", e, hint)
	}
	if errors.Is(err, simcache.ErrPasses) {
		return fmt.Errorf("--%w", err)
	}
	if _, ok := errors.AsType[*filter.Error](err); ok {
		return fmt.Errorf("--filter %w", err)
	}
	return err
}

func parseBy(label string) (string, error) { return label, keys.CheckLabel(label) }

// parseTag also reads a format in capitals, such as NCHW.
func parseTag(text string) (blocked.Tag, error) {
	tag, err := blocked.Parse(text)
	if err != nil && text == strings.ToUpper(text) {
		if lower, other := blocked.Parse(strings.ToLower(text)); other == nil {
			return lower, nil
		}
	}
	return tag, err
}
