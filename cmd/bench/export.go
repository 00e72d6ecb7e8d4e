package main

import (
	"bytes"

	"github.com/spf13/cobra"

	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/results/export"
)

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
			err = export.Formats[format.value](&text, records)
			return writeOut(cmd.OutOrStdout(), out, text.Bytes(), err)
		},
	}
	cmd.Flags().Var(&format, "format", "csv, jsonl, github-action-benchmark or bencher")
	cmd.Flags().StringVarP(&out, "out", "o", "", "`file` to write instead of stdout")
	return cmd
}
