package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/layouts/blocked"
	"github.com/stridebench/stridebench/reports"
	"github.com/stridebench/stridebench/results/outfile"
)

func newLayout() *cobra.Command {
	var pattern patternFlags
	var out string
	var format parsed[blocked.Tag]
	var block parsed[[]int]
	sparse := oneOf("format", "coo", "csr", "csc", "bsr", "bsc")
	sparse.value, sparse.text = "", ""
	cmd := verb("layout {EXPRESSION | --shape SHAPE}",
		"Explain where the elements of a view lie, and whether it is contiguous",
		takes(0, 1, "one expression in quotes, such as 'torch.zeros(3, 4).t()'"),
		func(c call, args []string) error {
			p := layouts.Picture{Columns: columns(c.out)}
			if len(args) > 0 {
				if err := alone(c, args[0]); err != nil {
					return err
				}
				p.Expression = args[0]
				return picture(c, p, args[0], out)
			}
			if !pattern.shape.set {
				return errors.New("nothing to lay out: want an expression, " +
					"such as 'torch.arange(12).reshape(3,4).t()', or --shape 3x4")
			}
			s, err := pattern.spec()
			if err != nil {
				return err
			}
			if format.set {
				if err := exclude(c, "format", "view sparse block"); err != nil {
					return err
				}
				return picture(c, blocked.Picture{Format: format.value, Shape: s.Shape,
					DType: s.DType}, "", out)
			}
			p.Shape, p.Views, p.DType = s.Shape, pattern.view.values, s.DType
			p.Sparse, p.Block = sparse.value, block.value
			return picture(c, p, "", out)
		})
	pattern.addTensor(cmd.Flags(), 1)
	pattern.view.most = maxViews
	cmd.Flags().StringVarP(&out, "out", "o", "", "")
	format.add(cmd.Flags(), "format", "tag", parseTag)
	cmd.Flags().Var(&sparse, "sparse", "")
	block.add(cmd.Flags(), "block", "shape", layouts.ParseShape)
	return cmd
}

const maxViews = 2

// draw writes a chart to a picture.
func draw(file string, chart reports.Chart, err error) error {
	var picture []byte
	if err == nil {
		picture, err = chart.Picture(file)
	}
	if err != nil {
		return err
	}
	return outfile.WriteFile(file, picture)
}

// alone refuses flags of another tensor than the expression's.
func alone(c call, expression string) error {
	for flag := range strings.FieldsSeq(tensorNames + "format sparse block") {
		if c.given(flag) {
			return fmt.Errorf("--%s is of another tensor than %q: leave one out, or give the view "+
				"as --view", flag, expression)
		}
	}
	return nil
}

// picture prints what p asks, perhaps of an expression, or draws it to a file. The words are
// folded; the drawing already fits.
func picture(c call, p interface {
	Text() (words, drawing string, err error)
	Drawing() (layouts.Drawing, error)
}, expression, file string) error {
	words, drawing, err := p.Text()
	var d layouts.Drawing
	if err == nil && file != "" {
		d, err = p.Drawing()
	}
	if _, isView := layouts.ParseChain(expression); err != nil && expression != "" {
		if isView == nil {
			err = fmt.Errorf("%w; or give its sizes, as --shape 3x4 --view '%s'", err, expression)
		}
		return fmt.Errorf("%q: %w", expression, err)
	}
	if err != nil {
		return fmt.Errorf("--%w", err)
	}
	if file == "" {
		if err = c.print(words); err == nil {
			_, err = io.WriteString(c.out, drawing)
		}
		return err
	}
	chart, err := reports.DrawLayout(d)
	return draw(file, chart, err)
}
