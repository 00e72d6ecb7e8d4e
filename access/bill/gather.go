package bill

import (
	"slices"
	"strconv"
	"strings"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/operators"
	"github.com/stridebench/stridebench/layouts/nest"
)

// gather lowers what numbers, or a window, name: of a table, of which few elements may be touched, those alone; else each
// operand as it lies.
func (w *walks) gather(copied bool) {
	touched := func(w *walks) bool {
		return slices.Contains(takesRows, w.name()) && w.takeRows(copied) || w.named(copied)
	}
	if !touched(w) {
		w.asTheyLie(w.all)
		return
	}
	// Of contiguous operands what is named lies as far apart.
	twin := walksOf(w.op)
	for i, o := range twin.all {
		if !slices.Contains(o.Strides, 0) {
			twin.all[i].Strides = dense(o, o.Role).Strides
		}
	}
	if touched(&twin) && len(twin.specs) == len(w.specs)-w.inner {
		w.twins = map[int]access.Spec{}
		for i, s := range twin.specs {
			w.twins[w.inner+i] = s
		}
	}
}

// named lowers what touches of a table what is named. It reports false, and lowers nothing, of what it cannot tell that of.
func (w *walks) named(copied bool) bool {
	name := strings.TrimSuffix(w.name(), "_")
	base, back := strings.CutSuffix(name, "_backward")
	switch {
	case name == "diag", name == "trace":
		return w.takeDiagonal()
	case name == "take", name == "put":
		return w.nameFlat(name == "put")
	case slices.Contains(takesBags, name):
		return w.takeBags()
	case slices.Contains(putsRows, name) && w.putRows(name):
		return true
	case slices.Contains(takesRows, name), slices.Contains(putsRows, name):
		return w.nameTuples(slices.Contains(putsRows, name))
	case slices.Contains(namesElements, name):
		return w.nameElements(name)
	case strings.HasPrefix(base, "nll_loss"):
		return w.nllLoss(back, copied)
	case strings.HasPrefix(base, "reflection_pad"), strings.HasPrefix(base, "replication_pad"):
		return w.edgePad(back, copied)
	}
	return false
}

// The operators by what their numbers name: rows that are read, sums of such, rows that are written, and elements.
var (
	takesRows     = []string{"index", "_unsafe_index", "index_select", "embedding"}
	takesBags     = []string{"_embedding_bag", "_embedding_bag_forward_only"}
	putsRows      = []string{"index_add", "index_copy", "index_fill", "index_put", "_index_put_impl"}
	namesElements = []string{"gather", "scatter", "scatter_add", "scatter_reduce"}
)

// takeRows lowers what takes rows, by one tensor of their numbers in the place of a dim, as if these came one after the
// other, in the order of what is written. It reports false of what takes no rows.
func (w *walks) takeRows(copied bool) bool {
	dim, rows := w.gathered()
	if rows == nil {
		return false
	}
	x, index, y := w.all[0], w.all[1], w.outputs()[0]
	var outermost []int
	switch selects := w.name() == "index_select" && dim > 0 && len(rows) == 1; {
	case selects && dim == 1 && contiguous(y.Operand):
		x = w.contiguous(x, copied) // index_select_out_cpu_dim1_ in TensorAdvancedIndexing.cpp
		rows = []int{x.Strides[dim]}
	case selects: // all others for one number after the other (index_select_out_cpu_)
		outermost = []int{dim}
	}
	after := dim + len(index.Shape) // the dims of y behind those of the numbers
	if order, strides := spread(x, dim, product(index.Shape), product(y.Shape[after:])); order != nil && merges(index.Shape, y.Strides[dim:after]) {
		written, step := slices.Clone(order), y.Strides[after-1]
		for k, n := range slices.Backward(order) {
			written[k], step = step, step*n
		}
		rows = strides
		if outermost != nil {
			outermost = nest.UpTo(dim + len(order))[dim:]
		}
		y.Shape, y.Strides = slices.Concat(y.Shape[:dim], order, y.Shape[after:]), slices.Concat(y.Strides[:dim], written, y.Strides[after:])
	}
	x.Shape, x.Strides = y.Shape, slices.Concat(x.Strides[:dim], rows, x.Strides[dim+1:])
	w.add(access.Add, outermost, w.operand(x, access.Input), w.operand(y, access.Output))
	if dim == 0 {
		w.rowHits, w.rowsAt = float64(product(index.Shape))*rowHits, len(w.specs)-1
		if strings.HasSuffix(w.name(), "index") {
			w.rowHits *= indexRows
		}
	}
	w.asTheyLie([]tensor{index})
	return true
}

