package main

import (
	"bytes"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/results/export"
)

// noCopies refuses a file of which another one has all results, if these are timed: simulated ones are the same of each run.
func noCopies(set *results.Set) error {
	files := set.Files()
	var lines []map[string]int // of each file, how often it has a result
	timed := make([]int, len(files))
	for i, file := range files {
		lines = append(lines, map[string]int{})
		for _, r := range file.Results {
			if _, ok := r.Value("sec/op"); ok {
				lines[i][fmt.Sprint(r.Name, r.Iters, r.Values)]++
				timed[i]++
			}
		}
	}
	for i := range files {
		for j := range files {
			if i == j || timed[i] == 0 || timed[i] > timed[j] || timed[i] == timed[j] && i < j {
				continue
			}
			copied := true
			for line, n := range lines[i] {
				copied = copied && lines[j][line] >= n
			}
			if copied {
				return fmt.Errorf("%s: %s has all of its results, and they would count twice: leave one of the two out", files[i].Name, files[j].Name)
			}
		}
	}
	return nil
}

func newExport() *cobra.Command {
	format := oneOf("format", "csv", "jsonl", "github-action-benchmark", "bencher")
	var out string
	cmd := &cobra.Command{
		Use:   "export FILE...",
		Short: "Write results as CSV, JSON lines, or for a service that tracks benchmarks",
		Args:  someFiles,
		RunE: func(cmd *cobra.Command, paths []string) error {
			if err := eachOnce(paths); err != nil {
				return err
			}
			var text bytes.Buffer
			set, err := results.ReadBy(callOf(cmd).textOf, paths...)
			if err != nil {
				return err
			}
			records, err := export.Records(set)
			if err != nil {
				return err
			}
			if err := export.Of(set, records); err != nil {
				return err
			}
			if err := noCopies(set); err != nil {
				return err
			}
			err = export.Formats[format.value](&text, records)
			return writeOut(cmd.OutOrStdout(), out, text.Bytes(), err)
		},
	}
	cmd.Flags().Var(&format, "format", "csv, jsonl, github-action-benchmark or bencher")
	cmd.Flags().StringVarP(&out, "out", "o", "", "`file` to write instead of stdout")
	return cmd
}
