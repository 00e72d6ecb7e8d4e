package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stridebench/stridebench/reports"
	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/results/fleet"
	"github.com/stridebench/stridebench/results/merge"
	"github.com/stridebench/stridebench/results/noise"
	"github.com/stridebench/stridebench/results/outfile"
	"github.com/stridebench/stridebench/results/show"
)

type reportFlags struct {
	dir, history string
	by           parsed[string]
	theme        parsed[reports.Theme]
}

func newReport() *cobra.Command {
	f := reportFlags{theme: oneOf("theme", reports.Light, reports.Dark)}
	cmd := verb("report FILE...", "Draw charts of results and report the findings", someFiles,
		f.run)
	cmd.Flags().StringVarP(&f.dir, "out", "o", filepath.Join("out", "report"), "")
	cmd.Flags().Var(&f.theme, "theme", "")
	f.by.add(cmd.Flags(), "by", "label", parseBy)
	cmd.Flags().StringVar(&f.history, "history", "", "")
	return cmd
}

func (f *reportFlags) run(c call, paths []string) error {
	if err := exclude(c, "by", "history"); err != nil {
		return err
	}
	dir := f.dir
	name, endings := filepath.Base(dir), []string{".png", ".svg", ".html", ".md", ".pdf"}
	if name == "index.html" || name == "fleet.html" {
		dir = filepath.Dir(dir) // --out may name the page in it
	} else if _, err := os.Stat(dir); err != nil && slices.Contains(endings, filepath.Ext(name)) {
		return fmt.Errorf("--out %s: want a folder, for all charts and their page", f.dir)
	}
	options := reports.Options{Command: commandLine()}
	if f.theme.set {
		options.Theme = f.theme.value // otherwise the page follows the reader's system
	}
	if f.by.set {
		return reportFleet(c, paths, f.by.value, dir, options)
	}
	if err := eachOnce(paths); err != nil {
		return err
	}
	set, err := results.ReadBy(c.textOf, paths...)
	if err == nil {
		err = set.CheckValues()
	}
	if err != nil {
		return err
	}
	if err := set.Complete(); err != nil {
		c.note("%v", err)
	}
	if f.history != "" {
		if _, options.History, err = entries(c, f.history); err != nil {
			return err
		}
	}
	options.Begin = func(charts int) func() { return c.meter.Begin("drawing", charts) }
	report, err := reports.Make(set, options)
	if errors.Is(err, reports.ErrNothing) {
		return fmt.Errorf("%s: %w", strings.Join(paths, ", "), err)
	}
	if err != nil {
		return err
	}
	written, err := report.Write(dir)
	if err != nil {
		return err
	}
	var said strings.Builder
	report.WriteFindings(&said)
	fmt.Fprintf(&said, "page: %s (with %s as PNG and SVG, and summary.md)\n",
		written[len(written)-1], counted(len(report.Charts), "chart"))
	if err := c.print(said.String()); err != nil {
		return err
	}
	if note := noise.Scattered(report.Rows); note != "" {
		c.note("%s", note)
	}
	return nil
}

func reportFleet(c call, paths []string, by, dir string, options reports.Options) error {
	paths, err := merge.Find(paths, "")
	if err != nil {
		return err
	}
	matrix, err := fleet.Read(by, c.in, c.meter.Begin("reading "+counted(len(paths), "file"),
		len(paths)), paths...)
	if lacks, ok := errors.AsType[*fleet.NoLabelError](err); ok {
		return fmt.Errorf("--by %s: %w", by, lacks)
	}
	if err != nil {
		return err
	}
	if matrix.Copies != nil {
		c.note("ignored, as other files have all their results: %s",
			strings.Join(matrix.Copies, ", "))
	}
	page := reports.MakeFleet(matrix, options)
	written, err := page.Write(dir)
	if err != nil {
		return err
	}
	said := show.Printable(page.Sentence) + "\n"
	for _, f := range page.Findings {
		said += show.Printable(fmt.Sprintf("%s: %s (%s)", f.Machine, f.What, f.Why)) + "\n"
	}
	return c.print(said + strings.Join(written, "\n") + "\n")
}

// eachOnce refuses folders, and files whose samples would count twice.
func eachOnce(paths []string) error {
	for i, path := range paths {
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			return fmt.Errorf("%s is a folder: want files of results (a folder goes with report "+
				"--by LABEL, such as host)", path)
		}
		for _, other := range paths[:i] {
			if !outfile.Distinct(path, other) {
				return fmt.Errorf("%s is given twice: its samples would count as twice as many",
					path)
			}
		}
	}
	return nil
}
