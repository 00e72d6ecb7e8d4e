package main

import (
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/reuse"
	"github.com/stridebench/stridebench/simcache/trace"
)

const curveHelp = `With --curve, the misses of LRU caches of every capacity follow, from the same
pass: fully associative ones, or with --curve-sets those of one set count and
every associativity. Shown are the powers of two at which the misses change, the
knees (the curve falls to here, and hardly on to the next power of two), and the
capacities of D1 and LL.`

const curveExample = `  # how much cache a pass by columns needs
  bench sim --shape 4000x4000 --dtype int32 --order col --curve`

// curveFlags are the flags of a miss-ratio curve.
type curveFlags struct {
	on   bool
	sets int
}

func (c *curveFlags) add(flags *pflag.FlagSet) {
	flags.BoolVar(&c.on, "curve", false, "print the misses of LRU caches of every capacity too")
	flags.IntVar(&c.sets, "curve-sets", 1, "sets of these caches, of every associativity; with 1 they are fully associative")
}

// A curve is the miss-ratio curve of a simulation; nil if none is asked for.
type curve struct {
	stacks *reuse.Stacks
	line   int
	sets   int
	config simcache.Config
}

// start returns the curve that the flags ask for, of lines as D1 has them.
func (c *curveFlags) start(cmd *cobra.Command, config simcache.Config) (*curve, error) {
	if !c.on {
		if cmd.Flags().Changed("curve-sets") {
			return nil, fmt.Errorf("--curve-sets %d goes with --curve", c.sets)
		}
		return nil, nil
	}
	stacks, err := reuse.New(config.First().Line, c.sets)
	if err != nil {
		return nil, fmt.Errorf("--curve-sets %d: %w", c.sets, err)
	}
	return &curve{stacks, config.First().Line, c.sets, config}, nil
}

// run counts passes over nests.
func (c *curve) run(passes int, nests []nest.Nest) error {
	if c == nil {
		return nil
	}
	for range passes {
		for _, n := range nests {
			if err := c.stacks.Run(n); err != nil {
				return err
			}
		}
	}
	return nil
}

// watch counts the data accesses of a trace as it passes, clipped as
// trace.Replay clips them. Cachegrind's quirk, by which block 0 hits in a cold
// cache, is none of the curve's.
func (c *curve) watch(records iter.Seq2[trace.Record, error]) iter.Seq2[trace.Record, error] {
	if c == nil {
		return records
	}
	line := min(c.config.First().Line, c.config.Last().Line)
	if i1 := c.config.I1.Line; i1 > 0 { // a config file may have none
		line = min(line, i1)
	}
	return func(yield func(trace.Record, error) bool) {
		for r, err := range records {
			if err == nil && r.Kind != trace.Fetch {
				c.stacks.Access(nest.Read, r.Addr, min(r.Size, line)) // reads and writes count alike
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

// jsonCurve is the curve as --json has it. Capacities and distances are in
// lines of a set.
type jsonCurve struct {
	Line      int         `json:"line"`
	Sets      int         `json:"sets"`
	Refs      uint64      `json:"refs"`
	Cold      uint64      `json:"cold"`
	Lines     uint64      `json:"lines"`
	Points    []jsonPoint `json:"points"`
	Distances []reuse.Bin `json:"distances"`
}

type jsonPoint struct {
	Capacity uint64   `json:"capacity"`
	Bytes    uint64   `json:"bytes"`
	Misses   uint64   `json:"misses"`
	Ratio    float64  `json:"ratio"`
	Marks    []string `json:"marks,omitempty"`
}

func (c *curve) json() *jsonCurve {
	if c == nil {
		return nil
	}
	of := c.stacks.Curve()
	j := &jsonCurve{c.line, c.sets, of.Refs, of.Cold, of.Lines, []jsonPoint{}, of.Distances}
	if j.Distances == nil {
		j.Distances = []reuse.Bin{}
	}
	marks := c.marks()
	for _, p := range of.Points(slices.Collect(maps.Keys(marks))...) {
		names := marks[p.Capacity]
		if p.Knee {
			names = append(names, "knee")
		}
		j.Points = append(j.Points, jsonPoint{p.Capacity, p.Capacity * uint64(c.sets*c.line), p.Misses,
			float64(p.Misses) / float64(max(of.Refs, 1)), names})
	}
	return j
}

// marks names the capacities that D1 and LL have, where the curve has them: any
// for a fully associative one, else those with its sets and lines.
func (c *curve) marks() map[uint64][]string {
	marks := map[uint64][]string{}
	for _, n := range []struct {
		name string
		g    simcache.Geometry
	}{{"D1", c.config.First().Geometry}, {"LL", c.config.Last().Geometry}} {
		capacity := uint64(n.g.Size / c.line)
		if c.sets > 1 {
			if n.g.Sets() != c.sets || n.g.Line != c.line {
				continue
			}
			capacity = uint64(n.g.Ways)
		}
		marks[capacity] = append(marks[capacity], n.name)
	}
	return marks
}

// print writes the curve as a table.
func (c *curve) print(w io.Writer) error {
	if c == nil {
		return nil
	}
	j := c.json()
	shape, unit := "fully associative", "lines"
	if j.Sets > 1 {
		shape, unit = fmt.Sprintf("%d sets", j.Sets), "ways"
	}
	english.Fprintf(w, "\nLRU, %s, lines of %d B: %d refs to %d lines (%s), %d cold misses\n",
		shape, j.Line, j.Refs, j.Lines, results.Bytes(int(j.Lines)*j.Line), j.Cold)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	english.Fprintf(t, "capacity\t%s\tmisses\tmiss ratio\t\n", unit)
	for _, p := range j.Points {
		english.Fprintf(t, "%s\t%d\t%d\t%.2f%%\t", results.Bytes(int(p.Bytes)), p.Capacity, p.Misses, 100*p.Ratio)
		if len(p.Marks) > 0 {
			english.Fprintf(t, "  %s", strings.Join(p.Marks, ", "))
		}
		english.Fprintf(t, "\n")
	}
	return t.Flush()
}
