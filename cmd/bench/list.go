package main

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/session"
	"github.com/stridebench/stridebench/access/workload"
	"github.com/stridebench/stridebench/results"
)

const filterUsage = "benchmarks to take, such as '.name:Copy'; in benchproc's filter language, " +
	"such as '.name:Copy /layout:(transpose OR contiguous)'"

func newList() *cobra.Command {
	var suiteOf suiteFlags
	cmd := &cobra.Command{
		Use:   "list",
		Short: "Print the names of the suite's benchmarks",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			suite, studies, err := suiteOf.read()
			if err != nil {
				return err
			}
			for _, c := range suite {
				for _, b := range c {
					fmt.Fprintln(cmd.OutOrStdout(), b.Name)
				}
			}
			for _, name := range studies {
				fmt.Fprintln(cmd.OutOrStdout(), name)
			}
			return nil
		},
	}
	suiteOf.add(cmd.Flags(), "the quick suite")
	return cmd
}

type suiteFlags struct {
	filter, file string
	quick        bool
	workload     *workload.Workload // of the file
}

func (f *suiteFlags) add(flags *pflag.FlagSet, quickUsage string) {
	flags.StringVar(&f.file, "suite", "", "take the benchmarks of a YAML `file`; instead of the "+
		"default ones (docs/workload.md), - for stdin")
	flags.StringVar(&f.filter, "filter", "*", filterUsage)
	flags.BoolVar(&f.quick, "quick", false, quickUsage)
}

// read returns the filtered suite. All of a file is in its quick suite.
func (f *suiteFlags) read() ([]access.Comparison, []string, error) {
	if f.file == "" {
		m, found, err := files().Own(host())
		if err != nil {
			return nil, nil, err
		}
		var measured []int
		if found {
			measured = m.Capacities()
		}
		return f.filtered(access.Suite(f.quick, measured...), session.Studies())
	}
	text, err := readOnce(f.file)
	var w workload.Workload
	if err == nil {
		w, err = workload.Parse(f.file, text)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("--suite: %w%s", err, kindHint(f.file))
	}
	f.workload = &w
	return f.filtered(w.Comparisons, nil)
}

func (f *suiteFlags) fileFlag() []string {
	if f.file == "" {
		return nil
	}
	return []string{"--suite", f.file}
}

// fault adds the benchmark's place in the file.
func (f *suiteFlags) fault(benchmark string, err error) error {
	if f.workload == nil {
		return fmt.Errorf("%s: %w", benchmark, err)
	}
	return fmt.Errorf("--suite: %w", f.workload.Errorf(benchmark, "%s: %w", benchmark, err))
}

// noUnit refuses to filter a run by unit. Any benchmark may have any unit, so the filter would
// match all or none.
func (f *suiteFlags) noUnit() error {
	filter, err := results.NewFilter(f.filter)
	if err != nil {
		return atFlag(err)
	}
	if filter.NamesUnit() {
		return fmt.Errorf("--filter %q: .unit chooses among results, and a run has none yet: "+
			"leave it out (--times-only simulates nothing), and use it when reading results "+
			"(bench check --filter, benchstat -filter)", f.filter)
	}
	return nil
}

func (f *suiteFlags) filtered(suite []access.Comparison,
	studies []string) ([]access.Comparison, []string, error) {
	suite, studies, err := session.Filter(f.filter, suite, studies)
	if err != nil {
		return nil, nil, atFlag(err)
	}
	return suite, studies, nil
}