// What PyTorch 1.13 does for each row that it takes, beside its elements, in latencies of the first level: a call for each in
// embedding and index_select, 2.5 times as much in x[index]. Both were timed on a Zen 3 with 1000 to 9000 rows of a table of 50.
const (
	rowHits   = 1.5
	indexRows = 2.5
)

// spread says in what order n rows are read along a dim of a table, as sizes and strides of dims, the outermost first: one after
// the other, and over all rows again and again if there are fewer, of which the last round may lack some. They are evenly apart, and those
// of one page, or of one line, as the columns of a transposed matrix, are far from one another, as numbers in no order name them. It
// returns nil where n rows come one after the other.
func spread(x tensor, dim, n, each int) (sizes, strides []int) {
	step, all := x.Strides[dim], x.Shape[dim]
	if n > all {
		rounds := (n + all - 1) / all
		sizes, strides, n = []int{rounds}, []int{0}, n/rounds
	}
	apart := page // rows of one line, or of one page, do not follow each other
	if step*x.ItemSize() < line {
		apart = line
	}
	if alone := step == 0 || each == 1; alone || n == 0 {
		if sizes == nil {
			return nil, nil
		}
		return append(sizes, n), append(strides, step)
	}
	step *= max(all/n-1, 0)/2*2 + 1           // an odd number, so that rows fall into all sets of a cache as those in no order do
	most := max(apart/(step*x.ItemSize()), 1) // rows that are read of one
	turns := most                             // over the table
	for t := most; t < 2*most; t++ {
		if n%t < n%turns {
			turns = t
		}
	}
	turns = min(turns, n)
	return append(sizes, turns, n/turns), append(strides, step, step*turns)
}

// line is how many bytes of memory come at once.
const line = 64

// page is how many bytes of memory are translated at once.
const page = 4096

// merges reports whether dims of these sizes and strides are as one of all their elements.
func merges(sizes, strides []int) bool {
	for d := range len(sizes) - 1 {
		if strides[d] != strides[d+1]*sizes[d+1] {
			return false
		}
	}
	return len(sizes) > 0
}

// gathered says in the place of which dim the numbers are and how far apart what they name is, nil where
// an operator takes no rows, or more than there are into what is not dense along them.
func (w *walks) gathered() (dim int, strides []int) {
	inputs, outputs := w.inputs(), w.outputs()
	if len(inputs) != 2 || len(outputs) != 1 {
		return 0, nil
	}
	x, index, y := inputs[0], inputs[1], outputs[0]
	given, said := w.dim(len(x.Shape))
	for _, d := range candidates(index, len(x.Shape)) {
		if said && d != given || !slices.Equal(slices.Concat(x.Shape[:d], index.Shape, x.Shape[d+1:]), y.Shape) {
			continue
		}
		strides, written := make([]int, len(index.Shape)), 0
		step, merges := x.Strides[d], true // whether y is as if there were one list of numbers
		for k := range slices.Backward(strides) {
			strides[k] = step
			step *= index.Shape[k]
			merges = merges && (written == 0 || y.Strides[d+k] == written)
			written = y.Strides[d+k] * index.Shape[k]
		}
		if n := product(index.Shape); n <= x.Shape[d] || merges && x.Shape[d] > 0 && len(strides) > 0 {
			return d, strides
		}
	}
	return 0, nil
}

// candidates are so many dims in the place of which an index may be, the likeliest first: that of its place in the list.
func candidates(index tensor, rank int) (dims []int) {
	for d := range rank {
		dims = append(dims, d)
	}
	if nth := index.Nth; index.InList && nth > 0 && nth < rank {
		dims = slices.Concat(dims[nth:nth+1], dims[:nth], dims[nth+1:])
	}
	return dims
}

