package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stridebench/stridebench/access/session/progress"
	"github.com/stridebench/stridebench/reports"
	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/results/fleet"
	"github.com/stridebench/stridebench/results/merge"
	"github.com/stridebench/stridebench/results/noise"
	"github.com/stridebench/stridebench/results/show"
)

func newReport() *cobra.Command {
	var dir, from, by string
	theme := oneOf("theme", reports.Light, reports.Dark)
	cmd := &cobra.Command{
		Use:   "report FILE...",
		Short: "Draw charts of results and report the findings",
		Args:  someFiles,
		RunE: func(cmd *cobra.Command, paths []string) error {
			c := callOf(cmd)
			dir, err := folderOf(dir, by)
			if err != nil {
				return err
			}
			options := reports.Options{Command: commandLine()}
			if theme.set {
				options.Theme = theme.value // otherwise the page follows the reader's system
			}
			if err := checkBy(by); err != nil {
				return err
			}
			if by != "" {
				return reportFleet(c, paths, by, dir, options)
			}
			if err := errors.Join(eachOnce(paths), noFolder(paths)); err != nil {
				return err
			}
			set, err := results.ReadBy(c.textOf, paths...)
			if err != nil {
				return err
			}
			if err := set.CheckValues(); err != nil {
				return err
			}
			if err := set.Complete(); err != nil {
				c.note("%v", err)
			}
			noteApart(c, set)
			if from != "" {
				if _, options.History, err = entries(c, "history", from); err != nil {
					return err
				}
			}
			meter := progress.New(cmd.ErrOrStderr())
			options.Begin = func(charts int) func() { return meter.Begin("drawing", charts) }
			report, err := reports.Make(set, options)
			meter.End()
			if errors.Is(err, reports.ErrNothing) {
				return fmt.Errorf("%s: %w", strings.Join(paths, ", "), err)
			}
			if err != nil {
				return err
			}
			written, err := report.Write(dir)
			if err != nil {
				return fmt.Errorf("--out: %w", err)
			}
			var said strings.Builder
			report.WriteFindings(&said)
			fmt.Fprint(cmd.OutOrStdout(), sentences(cmd.OutOrStdout(), said.String()))
			fmt.Fprintf(cmd.OutOrStdout(), "page: %s (with %s as PNG and SVG, and summary.md)\n",
				written[len(written)-1], counted(len(report.Charts), "chart"))
			if note := noise.Scattered(report.Rows); note != "" {
				c.note("%s", note)
			}
			return nil
		},
	}
	cmd.Flags().StringVarP(&dir, "out", "o", filepath.Join("out", "report"),
		"`folder` for the page, the charts and summary.md")
	cmd.Flags().Var(&theme, "theme", "light or dark (default for the page: as the reader's system)")
	cmd.Flags().StringVar(&by, "by", "", "compare machines by a `label`, such as host, on a page "+
		"of its own: which are out of line, and why; FILE may be a folder")
	cmd.Flags().StringVar(&from, "history", "",
		"draw the trend of a history, a `folder` (bench history add)")
	return cmd
}

func noteApart(c call, set *results.Set) {
	files := set.Files()
	if len(files) != 2 {
		return
	}
	old := files[0].Set.Names()
	for name := range files[1].Set.Names() {
		if old[name] {
			return
		}
	}
	c.note("no benchmark is in both %s and %s: nothing is compared", files[0].Name, files[1].Name)
}

func reportFleet(c call, paths []string, by, dir string, options reports.Options) error {
	if c.given("history") {
		return errors.New("--history does not go with --by (bench history trend --by shows nodes)")
	}
	paths, err := merge.Find(paths, "")
	if err != nil {
		return err
	}
	meter := progress.New(c.err)
	matrix, err := fleet.Read(by, c.in, meter.Begin("reading "+counted(len(paths), "file"),
		len(paths)), paths...)
	meter.End()
	if lacks, ok := errors.AsType[*fleet.NoLabelError](err); ok {
		return fmt.Errorf("--by %s: %w", by, lacks)
	}
	if err != nil {
		return err
	}
	noteCopies(c, matrix.Copies)
	warnOfFaults(c, slices.DeleteFunc(paths, func(path string) bool {
		return slices.Contains(matrix.Copies, path)
	}), by)
	page := reports.MakeFleet(matrix, options)
	written, err := page.Write(dir)
	if err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	said := show.Printable(page.Sentence) + "\n"
	for _, f := range page.Findings {
		said += show.Printable(fmt.Sprintf("%s: %s (%s)", f.Machine, f.What, f.Why)) + "\n"
	}
	fmt.Fprint(c.out, sentences(c.out, said))
	for _, path := range written {
		fmt.Fprintln(c.out, path)
	}
	return nil
}

func noteCopies(c call, files []string) {
	const most = 4
	if len(files) == 0 {
		return
	}
	said := strings.Join(files[:min(len(files), most)], ", ")
	if more := len(files) - most; more > 0 {
		said += fmt.Sprintf(" and %d more", more)
	}
	c.note("ignored, as other files have all their results: %s", said)
}

// warnOfFaults warns of faults that merge would refuse. The report judges machines by the results
// present.
func warnOfFaults(c call, paths []string, by string) {
	const most = 8
	// A single file may be a merge, which records its faults. Stdin is read already.
	if len(paths) < 2 || slices.Contains(paths, "-") {
		return
	}
	plan, err := merge.Read(paths, nil, by, func() {})
	if err != nil { // they are not runs of one suite
		return
	}
	faults := slices.DeleteFunc(plan.Faults, func(fault string) bool {
		return slices.Contains(plan.Merged, fault)
	})
	for _, fault := range faults[:min(len(faults), most)] {
		c.warn("%s", fault)
	}
	if more := len(faults) - most; more > 0 {
		c.warn("and %s more (bench merge --by %s lists all)", counted(more, "fault"), by)
	}
}

// folderOf returns the folder that --out names, directly or by the page in it.
func folderOf(out, by string) (dir string, err error) {
	page := "index.html"
	if by != "" {
		page = "fleet.html"
	}
	info, err := os.Stat(out)
	switch {
	case err == nil && info.IsDir():
		return out, nil
	case filepath.Base(out) == page:
		return filepath.Dir(out), nil
	case err == nil:
		return "", fmt.Errorf("--out %s: it is a file: want a folder", out)
	case slices.Contains([]string{".png", ".svg", ".html", ".md", ".pdf"},
		strings.ToLower(filepath.Ext(out))):
		return "", fmt.Errorf("--out %s: want a folder, such as %s: the page, each chart as PNG "+
			"and SVG, and summary.md are files in it", out,
			strings.TrimSuffix(out, filepath.Ext(out)))
	}
	return out, nil
}

func noFolder(paths []string) error {
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			return fmt.Errorf("%s is a folder: want files of results (a folder goes with --by "+
				"LABEL, such as host)", path)
		}
	}
	return nil
}

func eachOnce(paths []string) error {
	var known []os.FileInfo
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() {
			continue // reading it reports the error; - or a pipe is read once
		}
		if slices.ContainsFunc(known, func(other os.FileInfo) bool {
			return os.SameFile(other, info)
		}) {
			return fmt.Errorf("%s is given twice: its samples would count as twice as many", path)
		}
		known = append(known, info)
	}
	return nil
}
