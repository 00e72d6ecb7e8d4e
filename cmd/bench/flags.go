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
	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/cpu"
)

// folded parses text, or its lower case if that fails, as for 64X64 or CSV. It returns the value
// and the text that it parsed. If case matters, it lowers only text all in capitals.
func folded[T any](parse func(string) (T, error), text string, cased bool) (T, string, error) {
	value, err := parse(text)
	if lower := strings.ToLower(text); err != nil && lower != text &&
		(!cased || text == strings.ToUpper(text)) {
		if value, err := parse(lower); err == nil {
			return value, lower, nil
		}
	}
	return value, text, err
}

// A strict is a flag with one value. It refuses an empty value, as from an unset shell variable. It
// refuses a second one, which would silently replace the first.
type strict struct {
	pflag.Value
	name    string
	repeats bool
	text    string // of the value that was set
	set     bool
}

// Set implements pflag.Value.
func (s *strict) Set(text string) error {
	switch {
	case text == "" && s.name != "view": // an empty --view means no view
		return errors.New("it is empty: leave the flag out, or give it a value")
	case s.set && !s.repeats:
		return fmt.Errorf("it is given twice, as %s before, and takes one value", s.text)
	}
	if digits := strings.TrimLeft(text, "0_"); s.Type() == "int" && text[0] == '0' &&
		digits != "" && digits[0] >= '0' && digits[0] <= '9' {
		return fmt.Errorf("leading zeros, which some read as octal: want %s", digits)
	}
	s.set, s.text = true, text
	return s.Value.Set(text)
}

// A parsed is a flag that parses its value when set, so that errors name flag and value.
type parsed[T any] struct {
	value T
	text  string
	set   bool
	parse func(string) (T, error)
	kind  string // shown in --help
	cased bool   // whether case matters
	known []T    // all values, if there are few
}

func (p *parsed[T]) choices() (all []string) {
	for _, value := range p.known {
		all = append(all, fmt.Sprint(value))
	}
	return all
}

// Set implements pflag.Value.
func (p *parsed[T]) Set(text string) error {
	value, text, err := folded(p.parse, text, p.cased)
	if err != nil {
		return err
	}
	p.value, p.text, p.set = value, text, true
	return nil
}

func (p *parsed[T]) given() bool { return p.set }

// String implements pflag.Value.
func (p *parsed[T]) String() string { return p.text }

// Type implements pflag.Value.
func (p *parsed[T]) Type() string { return p.kind }

// A several is a flag that may be given more than once.
type several[T any] struct {
	values []T
	texts  []string
	// Greatest number of values; 0 means any. More are an error, or the last would silently win.
	most     int
	parse    func(string) (T, error)
	kind     string // shown in --help
	cased    bool   // whether case matters
	standard string // the default that --help shows
}

// Set implements pflag.Value.
func (s *several[T]) Set(text string) error {
	if s.most > 1 && len(s.values) == s.most {
		return fmt.Errorf("it is given more than %d times", s.most)
	}
	if s.most == 1 && len(s.values) == 1 {
		return errors.New("it is given twice; this verb takes one pattern, bench run compares " +
			"several")
	}
	value, text, err := folded(s.parse, text, s.cased)
	if err != nil && s.joined(text) {
		if s.most == 1 {
			return errors.New("it takes one value here; bench run compares several")
		}
		return errors.New("want one value; give the flag once for each")
	}
	if err == nil && slices.ContainsFunc(s.values, func(v T) bool {
		return fmt.Sprint(v) == fmt.Sprint(value)
	}) {
		return errors.New("it is given twice: leave one out")
	}
	s.values, s.texts = append(s.values, value), append(s.texts, text)
	return err
}

// joined reports whether text is several valid values with commas.
func (s *several[T]) joined(text string) bool {
	parts := strings.Split(text, ",")
	return len(parts) > 1 && !slices.ContainsFunc(parts, func(part string) bool {
		_, _, err := folded(s.parse, strings.TrimSpace(part), s.cased)
		return part == "" || err != nil
	})
}

func (s *several[T]) several() {} // beStrict looks for it

func (s *several[T]) or(otherwise T) T { return append(s.values, otherwise)[0] }

// String implements pflag.Value.
func (s *several[T]) String() string { return s.standard }

// Type implements pflag.Value.
func (s *several[T]) Type() string { return s.kind }

// geometryFlags override this CPU's caches, in Cachegrind's form.
type geometryFlags struct{ i1, d1, ll parsed[simcache.Geometry] }

func (g *geometryFlags) add(flags *pflag.FlagSet) {
	for _, f := range []struct {
		name, what string
		value      *parsed[simcache.Geometry]
	}{
		{"I1", "level-1 instruction cache, which patterns of data do not use", &g.i1},
		{"D1", "level-1 data cache", &g.d1},
		{"LL", "last-level cache", &g.ll},
	} {
		f.value.parse, f.value.kind = simcache.ParseGeometry, "size,assoc,line"
		flags.Var(f.value, f.name, "simulated "+f.what+", such as 32KiB,8,64; default: this CPU's")
	}
}

