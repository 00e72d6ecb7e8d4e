package main

import (
	"fmt"

	"github.com/spf13/cobra"
	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchproc"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/results"
)

const filterUsage = "benchmarks to take, in benchproc's filter language, such as '.name:Copy /layout:(transpose OR contiguous)'"

func newList() *cobra.Command {
	var filter string
	var quick bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "Print the names of the suite's benchmarks",
		Long: `list prints the names of the benchmarks that run would run, one a line.

The filter language is that of benchstat: .name:Traverse takes a family,
/order:col those with that key in their name, values may be /regexps/, and
terms combine by spaces (and), OR, - (not) and parentheses.`,
		Example: `  bench list
  bench list --filter '.name:Traverse /shape:4000x4000'
  bench list --filter '/layout:/^n/ OR /step:16'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			suite, err := filtered(access.Suite(quick), filter)
			if err != nil {
				return err
			}
			for _, c := range suite {
				for _, b := range c {
					fmt.Fprintln(cmd.OutOrStdout(), b.Name)
				}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&filter, "filter", "*", filterUsage)
	cmd.Flags().BoolVar(&quick, "quick", false, "the quick suite")
	return cmd
}

// filtered keeps the benchmarks that match. None matching is an error.
func filtered(suite []access.Comparison, query string) ([]access.Comparison, error) {
	filter, err := benchproc.NewFilter(query)
	if err != nil {
		return nil, fmt.Errorf("--filter %q: %w", query, err)
	}
	var kept []access.Comparison
	for _, c := range suite {
		var some access.Comparison
		for _, b := range c {
			r := &benchfmt.Result{Name: benchfmt.Name(b.Name)}
			for _, u := range results.Units { // or a filter would match no measurement
				r.Values = append(r.Values, benchfmt.Value{Unit: u.Name})
			}
			match, err := filter.Match(r)
			if err != nil {
				return nil, fmt.Errorf("--filter %q: %w", query, err)
			}
			if match.Any() {
				some = append(some, b)
			}
		}
		if some != nil {
			kept = append(kept, some)
		}
	}
	if kept == nil {
		return nil, fmt.Errorf("--filter %q: no benchmark matches (bench list prints their names)", query)
	}
	return kept, nil
}
