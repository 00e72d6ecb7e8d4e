package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/reports"
)

func newLayout() *cobra.Command {
	var pattern patternFlags
	var out string
	var format parsed[layouts.Tag]
	var block parsed[[]int]
	sparse := parsed[layouts.SparseFormat]{known: []string{"coo", "csr", "csc", "bsr", "bsc"}}
	cmd := verb("layout {EXPRESSION | --shape SHAPE}",
		"Explain where the elements of a view lie, and whether it is contiguous",
		takes(0, 1, "one expression in quotes, such as 'torch.zeros(3, 4).t()'"),
		func(c call, args []string) error {
			if out != "" {
				if err := reports.CheckPicture(out); err != nil {
					return fmt.Errorf("--out %w", err)
				}
			}
			if len(args) > 0 {
				return expressed(c, args[0], out)
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
				Format: format.value, Block: block.value, Columns: columns(c.out)}
			if sparse.set {
				p.Sparse = &sparse.value
			}
			words, drawing, err := p.Text()
			if err != nil {
				return fmt.Errorf("--%w", err)
			}
			return lay(c, out, words, drawing, func() (layouts.Drawing, error) {
				d, err := p.Drawing()
				if err != nil {
					err = fmt.Errorf("--%w", err)
				}
				return d, err
			})
		})
	pattern.addTensor(cmd.Flags(), 1)
	pattern.view.most = maxViews
	cmd.Flags().StringVarP(&out, "out", "o", "", "")
	format.add(cmd.Flags(), "format", "tag", parseTag)
	sparse.add(cmd.Flags(), "sparse", "format", layouts.ParseSparseFormat)
	block.add(cmd.Flags(), "block", "shape", layouts.ParseShape)
	return cmd
}

const maxViews = 2

// draw writes a chart to the picture that a flag names.
func draw(flag, file string, chart reports.Chart, err error) error {
	var picture []byte
	if err == nil {
		picture, err = chart.Picture(file)
	}
	if err != nil {
		return err
	}
	return writeFile(flag, file, picture)
}

// lay draws a layout to a file, or prints the words, folded, and the drawing, which already fits.
func lay(c call, file, words, drawing string, of func() (layouts.Drawing, error)) error {
	if file == "" {
		_, err := io.WriteString(c.out, sentences(c.out, words)+drawing)
		return err
	}
	d, err := of()
	if err != nil {
		return err
	}
	chart, err := reports.DrawLayout(d)
	return draw("out", file, chart, err)
}

func expressed(c call, text, file string) error {
	for flag := range strings.FieldsSeq(tensorNames + "format sparse block") {
		if flag == "shape" && c.given(flag) {
			return fmt.Errorf("--shape and %q are two tensors: give the view as --view %[1]q", text)
		}
		if c.given(flag) {
			return fmt.Errorf("--%s goes with --shape, and %q names its own tensor: leave one out",
				flag, text)
		}
	}
	e, err := layouts.ParseExpression(text)
	var words, drawing string
	if err == nil {
		words, drawing, err = e.Text(columns(c.out))
	}
	if _, isView := layouts.ParseChain(text); err != nil && isView == nil {
		err = fmt.Errorf("%w; or give its sizes, as --shape 3x4 --view '%s'", err, text)
	}
	if err != nil {
		return fmt.Errorf("%q: %w", text, err)
	}
	return lay(c, file, words, drawing, e.Drawing)
}