func (g *geometryFlags) config(caches []cpu.Cache) simcache.Config {
	c := cpu.Choose(caches)
	for _, f := range []struct {
		flag     *parsed[simcache.Geometry]
		geometry *simcache.Geometry
		source   *simcache.Source
	}{{&g.i1, &c.I1, &c.I1Source}, {&g.d1, &c.Levels[0].Geometry, &c.Levels[0].Source},
		{&g.ll, &c.Levels[1].Geometry, &c.Levels[1].Source}} {
		if f.flag.set {
			*f.geometry, *f.source = f.flag.value, simcache.FromFlag
		}
	}
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
	from, to    parsed[layouts.Tag]
	dtype       several[layouts.DType]
	view        several[layouts.Chain]
	pad         several[int]
	tile        several[[]int]
	order       several[access.Order]
	kernel      several[access.Kernel]
}

func repeated(most int) string { return map[int]string{0: "; several are compared"}[most] }

// add adds all flags. Flags of a sweep may be given most times; 0 means any number.
func (p *patternFlags) add(flags *pflag.FlagSet, most int, ops string) {
	repeated := repeated(most)
	p.addTensor(flags, most)
	p.addOp(flags, most, ops)
	p.tile = several[[]int]{most: most, parse: parseTile, kind: "shape"}
	p.order = several[access.Order]{most: most, parse: access.ParseOrder, kind: "order",
		standard: "row"}
	p.kernel = several[access.Kernel]{most: most, parse: access.ParseKernel, kind: "kernel",
		standard: "scalar"}
	flags.Var(&p.tile, "tile", "tiles in which the view is walked, such as 32x32; a size for "+
		"each of its dims, or none"+repeated)
	flags.Var(&p.order, "order", orderUsage+repeated)
	flags.Var(&p.kernel, "kernel", kernelUsage+kernel.Names(
		kernel.All())+" (this CPU runs "+kernel.Names(kernel.Sets())+")"+repeated)
}

const (
	anyOp = "sum, fill, copy, add, chase or reorder"
	nests = "sum, fill, copy, add or reorder" // chase has no nest of loops
)

func (p *patternFlags) addOp(flags *pflag.FlagSet, most int, ops string) {
	p.with = parsed[[]int]{parse: layouts.ParseShape, kind: "shape"}
	p.op = parsed[access.Op]{parse: access.ParseOp, kind: "op", text: "sum"}
	if ops == nests { // the error of an unknown name omits chase too
		p.op.parse = func(text string) (access.Op, error) {
			op, err := access.ParseOp(text)
			if err != nil {
				err = errors.New(strings.Replace(err.Error(), access.Chase.String()+", ", "", 1))
			}
			return op, err
		}
	}
	chase := map[bool]string{true: "chase reads int64 elements in a random order, each the place " +
		"of the next, "}[ops == anyOp]
	flags.Var(&p.op, "op", ops+"; sum reads, fill writes, copy writes a fresh contiguous tensor, "+
		"add (--with, broadcast) a fresh tensor; "+chase+"reorder converts between formats "+
		"(--from, --to)")
	p.pad = several[int]{most: most, parse: strconv.Atoi, kind: "int", standard: "0"}
	flags.Var(&p.pad, "pad", "elements between the tensor's rows; these run along its last dim"+repeated(most))
	flags.Var(&p.with, "with", "sizes of the tensor that --op add adds, such as 1x4000")
	p.from, p.to = formatFlag(), formatFlag()
	flags.Var(&p.from, "from", "format of oneDNN in which the tensor is stored; such as abcd or "+
		"nChw16c, with --op sum, fill or reorder")
	flags.Var(&p.to, "to", "format that --op reorder makes of it, such as ABcd16b16a2b")
}

// formatFlag returns a flag for a memory format, such as nChw16c. All capitals are accepted too, as
// in NCHW.
func formatFlag() parsed[layouts.Tag] {
	return parsed[layouts.Tag]{parse: layouts.ParseTag, kind: "tag", cased: true}
}

func (p *patternFlags) addTensor(flags *pflag.FlagSet, most int) {
	p.shape = parsed[[]int]{parse: layouts.ParseShape, kind: "shape"}
	p.dtype = several[layouts.DType]{most: most, parse: layouts.ParseDType, kind: "dtype",
		standard: "float32"}
	p.view = several[layouts.Chain]{most: most, parse: parseView, kind: "chain", cased: true}
	flags.Var(&p.shape, "shape", "sizes of the tensor, such as 4000x4000; it is stored contiguous")
	flags.Var(&p.dtype, "dtype", "type of its elements, such as int32; one of "+strings.Join(
		layouts.DTypeNames(), ", ")+repeated(most))
	flags.Var(&p.view, "view", "view operations, as in PyTorch, such as 'x[:, ::2].T'; a chain "+
		"of them, such as 'transpose(0,1).narrow(1,0,100)' ('bench help layout' lists them), "+
		"or none"+repeated(most))
}

