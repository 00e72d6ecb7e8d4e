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
	cmd := verb("export FILE...",
		"Write results as CSV, JSON lines, or for a service that tracks benchmarks", someFiles,
		func(c call, paths []string) error {
			if err := eachOnce(paths); err != nil {
				return err
			}
			set, err := results.ReadBy(c.textOf, paths...)
			if err != nil {
				return err
			}
			records, err := export.Records(set)
			if err == nil {
				err = export.Of(set, records)
			}
			if err != nil {
				return err
			}
			var text bytes.Buffer
			err = export.Formats[format.value](&text, records)
			return writeOut(c.out, out, text.Bytes(), err)
		})
	cmd.Flags().Var(&format, "format", "")
	cmd.Flags().StringVarP(&out, "out", "o", "", "")
	return cmd
}