// dim is the dim that the operator's second argument names, of so many. It reports false where the profile does not say it.
func (w *walks) dim(rank int) (int, bool) {
	if len(w.op.Args) < 2 {
		return 0, false
	}
	d, err := strconv.Atoi(w.op.Args[1])
	if d < 0 {
		d += rank
	}
	return d, err == nil && d >= 0 && d < rank
}

// takeDiagonal lowers what reads the diagonal of a matrix alone. It reports false of what makes a matrix of a diagonal.
func (w *walks) takeDiagonal() bool {
	inputs := w.inputs()
	if len(inputs) == 0 || len(inputs[0].Shape) != 2 {
		return false
	}
	x := inputs[0]
	x.Shape, x.Strides = []int{min(x.Shape[0], x.Shape[1])}, []int{x.Strides[0] + x.Strides[1]}
	w.add(access.Sum, nil, w.operand(x, access.Input))
	w.asTheyLie(w.all[1:])
	return true
}

// takeBags lowers an embedding_bag: of the table, rows as if those named came one after the other, in rounds where more are
// named than there are (EmbeddingBag.cpp). It reports false of what has no table.
func (w *walks) takeBags() bool {
	inputs := w.inputs()
	if len(inputs) < 2 || len(inputs[0].Shape) != 2 || inputs[0].Shape[0] == 0 {
		return false
	}
	x, n := inputs[0], product(inputs[1].Shape)
	rounds := max((n+x.Shape[0]-1)/x.Shape[0], 1)
	x.Shape, x.Strides = []int{rounds, n / rounds, x.Shape[1]}, []int{0, x.Strides[0], x.Strides[1]}
	w.add(access.Sum, nil, w.operand(x, access.Input))
	w.asTheyLie(w.all[1:])
	return true
}

// putRows lowers what writes rows of its first operand, by one tensor of their numbers, as if these came one after the
// other, out of place after a copy of it; along the likeliest dim that fits, where the profile does not say which. It reports
// false of what is none, or writes more rows than there are.
func (w *walks) putRows(name string) bool {
	inputs := w.inputs()
	if len(inputs) < 2 || len(inputs) > 3 || inputs[1].DType == "bool" || inputs[1].DType == "uint8" {
		return false
	}
	x, n, sources := inputs[0], product(inputs[1].Shape), inputs[2:]
	dim, said := w.dim(len(x.Shape))
	for _, d := range candidates(inputs[1], len(x.Shape)) {
		if said {
			break
		}
		said = len(sources) == 0 || broadcasts(sources[0].Shape, slices.Concat(x.Shape[:d], inputs[1].Shape, x.Shape[d+1:]))
		dim = d
	}
	if !said || n > x.Shape[dim] {
		return false
	}
	x = w.fresh(x)
	x.Shape = slices.Clone(x.Shape)
	x.Shape[dim] = n
	var outermost []int
	if name == "index_add" && len(x.Shape) > 1 { // all others for one number after the other (index_add_cpu_)
		outermost = []int{dim}
	}
	w.put(x, sources, name == "index_add", outermost...)
	w.asTheyLie(inputs[1:2])
	return true
}

// fresh is what an operator writes that begins with its first operand: that operand in place, or else a copy of it.
func (w *walks) fresh(x tensor) tensor {
	if x.Role != operators.Input {
		return x
	}
	y := dense(x, operators.Output)
	if outputs := w.outputs(); len(outputs) > 0 && slices.Equal(outputs[0].Shape, x.Shape) {
		y = outputs[0]
	}
	w.add(access.Copy, nil, w.operand(y, access.Output), w.operand(x, access.Input))
	return y
}

