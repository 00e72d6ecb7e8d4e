package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/session"
	"github.com/stridebench/stridebench/access/workload"
)

func newList() *cobra.Command {
	var suiteOf suiteFlags
	cmd := verb("list", "Print the names of the suite's benchmarks", noArgs,
		func(c call, _ []string) error {
			suite, studies, err := suiteOf.read()
			if err != nil {
				return err
			}
			for _, b := range slices.Concat(suite...) {
				fmt.Fprintln(c.out, b.Name)
			}
			for _, name := range studies {
				fmt.Fprintln(c.out, name)
			}
			return nil
		})
	suiteOf.add(cmd.Flags())
	return cmd
}

type suiteFlags struct {
	filter, file string
	quick        bool
	workload     *workload.Workload // of the file
}

func (f *suiteFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.file, "suite", "", "")
	flags.StringVar(&f.filter, "filter", "*", "")
	flags.BoolVar(&f.quick, "quick", false, "")
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
		return nil, nil, err
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

// flags returns the flags as they were given, for another program.
func (f *suiteFlags) flags() []string {
	flags := append([]string{"--filter", f.filter}, f.fileFlag()...)
	if f.quick {
		flags = append(flags, "--quick")
	}
	return flags
}

func (f *suiteFlags) filtered(suite []access.Comparison,
	studies []string) ([]access.Comparison, []string, error) {
	suite, studies, err := session.Filter(f.filter, suite, studies)
	return suite, studies, atFlag(err)
}