// parseView parses a chain of views, or "none", as in files of benchmarks.
func parseView(text string) (layouts.Chain, error) {
	if text == "none" {
		text = ""
	}
	return layouts.ParseChain(text)
}

const orderUsage = "row, col, torch, or dims such as 1,0; the order in which the view's dims are " +
	"walked; torch is PyTorch 1.13's; from and to are the orders in memory of two formats"

const kernelUsage = "what walks it, such as scalar or avx2; scalar is a plain loop in --order, " +
	"builtin is Go's copy; the vector kernels are "

var errNoShape = errors.New("--shape is missing (such as --shape 4000x4000)")

func (p *patternFlags) product() (sweep.Product, error) {
	switch {
	case !p.shape.set:
		return sweep.Product{}, errNoShape
	case p.op.value == access.Add && !p.with.set:
		return sweep.Product{}, errors.New("--op add wants the shape of the second tensor (such " +
			"as --with 1x4000)")
	case p.op.value != access.Add && p.with.set:
		return sweep.Product{}, fmt.Errorf("--with %s goes with --op add", p.with.text)
	}
	spec := access.Spec{Op: p.op.value, Shape: p.shape.value, With: p.with.value,
		DType: layouts.Float32, From: p.from.value, To: p.to.value}
	return sweep.Product{Spec: spec, DTypes: p.dtype.values, Pads: p.pad.values,
		Views: p.view.values, Tiles: p.tile.values,
		Orders: p.order.values, Kernels: p.kernel.values}, nil
}

// parseTile reads sizes as layouts.ParseShape does, or "none", which is nil.
func parseTile(text string) ([]int, error) {
	if text == "none" {
		return nil, nil
	}
	return layouts.ParseShape(text)
}

func (p *patternFlags) spec() (access.Spec, error) {
	s, err := p.product()
	return s.Specs()[0], err
}

// texts returns the flags as they were given, for another program.
func (p *patternFlags) texts() (flags []string) {
	for _, flag := range []struct {
		name  string
		texts []string
	}{{"shape", []string{p.shape.text}}, {"op", []string{p.op.text}},
		{"with", []string{p.with.text}}, {"from", []string{p.from.text}},
		{"to", []string{p.to.text}},
		{"dtype", p.dtype.texts}, {"pad", p.pad.texts}, {"view", p.view.texts},
		{"tile", p.tile.texts}, {"order", p.order.texts}, {"kernel", p.kernel.texts}} {
		for _, text := range flag.texts {
			if text != "" {
				flags = append(flags, "--"+flag.name+"="+text)
			}
		}
	}
	return flags
}

// atFlag prefixes an error of a spec, a plan or a filter with the flag at fault.
func atFlag(err error) error {
	_, ofSpec := errors.AsType[*access.FieldError](err) // fields have the flags' names
	if _, ofPasses := errors.AsType[*simcache.PassesError](err); ofSpec || ofPasses {
		return fmt.Errorf("--%w%s", err, insteadOfCopy(err))
	}
	if _, ok := errors.AsType[*results.FilterError](err); ok {
		return fmt.Errorf("--filter %w", err)
	}
	return err
}

// atPages prefixes an error with --pages if such pages could not be had.
func atPages(err error) error {
	if e, ok := errors.AsType[*access.FieldError](err); ok && e.Field == "pages" {
		return atFlag(e)
	}
	return err
}

// insteadOfCopy suggests an alternative to a view that copies.
func insteadOfCopy(err error) string {
	if _, copies := errors.AsType[*layouts.CopyError](err); !copies {
		return ""
	}
	if e, ok := errors.AsType[*layouts.FormatError](err); ok {
		switch e.Format {
		case layouts.ChannelsLast:
			return ": time the copy with --view 'permute(0,2,3,1)' --op copy, or walk its " +
				"result: --shape NxHxWxC --view 'permute(0,3,1,2)'"
		case layouts.ChannelsLast3d:
			return ": time the copy with --view 'permute(0,2,3,4,1)' --op copy, or walk its " +
				"result: --shape NxDxHxWxC --view 'permute(0,4,1,2,3)'"
		}
	}
	return ": time the copy with --op copy and the views before it, or walk its result: its own " +
		"sizes as --shape"
}

func checkBy(label string) error {
	if label == "" {
		return nil
	}
	if err := results.CheckLabel(label); err != nil {
		return fmt.Errorf("--by %s: %w", label, err)
	}
	return nil
}

func exclude(c call, flag, other string) error {
	if c.given(flag) && c.given(other) {
		return fmt.Errorf("--%s and --%s exclude each other: give one of them", flag, other)
	}
	return nil
}

func positive(flag string, value int) error {
	if value < 1 {
		return fmt.Errorf("--%s %d: want at least 1", flag, value)
	}
	return nil
}