// put writes a part of a tensor, or adds to it, from a source of the same shape, some dims outermost, or else from one that is read
// as it lies.
func (w *walks) put(part tensor, sources []tensor, adds bool, outermost ...int) {
	role := access.Output
	if adds {
		role = access.InPlace
	}
	if len(sources) > 0 && slices.Equal(sources[0].Shape, part.Shape) {
		w.add(access.Add, outermost, w.operand(part, role), w.operand(sources[0], access.Input))
		return
	}
	if adds {
		w.add(access.Sum, nil, w.operand(part, access.Input))
	}
	w.add(access.Fill, nil, w.operand(part, access.Output))
	w.asTheyLie(sources)
}

// nameElements lowers a gather or a scatter, of which a tensor says for each of its elements which is meant along a dim: as
// many of the table, evenly apart. It reports false where more are meant than there are.
func (w *walks) nameElements(name string) bool {
	inputs := w.inputs()
	if len(inputs) < 2 || len(inputs) > 3 {
		return false
	}
	x, index, sources := inputs[0], inputs[1], slices.Clone(inputs[2:])
	dim, said := w.dim(len(x.Shape))
	if !said || !within(index.Shape, x.Shape) {
		return false
	}
	if name != "gather" {
		x = w.fresh(x)
	}
	apart := x.Shape[dim] / max(index.Shape[dim], 1)
	x.Shape, x.Strides = index.Shape, slices.Clone(x.Strides)
	x.Strides[dim] *= apart
	if outputs := w.outputs(); name == "gather" && len(outputs) == 1 && len(sources) == 0 && slices.Equal(outputs[0].Shape, index.Shape) {
		// In the order of the result (cpu_scatter_gather_base_kernel in ScatterGatherKernel.cpp).
		w.add(access.Add, nil, w.operand(x, access.Input), w.operand(index, access.Input), w.operand(outputs[0], access.Output))
		return true
	} else if name == "gather" {
		w.add(access.Sum, nil, w.operand(x, access.Input))
		w.asTheyLie(w.all[1:])
		return true
	}
	for i := range sources {
		if within(index.Shape, sources[i].Shape) {
			sources[i].Shape = index.Shape
		}
	}
	w.put(x, sources, name != "scatter")
	w.asTheyLie([]tensor{index})
	return true
}

// within reports whether a shape is that of a part of another.
func within(part, whole []int) bool {
	if len(part) != len(whole) {
		return false
	}
	for d, n := range part {
		if n > whole[d] {
			return false
		}
	}
	return true
}

// nameFlat lowers a take, or a put, of elements by their numbers in row-major order: as many, evenly apart over the memory of
// the table. It reports false where more are named than there are.
func (w *walks) nameFlat(puts bool) bool {
	inputs := w.inputs()
	if len(inputs) < 2 {
		return false
	}
	x, n := inputs[0], product(inputs[1].Shape)
	if n == 0 || n > product(x.Shape) {
		return false
	}
	if puts {
		x = w.fresh(x)
	}
	x.Shape, x.Strides = []int{n}, []int{reach(x.Shape, x.Strides) / n}
	if !puts {
		w.add(access.Sum, nil, w.operand(x, access.Input))
		w.asTheyLie(w.all[1:])
		return true
	}
	w.put(x, inputs[2:], false)
	w.asTheyLie(inputs[1:2])
	return true
}

// nameTuples lowers x[i, j], or x[i, j] = y, of lists of numbers for the first dims, which broadcast: as many rows of the other
// dims, evenly apart. It reports false of other lists or dims, and where more are named than there are.
func (w *walks) nameTuples(puts bool) bool {
	inputs := w.inputs()
	if len(inputs) == 0 {
		return false
	}
	lists := slices.DeleteFunc(slices.Clone(inputs[1:]), func(o tensor) bool { return !o.InList })
	x, sources, dims := inputs[0], inputs[1+len(lists):], len(lists)
	if dims < 2 || dims > len(x.Shape) || slices.ContainsFunc(lists, func(o tensor) bool { return o.DType != "int64" }) {
		return false
	}
	n, lead := product(broadcastOf(lists)), product(x.Shape[:dims])
	outputs := w.outputs()
	if n == 0 || n > lead || !puts && len(outputs) > 0 && product(outputs[0].Shape) != n*product(x.Shape[dims:]) {
		return false
	}
	if puts {
		x = w.fresh(x)
	}
	x.Shape, x.Strides = slices.Concat([]int{n}, x.Shape[dims:]), slices.Concat([]int{reach(x.Shape[:dims], x.Strides) / n}, x.Strides[dims:])
	if puts {
		w.put(x, sources, false)
		w.asTheyLie(lists)
		return true
	}
	w.add(access.Sum, nil, w.operand(x, access.Input))
	w.asTheyLie(w.all[1:])
	return true
}

