package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/stridebench/stridebench/results/check"
	"github.com/stridebench/stridebench/results/export"
	"github.com/stridebench/stridebench/results/history"
	"github.com/stridebench/stridebench/results/show"
)

func newHistory() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "history",
		Short: "Keep results by commit, and find since when something changed",
		Args:  aVerb,
		RunE:  showHelp,
	}
	cmd.PersistentFlags().StringVar(&dir, "dir", "history", "`folder` of the history")
	cmd.AddCommand(newHistoryAdd(&dir), newHistoryList(&dir), newHistoryShow(&dir),
		newHistoryTrend(&dir), newHistoryExport(&dir))
	return cmd
}

func newHistoryAdd(dir *string) *cobra.Command {
	var commit string
	date := parsed[time.Time]{parse: history.ParseTime, kind: "time"}
	cmd := &cobra.Command{
		Use:   "add FILE...",
		Short: "Put results into the history",
		Args:  someFiles,
		RunE: func(cmd *cobra.Command, files []string) error {
			store := history.Open(*dir)
			for _, file := range files {
				text, err := callOf(cmd).textOf(file)
				if err != nil {
					return err
				}
				entry, added, err := store.Add(file, text, commit, date.value)
				if err != nil {
					return addFault(callOf(cmd), file, err)
				}
				for _, doubt := range entry.Doubts {
					callOf(cmd).warn("%s: %s", file, show.Printable(doubt))
				}
				note := ""
				if !added {
					note = " (was there)"
				}
				fmt.Fprintf(cmd.OutOrStdout(), "%s%s\n", filepath.Join(*dir, entry.File), note)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&commit, "commit", "", "`commit` that the results are of")
	cmd.Flags().Var(&date, "date", "time that the results are of, such as 2026-11-21T07:14:35Z")
	return cmd
}

func addFault(c call, file string, err error) error {
	if _, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("--dir: %w", err)
	}
	if origin, ok := errors.AsType[history.OriginError](err); ok && origin.Key != "" &&
		c.given(origin.Key) {
		return fmt.Errorf("--%w", err) // err begins with the key
	}
	if _, ok := errors.AsType[history.OriginError](err); ok {
		return fmt.Errorf("%s: %w (a build without git's stamp names none; --commit \"$(git "+
			"rev-parse HEAD)\" and --date set them)", file, err)
	}
	return err // err names the file
}

// entries reads a history and notes damaged entries. An empty history is an error.
func entries(c call, flag, dir string) (*history.Store, []history.Entry, error) {
	store := history.Open(dir)
	list, damaged, err := store.Entries()
	if err != nil {
		return nil, nil, fmt.Errorf("--%s: %w", flag, err)
	}
	for _, d := range damaged {
		c.note("%s", show.Printable(d.Error()))
	}
	if len(list) == 0 {
		return nil, nil, fmt.Errorf("--%s %s: no entry of a history there (bench history add "+
			"puts one)", flag, dir)
	}
	return store, list, nil
}

func newHistoryList(dir *string) *cobra.Command {
	format := oneOf("format", "text", "json")
	cmd := &cobra.Command{
		Use:   "list",
		Short: "Print the entries, by time",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, list, err := entries(callOf(cmd), "dir", *dir)
			if err != nil {
				return err
			}
			if format.value == "json" {
				return writeJSON(cmd.OutOrStdout(), history.Listed(list))
			}
			return writeTables(cmd.OutOrStdout(), func(w io.Writer) error {
				return history.WriteList(w, list)
			})
		},
	}
	cmd.Flags().Var(&format, "format", "text or json")
	return cmd
}

func newHistoryShow(dir *string) *cobra.Command {
	format := oneOf("format", "text", "json")
	cmd := &cobra.Command{
		Use:   "show NAME",
		Short: "Print what a benchmark was at each commit",
		Args:  oneName,
		RunE: func(cmd *cobra.Command, args []string) error {
			_, list, err := entries(callOf(cmd), "dir", *dir)
			if err != nil {
				return err
			}
			of := history.Of(list, args[0])
			if len(of) == 0 {
				return fmt.Errorf("no entry has the benchmark %q%s", args[0],
					nameHint(list, args[0]))
			}
			if format.value == "json" {
				return writeJSON(cmd.OutOrStdout(), of)
			}
			return writeTables(cmd.OutOrStdout(), func(w io.Writer) error {
				return history.WriteSeries(w, of)
			})
		},
	}
	cmd.Flags().Var(&format, "format", "text or json")
	return cmd
}

