package main

import (
	"cmp"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/session/progress"
	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/reports"
	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/explain"
	"github.com/stridebench/stridebench/simcache/missmap"
)

type lookFlags struct {
	file  string // of --map, or inText
	steps int
}

// inText is the value of --map without a file.
const inText = "text"

// mostMaps is how many orders one picture compares.
const mostMaps = 2

func (f *lookFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.file, "map", "", "")
	flags.Lookup("map").NoOptDefVal = inText
	flags.IntVar(&f.steps, "steps", 0, "")
}

func (f *lookFlags) wanted() bool { return f.file != "" || f.steps > 0 }

func (f *lookFlags) check(c call, orders []string) error {
	const others = "json out cachegrind-out curve explain observe writebacks tlb threads cores"
	switch {
	case len(orders) > 1 && f.file == "":
		return fmt.Errorf("--order %s: it is given twice, which goes with --map; bench run "+
			"compares several", orders[1])
	case c.given("steps") && f.steps < 1:
		return positive("steps", f.steps)
	case f.file != "" && f.file != inText:
		if err := reports.CheckPicture(f.file); err != nil {
			return err
		}
	}
	return cmp.Or(exclude(c, "map", others+" steps"), exclude(c, "steps", others))
}

type walked struct {
	name    string
	program nest.Program
	arrays  []nest.Array
}

func (f *simFlags) lookAtPattern(c call, config simcache.Config, spec access.Spec) error {
	var walks []walked
	for i := range max(1, len(f.pattern.order.values)) {
		var w walked
		if len(f.pattern.order.values) > 1 {
			spec.Order, w.name = f.pattern.order.values[i], "order "+f.pattern.order.texts[i]
		}
		p, err := spec.Pattern()
		if err != nil {
			return atFlag(err)
		}
		w.program = nest.Sequence(p.Nests...)
		w.arrays, _ = p.Arrays(true)
		walks = append(walks, w)
	}
	title := fmt.Sprintf("Walk (%v) of %s %v", spec.Op, layouts.FormatShape(spec.Shape), spec.DType)
	if view := spec.View.String(); view != "" {
		title += ", " + view
	}
	return f.look.at(c, config, f.passes, title, walks...)
}

func (f *lookFlags) at(c call, config simcache.Config, passes int, title string,
	walks ...walked) error {
	if err := c.print(explain.Heading(config, false)); err != nil {
		return err
	}
	if f.steps > 0 {
		return missmap.WriteSteps(c.out, config, walks[0].program, walks[0].arrays, f.steps)
	}
	most := missmap.InText
	if f.file != inText {
		most = reports.InPicture
	}
	var maps []missmap.Map
	for _, w := range walks {
		m, err := missmap.Of(config, passes, w.program, w.arrays, most)
		if err != nil {
			return fmt.Errorf("--map: %w", err)
		}
		m.Name = w.name
		maps = append(maps, m)
	}
	if f.file != inText {
		chart, err := reports.DrawMaps(title+": where it misses", maps)
		if err := draw(f.file, chart, err); err != nil {
			return err
		}
		return c.print(strings.ReplaceAll(chart.Sentence, ". ", ".\n") + "\n")
	}
	for i, m := range maps {
		if i > 0 {
			fmt.Fprintln(c.out)
		}
		if err := m.Write(c.out, progress.Bars(c.out) && os.Getenv("NO_COLOR") == ""); err != nil {
			return err
		}
	}
	return nil
}