// reach is how many elements of memory some dims span.
func reach(shape, strides []int) int {
	n := 1
	for d, size := range shape {
		n += (size - 1) * strides[d]
	}
	return n
}

// broadcastOf is the shape to which tensors broadcast, if they do.
func broadcastOf(all []tensor) []int {
	var shape []int
	for _, o := range all {
		shape = slices.Concat(slices.Repeat([]int{1}, max(len(o.Shape)-len(shape), 0)), shape)
		for i := range o.Shape {
			at, n := len(shape)-1-i, o.Shape[len(o.Shape)-1-i]
			if shape[at] == 1 {
				shape[at] = n
			}
		}
	}
	return shape
}

// nllLoss lowers a loss that takes one element of each row, or at each pixel: of contiguous rows, which others are copied
// to unless a loss for each is returned, and back, into what is zero else (LossNLL.cpp, LossNLL2d.cpp). It reports false of
// operands that are no rows and numbers.
func (w *walks) nllLoss(back, copied bool) bool {
	inputs, outputs := w.inputs(), w.outputs()
	var gradient []tensor
	if back && len(inputs) > 0 {
		gradient, inputs = inputs[:1], inputs[1:]
	}
	if len(inputs) < 2 || len(inputs[0].Shape) == 0 {
		return false
	}
	x := inputs[0]
	if back {
		x = w.filled(x)
	} else if reduced := len(outputs) == 0 || len(outputs[0].Shape) == 0; reduced {
		x = w.contiguous(x, copied)
	}
	dim := min(1, len(x.Shape)-1)
	x.Shape, x.Strides = slices.Delete(slices.Clone(x.Shape), dim, dim+1), slices.Delete(slices.Clone(x.Strides), dim, dim+1)
	if back {
		w.add(access.Fill, nil, w.operand(x, access.Output))
		w.asTheyLie(slices.Concat(gradient, inputs[1:]))
		return true
	}
	w.add(access.Sum, nil, w.operand(x, access.Input))
	w.asTheyLie(slices.Concat(inputs[1:], outputs))
	return true
}

// filled is a gradient of the shape of an operand, after it was filled.
func (w *walks) filled(like tensor) tensor {
	y := dense(like, operators.Output)
	if outputs := w.outputs(); len(outputs) > 0 && slices.Equal(outputs[0].Shape, like.Shape) {
		y = outputs[0]
	}
	w.add(access.Fill, nil, w.operand(y, access.Output))
	return y
}

// contiguous is an operand as it lies if it is contiguous, and else a copy, by one that the profile has or one inside.
func (w *walks) contiguous(o tensor, copied bool) tensor {
	if contiguous(o.Operand) {
		return o
	}
	fresh := dense(o, operators.Output)
	if !copied {
		w.add(access.Copy, nil, w.operand(fresh, access.Output), w.operand(o, access.Input))
		w.inner = len(w.specs)
	}
	fresh.Role = operators.Input
	return fresh
}

// edgePad lowers a pad by reflection or replication, of a contiguous input, and back, which adds to what was filled
// (ReflectionPad.cpp, ReplicationPadding.cpp). It reports false of what has no operand.
func (w *walks) edgePad(back, copied bool) bool {
	inputs := w.inputs()
	if len(inputs) == 0 || back && len(inputs) < 2 {
		return false
	}
	x := w.contiguous(inputs[0], copied)
	if !back {
		w.asTheyLie(append([]tensor{x}, w.outputs()...))
		return true
	}
	y := w.filled(inputs[1])
	y.Role = operators.InPlace
	w.asTheyLie([]tensor{x, y})
	return true
}
