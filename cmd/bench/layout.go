package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/reports"
	"github.com/stridebench/stridebench/simcache/explain"
)

func newLayout() *cobra.Command {
	var pattern patternFlags
	var out string
	format := formatFlag()
	sparse := parsed[layouts.SparseFormat]{parse: layouts.ParseSparseFormat, kind: "format"}
	block := parsed[[]int]{parse: layouts.ParseShape, kind: "shape"}
	cmd := &cobra.Command{
		Use:   "layout {EXPRESSION | --shape SHAPE}",
		Short: "Explain where the elements of a view lie, and whether it is contiguous",
		Args:  oneExpression,
		RunE: func(cmd *cobra.Command, args []string) error {
			if out != "" {
				if err := reports.CheckPicture(out); err != nil {
					return fmt.Errorf("--out %w", err)
				}
			}
			if len(args) > 0 {
				return expressed(cmd.Flags(), cmd.OutOrStdout(), args[0], out)
			}
			if !pattern.shape.set {
				return errors.New("nothing to lay out: want an expression, " +
					"such as 'torch.arange(12).reshape(3,4).t()', or --shape 3x4")
			}
			s, err := pattern.spec()
			if err != nil {
				return err
			}
			p := layouts.Picture{Shape: s.Shape, Views: pattern.view.values, DType: s.DType,
				Format: format.value, Block: block.value, Columns: columns(cmd.OutOrStdout())}
			if sparse.set {
				p.Sparse = &sparse.value
			}
			words, drawing, err := p.Text()
			if err == nil && out != "" {
				var d layouts.Drawing
				if d, err = p.Drawing(); err == nil {
					return drawLayout(d, out)
				}
			}
			if err != nil {
				return fmt.Errorf("--%w", err)
			}
			return printFolded(cmd.OutOrStdout(), words, drawing)
		},
	}
	pattern.addTensor(cmd.Flags(), 1)
	pattern.view.most = maxViews
	cmd.Flags().StringVarP(&out, "out", "o", "", "draw to a `file` that ends in .svg or .png; "+
		"with --view twice both views stand above their storage")
	cmd.Flags().Var(&format, "format",
		"store the tensor in a format of oneDNN instead, such as nChw16c or ABcd16b16a2b")
	cmd.Flags().Var(&sparse, "sparse",
		"store an example in a sparse format: coo, csr, csc, bsr or bsc")
	cmd.Flags().Var(&block, "block", "rows and columns of the blocks of bsr and bsc, such as 2x2")
	return cmd
}

const maxViews = 2

func drawLayout(d layouts.Drawing, file string) error {
	chart, err := reports.DrawLayout(d, reports.Light)
	if err != nil {
		return err
	}
	picture, err := chart.Picture(file)
	return writeOut(nil, file, picture, err)
}

func expressed(flags *pflag.FlagSet, out io.Writer, text, file string) (err error) {
	flags.Visit(func(f *pflag.Flag) {
		if f.Name == "out" {
			return
		}
		err = fmt.Errorf("--%s goes with --shape, and %q names its own tensor: leave one out",
			f.Name, text)
	})
	if err != nil {
		return err
	}
	e, err := layouts.ParseExpression(text)
	var words, drawing string
	if err == nil {
		words, drawing, err = e.Text(columns(out))
	}
	if err == nil && file != "" {
		d, err := e.Drawing()
		if err != nil {
			return err
		}
		return drawLayout(d, file)
	}
	if _, isView := layouts.ParseChain(text); err != nil && isView == nil {
		return fmt.Errorf("%q: %w; or give its sizes, as --shape 3x4 --view '%s'",
			text, err, text)
	}
	if err != nil {
		return fmt.Errorf("%q: %w", text, err)
	}
	return printFolded(out, words, drawing)
}

// printFolded folds the words. The drawing already fits.
func printFolded(out io.Writer, words, drawing string) error {
	var folded strings.Builder
	for line := range strings.Lines(words) {
		folded.WriteString(explain.Fold(strings.TrimSuffix(line, "\n"), columns(out)) + "\n")
	}
	_, err := io.WriteString(out, folded.String()+drawing)
	return err
}
