package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

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
	cmd.PersistentFlags().StringVar(&dir, "dir", "history", "")
	cmd.AddCommand(newHistoryAdd(&dir), newHistoryList(&dir), newHistoryShow(&dir),
		newHistoryTrend(&dir), newHistoryExport(&dir))
	return cmd
}

func newHistoryAdd(dir *string) *cobra.Command {
	var commit string
	var date parsed[time.Time]
	cmd := verb("add FILE...", "Put results into the history", someFiles,
		func(c call, files []string) error {
			store := history.Open(*dir)
			for _, file := range files {
				text, err := c.textOf(file)
				if err != nil {
					return err
				}
				entry, added, err := store.Add(file, text, commit, date.value)
				if err != nil {
					return addFault(c, file, err)
				}
				for _, doubt := range entry.Doubts {
					c.warn("%s: %s", file, show.Printable(doubt))
				}
				note := ""
				if !added {
					note = " (was there)"
				}
				fmt.Fprintf(c.out, "%s%s\n", filepath.Join(*dir, entry.File), note)
			}
			return nil
		})
	cmd.Flags().StringVar(&commit, "commit", "", "")
	date.add(cmd.Flags(), "date", "time", history.ParseTime)
	return cmd
}

func addFault(c call, file string, err error) error {
	origin, ok := errors.AsType[history.OriginError](err)
	switch {
	case ok && c.given(origin.Key):
		return fmt.Errorf("--%w", err) // err begins with the key
	case ok:
		return fmt.Errorf("%s: %w (a build without git's stamp names none; --commit \"$(git "+
			"rev-parse HEAD)\" and --date set them)", file, err)
	}
	return err // err names the file
}

// entries reads a history and notes damaged entries. An empty history is an error.
func entries(c call, dir string) (*history.Store, []history.Entry, error) {
	store := history.Open(dir)
	list, damaged, err := store.Entries()
	if err != nil {
		return nil, nil, err
	}
	for _, d := range damaged {
		c.note("%s", show.Printable(d.Error()))
	}
	if len(list) == 0 {
		return nil, nil, fmt.Errorf("%s: no entry of a history there (bench history add puts "+
			"one)", dir)
	}
	return store, list, nil
}

// A shown is what a verb of the history prints, as JSON or in words.
type shown struct {
	json  any
	write func(io.Writer) error
}

// newHistoryVerb returns a verb that prints something of the entries, in one of two formats.
func newHistoryVerb(dir *string, use, short string, args cobra.PositionalArgs,
	of func(list []history.Entry, args []string) (shown, error)) *cobra.Command {
	format := oneOf("format", "text", "json")
	cmd := verb(use, short, args, func(c call, args []string) error {
		_, list, err := entries(c, *dir)
		if err != nil {
			return err
		}
		s, err := of(list, args)
		switch {
		case s.write == nil:
			return err
		case format.value == "json":
			return cmp.Or(writeJSON(c.out, s.json), err)
		}
		return cmp.Or(c.tables(s.write), err)
	})
	cmd.Flags().Var(&format, "format", "")
	return cmd
}

func newHistoryList(dir *string) *cobra.Command {
	return newHistoryVerb(dir, "list", "Print the entries, by time", noArgs,
		func(list []history.Entry, _ []string) (shown, error) {
			return shown{history.Listed(list), func(w io.Writer) error {
				return history.WriteList(w, list)
			}}, nil
		})
}

func newHistoryShow(dir *string) *cobra.Command {
	return newHistoryVerb(dir, "show NAME", "Print what a benchmark was at each commit",
		takes(1, 1, "the name of one benchmark, which bench list prints"),
		func(list []history.Entry, args []string) (shown, error) {
			of := history.Of(list, args[0])
			if len(of) == 0 {
				return shown{}, fmt.Errorf("no entry has the benchmark %q (bench history export "+
					"--format csv has the names of all)", args[0])
			}
			return shown{of, func(w io.Writer) error { return history.WriteSeries(w, of) }}, nil
		})
}

func newHistoryTrend(dir *string) *cobra.Command {
	var alpha float64
	var worse bool
	var by parsed[string]
	threshold := parsed[float64]{value: history.DefaultThreshold, text: "1%"}
	cmd := newHistoryVerb(dir, "trend", "Find the commits since which something changed", noArgs,
		func(list []history.Entry, _ []string) (s shown, err error) {
			if err := checkAlpha(alpha); err != nil {
				return s, err
			}
			trend := history.TrendOf(list, alpha, threshold.value, worse)
			if by.set {
				trend, err = history.TrendBy(list, by.value, alpha, threshold.value, worse)
			}
			if err != nil {
				return s, fmt.Errorf("--by: %w", err)
			}
			if worse && len(trend.Changes) > 0 {
				err = fmt.Errorf("%w: changes for the worse: %d", errCheck, len(trend.Changes))
			}
			return shown{trend.All(), trend.Write}, err
		})
	cmd.Flags().Float64Var(&alpha, "alpha", 0.01, "")
	threshold.add(cmd.Flags(), "threshold", "share", parseShare)
	by.add(cmd.Flags(), "by", "label", parseBy)
	cmd.Flags().BoolVar(&worse, "worse", false, "")
	return cmd
}

func newHistoryExport(dir *string) *cobra.Command {
	format := oneOf("format", "text", "csv", "jsonl")
	var commit, out string
	cmd := verb("export", "Write entries as benchmark text, CSV or JSON lines", noArgs,
		func(c call, _ []string) error {
			store, list, err := entries(c, *dir)
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
			return writeOut(c.out, out, text.Bytes(), err)
		})
	cmd.Flags().Var(&format, "format", "")
	cmd.Flags().StringVar(&commit, "commit", "", "")
	cmd.Flags().StringVarP(&out, "out", "o", "", "")
	return cmd
}