// nameHint suggests benchmarks with the same beginning or a similar spelling.
func nameHint(entries []history.Entry, typed string) string {
	const most = 3
	var names []string
	for _, e := range entries {
		for _, r := range e.Records {
			names = append(names, strings.TrimPrefix(r.Name, "Benchmark"))
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	meant := near(strings.TrimPrefix(typed, "Benchmark"), names...)
	if typed == "" || len(meant) == 0 {
		return fmt.Sprintf(" (bench history export --format csv has the names of all, such as %s)",
			show.Printable(names[0]))
	}
	more := ""
	if left := len(meant) - most; left > 0 {
		meant, more = meant[:most], fmt.Sprintf(" (and %d more)", left)
	}
	return fmt.Sprintf(": did you mean %s%s?", show.Printable(strings.Join(meant, " or ")), more)
}

type trendFlags struct {
	alpha     float64
	threshold parsed[float64]
	worse     bool
	by        string
	format    parsed[string]
}

func newHistoryTrend(dir *string) *cobra.Command {
	f := trendFlags{threshold: parsed[float64]{value: history.DefaultThreshold, text: "1%",
		parse: check.ParseShare, kind: "share"}, format: oneOf("format", "text", "json")}
	cmd := &cobra.Command{
		Use:   "trend",
		Short: "Find the commits since which something changed",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := cmp.Or(checkAlpha(f.alpha), checkBy(f.by)); err != nil {
				return err
			}
			_, list, err := entries(callOf(cmd), "dir", *dir)
			if err != nil {
				return err
			}
			trend := history.TrendOf(list, f.alpha, f.threshold.value, f.worse)
			if f.by != "" {
				if trend, err = history.TrendBy(list, f.by, f.alpha, f.threshold.value,
					f.worse); err != nil {
					return fmt.Errorf("--by: %w", err)
				}
			}
			if f.format.value == "json" {
				err = writeJSON(cmd.OutOrStdout(), trend.All())
			} else {
				err = writeTables(cmd.OutOrStdout(), trend.Write)
			}
			if err != nil || !f.worse || len(trend.Changes) == 0 {
				return err
			}
			return fmt.Errorf("%w: changes for the worse: %d", errCheck, len(trend.Changes))
		},
	}
	cmd.Flags().Float64Var(&f.alpha, "alpha", 0.01,
		"share of series without a change in which one may be found")
	cmd.Flags().Var(&f.threshold, "threshold",
		"least size of a change, such as 1%; by default, any change of a simulated unit counts")
	cmd.Flags().StringVar(&f.by, "by", "", "find changes of each value of a `label` separately, "+
		"such as of each host; entries of one commit count too")
	cmd.Flags().BoolVar(&f.worse, "worse", false,
		"only changes for the worse; exit 1 if there is one")
	cmd.Flags().Var(&f.format, "format", "text or json")
	return cmd
}

func newHistoryExport(dir *string) *cobra.Command {
	format := oneOf("format", "text", "csv", "jsonl")
	var commit, out string
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Write entries as benchmark text, CSV or JSON lines",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			store, list, err := entries(callOf(cmd), "dir", *dir)
			if err != nil {
				return err
			}
			if list, err = history.OfCommit(list, commit); err != nil {
				return fmt.Errorf("--commit %s: %w", commit, err)
			}
			var text bytes.Buffer
			if format.value == "text" {
				err = store.WriteText(&text, list)
			} else {
				err = export.Formats[format.value](&text, history.Records(list))
			}
			return writeOut(cmd.OutOrStdout(), out, text.Bytes(), err)
		},
	}
	cmd.Flags().Var(&format, "format", "text (for benchstat), csv or jsonl")
	cmd.Flags().StringVar(&commit, "commit", "",
		"only entries of this `commit`, which may be shortened")
	cmd.Flags().StringVarP(&out, "out", "o", "", "`file` to write instead of stdout")
	return cmd
}
