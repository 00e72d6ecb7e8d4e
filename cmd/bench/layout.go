package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/stridebench/stridebench/layouts"
)

func newLayout() *cobra.Command {
	var pattern patternFlags
	cmd := &cobra.Command{
		Use:   "layout --shape SHAPE",
		Short: "Explain where the elements of a view lie, and whether it is contiguous",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !pattern.shape.set {
				return errNoShape
			}
			return writeLayout(cmd.OutOrStdout(), pattern.shape.value, pattern.view, pattern.dtype.value)
		},
	}
	pattern.addTensor(cmd.Flags())
	return cmd
}

func writeLayout(w io.Writer, shape []int, view string, dtype layouts.DType) error {
	stored, err := layouts.Contiguous(shape...)
	if err != nil {
		return fmt.Errorf("--shape %s: %w", layouts.FormatShape(shape), err)
	}
	chain, err := layouts.ParseChain(view)
	if err != nil {
		return fmt.Errorf("--view %q: %w", view, err)
	}
	l, err := stored.Apply(chain)
	if err != nil {
		return fmt.Errorf("--view %q: %w", view, err)
	}
	drawn, err := layouts.SideBySide(stored, l)
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, l.Facts(dtype)+"\n"+l.WhyContiguous()+"\n"+drawn)
	return err
}
