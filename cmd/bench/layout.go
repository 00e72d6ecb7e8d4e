package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stridebench/stridebench/layouts"
)

func newLayout() *cobra.Command {
	var pattern patternFlags
	cmd := &cobra.Command{
		Use:   "layout --shape SHAPE",
		Short: "Explain where the elements of a view lie, and whether it is contiguous",
		Long: `layout prints shape, strides and offset of a view as PyTorch has them, whether it
is contiguous and which dim breaks it, and, for small tensors, the storage in
order beside the view. The elements shown are 0, 1, 2, ..., so that each says
where in the storage it lies; --dtype is for strides in bytes.

View operations: ` + strings.Join(layouts.ViewOps(), ", ") + `.`,
		Example: `  bench layout --shape 3x4 --view 'transpose(0,1)'
  bench layout --shape 3x4 --view 'slice(0,1,3).slice(1,1,3)'
  bench layout --shape 1x3 --view 'expand(4,3)' --dtype int64`,
		Args: noArgs,
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
