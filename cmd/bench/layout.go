package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/simcache/explain"
)

func newLayout() *cobra.Command {
	var pattern patternFlags
	format := formatFlag()
	sparse := parsed[layouts.SparseFormat]{parse: layouts.ParseSparseFormat, kind: "format"}
	block := parsed[[]int]{parse: layouts.ParseShape, kind: "shape"}
	cmd := &cobra.Command{
		Use:   "layout --shape SHAPE",
		Short: "Explain where the elements of a view lie, and whether it is contiguous",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := pattern.spec()
			if err != nil {
				return err
			}
			p := layouts.Picture{Shape: s.Shape, View: s.View, DType: s.DType, Format: format.value, Block: block.value, Columns: columns(cmd.OutOrStdout())}
			if sparse.set {
				p.Sparse = &sparse.value
			}
			words, drawing, err := p.Text()
			if err != nil {
				return fmt.Errorf("--%w", err)
			}
			var folded strings.Builder
			for line := range strings.Lines(words) {
				folded.WriteString(explain.Fold(strings.TrimSuffix(line, "\n"), p.Columns) + "\n")
			}
			_, err = io.WriteString(cmd.OutOrStdout(), folded.String()+drawing)
			return err
		},
	}
	pattern.addTensor(cmd.Flags(), 1)
	cmd.Flags().Var(&format, "format", "store the tensor in a format of oneDNN instead, such as nChw16c or ABcd16b16a2b")
	cmd.Flags().Var(&sparse, "sparse", "store an example in a sparse format: coo, csr, csc, bsr or bsc")
	cmd.Flags().Var(&block, "block", "rows and columns of the blocks of bsr and bsc, such as 2x2")
	return cmd
}
