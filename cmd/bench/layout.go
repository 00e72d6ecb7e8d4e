package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stridebench/stridebench/layouts"
)

// shownElements is the largest storage and view that bench layout prints.
const shownElements = 400

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
	fmt.Fprintf(w, "shape       %s\n", layouts.FormatTuple(l.Shape()))
	fmt.Fprintf(w, "strides     %s elements, %s bytes of %s\n", layouts.FormatTuple(l.Strides()), layouts.FormatTuple(l.ByteStrides(dtype)), dtype)
	fmt.Fprintf(w, "offset      %d elements, %d bytes\n", l.Offset(), l.Offset()*dtype.Size())
	fmt.Fprintf(w, "elements    %d\n", l.Numel())
	fmt.Fprintf(w, "contiguous  %s\n", yesNo(l.IsContiguous()))
	switch l.Rank() {
	case 4:
		fmt.Fprintf(w, "channels_last  %s\n", yesNo(l.IsChannelsLast()))
	case 5:
		fmt.Fprintf(w, "channels_last_3d  %s\n", yesNo(l.IsChannelsLast3d()))
	}
	if l.Numel() <= 1<<20 {
		fmt.Fprintf(w, "overlap     %s\n", map[bool]string{true: "yes: different indices share elements", false: "no"}[l.Overlaps()])
	}
	explain(w, l)
	return sideBySide(w, stored, l)
}

// explain goes through the dims as the contiguity rule does.
func explain(w io.Writer, l layouts.Layout) {
	if l.Numel() == 0 {
		fmt.Fprintf(w, "\nA tensor without elements is contiguous, whatever its strides.\n")
		return
	}
	fmt.Fprintf(w, "\nContiguous means: from the last dim on, each stride is the product of the sizes behind it.\n")
	for _, r := range l.Explain() {
		switch {
		case r.Skipped:
			fmt.Fprintf(w, "  dim %d: size 1 is skipped, whatever its stride (%d)\n", r.Dim, r.Stride)
		case r.Holds:
			fmt.Fprintf(w, "  dim %d: stride %d, as it should be\n", r.Dim, r.Stride)
		default:
			fmt.Fprintf(w, "  dim %d: stride %d, but %d would be contiguous: this dim breaks it\n", r.Dim, r.Stride, r.Want)
		}
	}
}

// sideBySide prints the storage in order, in rows as long as the stored last
// dim, beside the view.
func sideBySide(w io.Writer, stored, l layouts.Layout) error {
	if stored.Numel() > shownElements || l.Numel() > shownElements {
		_, err := fmt.Fprintf(w, "\nStorage and view are printed up to %d elements.\n", shownElements)
		return err
	}
	storage, err := layouts.Arange(layouts.Int64, stored.Numel())
	if err != nil {
		return err
	}
	for d := range l.Rank() {
		if l.Stride(d) < 0 {
			return writeWalk(w, l)
		}
	}
	x, err := layouts.NewTensor(storage.Storage(), l)
	if err != nil {
		return err
	}
	left := strings.Split(storageRows(storage, stored), "\n")
	right := strings.Split(x.String(), "\n")
	width := len("storage, in order")
	for _, line := range left {
		width = max(width, len(line))
	}
	fmt.Fprintf(w, "\n%-*s    view\n", width, "storage, in order")
	for i := range max(len(left), len(right)) {
		var a, b string
		if i < len(left) {
			a = left[i]
		}
		if i < len(right) {
			b = right[i]
		}
		fmt.Fprintln(w, strings.TrimRight(fmt.Sprintf("%-*s    %s", width, a, b), " "))
	}
	return nil
}

// writeWalk prints the order in which a flipped view walks the storage.
func writeWalk(w io.Writer, l layouts.Layout) error {
	fmt.Fprintf(w, "\nNegative strides are a walk, not a tensor of PyTorch's, whose flip copies. It goes through the storage so:\n")
	var places []string
	for at := range l.Offsets() {
		places = append(places, fmt.Sprint(at))
	}
	_, err := fmt.Fprintf(w, "%s\n", strings.Join(places, " "))
	return err
}

// storageRows prints a storage without brackets, in rows of the stored last
// dim, at most 16 elements long.
func storageRows(storage *layouts.Tensor, stored layouts.Layout) string {
	row := 16
	if last := stored.Rank() - 1; last >= 0 && stored.Size(last) > 0 {
		row = min(row, stored.Size(last))
	}
	text := strings.TrimPrefix(storage.String(), "tensor([")
	text, _, _ = strings.Cut(text, "]")
	cells := strings.Split(strings.Join(strings.Fields(text), ""), ",")
	width := 0
	for _, c := range cells {
		width = max(width, len(c))
	}
	var b strings.Builder
	for i, c := range cells {
		switch {
		case i > 0 && i%row == 0:
			b.WriteByte('\n')
		case i > 0:
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, "%*s", width, c)
	}
	return b.String()
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}
