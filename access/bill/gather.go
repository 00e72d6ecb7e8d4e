package bill

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/cost"
	"github.com/stridebench/stridebench/access/operators"
	"github.com/stridebench/stridebench/layouts"
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
	w.besidesTwin = w.besides
	// Of contiguous operands what is named lies as far apart.
	twin := walksOf(w.op)
	twin.copied, twin.filled = w.copied, w.filled
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
		w.besidesTwin = twin.besides
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
	case name == "embedding_dense_backward":
		return w.embeddingBack(copied)
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

// takeRows lowers what takes rows, or single elements, by one tensor of their numbers in the place of a dim, in the order of
// what is written. It reports false of what takes no rows.
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
	named, elements := product(index.Shape), innermost(y, dim, after)
	w.takes(x, named, product(y.Shape[:dim]), product(y.Shape[after:]), elements, outermost != nil)
	order, strides := spread(x, dim, named, product(y.Shape[after:]))
	if elements && outermost == nil {
		order, strides = scattered(x.Shape[dim], named, x.Strides[dim], x.ItemSize())
	}
	if order != nil && merges(index.Shape, y.Strides[dim:after]) {
		rows = strides
		if outermost != nil {
			outermost = nest.UpTo(dim + len(order))[dim:]
		}
		y.Shape, y.Strides = slices.Concat(y.Shape[:dim], order, y.Shape[after:]), slices.Concat(y.Strides[:dim], inTurn(order, y.Strides[after-1]), y.Strides[after:])
	}
	x.Shape, x.Strides = y.Shape, slices.Concat(x.Strides[:dim], rows, x.Strides[dim+1:])
	w.add(access.Add, outermost, w.operand(x, access.Input), w.operand(y, access.Output))
	if w.besides.at = len(w.specs) - 1; elements && outermost == nil {
		w.oneByOne(product(y.Shape))
	}
	w.asTheyLie([]tensor{index})
	return true
}

// takes counts what an operator that takes so many rows of each of some matrices does besides, or takes single elements.
func (w *walks) takes(x tensor, named, matrices, each int, elements, byNumber bool) {
	count := float64(named * matrices)
	switch indexes := strings.HasSuffix(w.name(), "index"); {
	case indexes && elements:
		w.besides.accesses = count * float64(each) * indexed(1)
	case indexes:
		w.besides.hits = count * rowHits * indexRows
	case byNumber:
		w.besides.hits = float64(named) * numberHits
	case len(x.Shape) == 1, elements && x.DType == "float32": // without a call (index_select_out_cpu_, index_select_out_cpu_dim1_)
	default:
		w.besides.hits = count * rowHits
	}
}

// oneByOne counts the accesses of the last pattern, to so many elements, where these all lie side by side and its loop goes through them one by one.
func (w *walks) oneByOne(n int) {
	accesses := 0
	for _, o := range w.specs[len(w.specs)-1].Operands {
		if last := o.Layout.Rank() - 1; last < 0 || o.Layout.Stride(last) > 1 {
			return
		}
		if accesses++; o.Role == access.InPlace {
			accesses++
		}
	}
	w.besides.accesses += float64(n * accesses)
}

// besides is what an operator does beside the accesses of its patterns.
type besides struct {
	hits     float64 // that wait for one another, in latencies of the first level
	accesses float64 // to what stays in the first level
	at       int     // the number of the pattern of which threads share it
}

// price is what they take where so many threads share them.
func (b besides) price(m cost.Model, threads int) float64 {
	if b == (besides{}) {
		return 0
	}
	return m.Hits(b.hits, threads) + m.Accesses(b.accesses, threads)
}

// What PyTorch 1.13 does for each row that it takes, beside its elements, in latencies of the first level: a call for each in
// embedding and index_select, 2.5 times as much in x[index]. Both were timed on a Zen 3 with 1000 to 9000 rows of a table of 50.
// Where it goes through all others for each number, a walk begins with each: timed on a Zen 4 with 20 to 120 rows of 8 elements, and where
// it adds, with 1000 and 5000 of 1 to 16.
const (
	rowHits    = 1.5
	indexRows  = 2.5
	numberHits = 25
	addHits    = 32
)

// indexed is how often x[i, j] of so many lists goes to memory for each single element, beside the two elements (Indexer::get and
// cpu_index_kernel in IndexKernel.cpp): of each list it reads where it begins, its stride, the number, and the size and the stride
// of what that is a number in; and besides where these four are, and the steps of both tensors.
func indexed(lists int) float64 { return float64(4 + 2 + 5*lists) }

// captured is what a variable of the function around it takes that a loop of C++ captured by reference: its address, and it.
const captured = 2

// What these read for each single element, beside the elements: the steps of the tensors, the number, where that is no operand of the
// pattern, and what the loop captured.
const (
	namedAlongRows = 3 + 3*captured     // gather and scatter: the strides along the dim of both, and its size (ScatterGatherKernel.cpp)
	taken          = 2 + 1 + 3*captured // take and put: the size and the place of the table, and whether it is contiguous (TakeKernel)
	copiedAlong    = 3 + 1 + 2*captured // index_copy: the stride and the size of the dim (index_copy_kernel in IndexKernel.cpp)
	filledAlong    = 2 + 1 + 3*captured // index_fill: these and the value
	copiedRow      = 2                  // and of elements of one row: those themselves, none in vectors,
	filledRow      = 1 + 2*captured     // or the step, the stride along the dim, and the value
)

// innermost reports whether the elements of a tensor that are nearest to one another are so along some dims, from and up to these.
func innermost(y tensor, from, to int) bool {
	nearest := -1
	for d, n := range slices.Backward(y.Shape) {
		if n > 1 && (nearest < 0 || y.Strides[d] < y.Strides[nearest]) {
			nearest = d
		}
	}
	return nearest < 0 && from < to || nearest >= from && nearest < to
}

// inTurn are the strides of dims that go over elements one after the other, which are so far apart.
func inTurn(sizes []int, step int) []int {
	strides := make([]int, len(sizes))
	for k, n := range slices.Backward(sizes) {
		strides[k], step = step, step*n
	}
	return strides
}

// scattered says in what order n elements along a dim are touched that numbers in no order name, of so many that are a step apart, as
// sizes and strides of dims, the outermost first: evenly apart, no two of a line or side by side before all other lines were
// touched, nor of a page where there are many; and over all again if there are fewer. Of the last round, or line, some may be lacking.
func scattered(all, n, step, size int) (sizes, strides []int) {
	sizes, strides, n = roundsOf(all, n)
	if n < 4 || step == 0 {
		return append(sizes, n), append(strides, step)
	}
	step *= all / n
	each := min(max(line/(step*size), 1), n)
	lines := n / each
	if lines < fewLines {
		return append(sizes, n), append(strides, step)
	}
	if each > 1 && lines <= nearLines { // every second line, and then the others
		return append(sizes, 2, each, lines/2), append(strides, each*step, step, 2*each*step)
	}
	apart := each * step * size
	turns := turnsOf(lines, max(min(page/apart+1, int(math.Sqrt(float64(lines)))), 1), lines*apart > page)
	return append(sizes, each, turns, lines/turns), append(strides, step, each*step, turns*each*step)
}

// roundsOf are the rounds, as a dim, in which n are touched where there are fewer, and how many in each. Of the last one a few may be lacking.
func roundsOf(all, n int) (sizes, strides []int, each int) {
	if n <= all || all == 0 {
		return nil, nil, n
	}
	rounds := n / all
	if n-rounds*all > n/16 {
		rounds++
	}
	return []int{rounds}, []int{0}, min(n/rounds, all)
}

// turnsOf is about how many turns, at most so many, divide n of which few are left over, an odd number where steps of them would else
// fall into few sets of a cache.
func turnsOf(n, most int, odd bool) int {
	for t := most; t > 1; t-- {
		if n%t <= n/16 && (!odd || t%2 == 1) {
			return t
		}
	}
	return 1
}

// fewLines of a row come one after the other in whatever order they are asked for, and nearLines stay in the first level meanwhile.
const (
	fewLines  = page / line
	nearLines = 256
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
// other, in rounds where there are fewer, out of place after a copy of it; along the likeliest dim that fits, where the profile does
// not say which. It reports false of what is none.
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
	if !said || n > 0 && product(x.Shape) == 0 {
		return false
	}
	x = w.fresh(x)
	rows := float64(product(x.Shape)) / float64(max(x.Shape[dim], 1)) * float64(n) // elements
	elements := dim == len(x.Shape)-1 && (name != "index_add" || len(x.Shape) == 1)
	order, strides := spread(x, dim, n, product(x.Shape[dim+1:]))
	if elements {
		order, strides = scattered(x.Shape[dim], n, x.Strides[dim], x.ItemSize())
	} else if order == nil {
		order, strides = []int{n}, x.Strides[dim:dim+1]
	}
	w.puts(name, float64(n), rows, elements)
	part := x
	part.Shape, part.Strides = slices.Concat(x.Shape[:dim], order, x.Shape[dim+1:]), slices.Concat(x.Strides[:dim], strides, x.Strides[dim+1:])
	for i, o := range sources {
		if len(o.Shape) == len(x.Shape) && o.Shape[dim] == n { // which it reads in turn
			o.Shape, o.Strides = slices.Concat(o.Shape[:dim], order, o.Shape[dim+1:]), slices.Concat(o.Strides[:dim], inTurn(order, o.Strides[dim]), o.Strides[dim+1:])
			sources = append(slices.Clone(sources[:i]), o)
		}
	}
	outermost := nest.UpTo(dim + len(order))
	if name == "index_add" && len(x.Shape) > 1 { // all others for one number after the other (index_add_cpu_)
		outermost = outermost[dim:]
	}
	w.put(part, sources, name == "index_add", outermost...)
	w.asTheyLie(inputs[1:2])
	return true
}

// embeddingBack lowers the gradient of a table of which rows were taken: zeros, to which rows are added one after the other, of a contiguous
// gradient (embedding_dense_backward_cpu in Embedding.cpp). It reports false of a profile that does not say how many rows there are.
func (w *walks) embeddingBack(copied bool) bool {
	inputs, outputs := w.inputs(), w.outputs()
	if len(inputs) != 2 || len(inputs[0].Shape) == 0 {
		return false
	}
	g, index := inputs[0], inputs[1]
	n, each := product(index.Shape), g.Shape[len(g.Shape)-1]
	y := dense(tensor{operators.Operand{Shape: []int{0, each}, DType: g.DType}, inside}, operators.Output)
	if len(outputs) == 1 && len(outputs[0].Shape) == 2 {
		y = outputs[0]
	} else if all, known := w.op.Numbers(2); known && len(all) == 1 && possible([]int{all[0], each}) {
		y.Shape[0] = all[0]
	}
	if n*each == 0 || product(y.Shape) == 0 || product(g.Shape) != n*each {
		return false
	}
	g = w.contiguous(g, copied)
	y = w.fillLike(y)
	order, strides := spread(y, 0, n, each)
	if order == nil {
		order, strides = []int{n}, y.Strides[:1]
	}
	y.Role, y.Shape, y.Strides = operators.InPlace, slices.Concat(order, y.Shape[1:]), slices.Concat(strides, y.Strides[1:])
	g.Shape, g.Strides = y.Shape, slices.Concat(inTurn(order, each), []int{1})
	w.besides.hits = float64(n) * addHits
	w.put(y, []tensor{g}, true, nest.UpTo(len(order))...)
	w.asTheyLie([]tensor{index})
	return true
}

// puts counts what an operator that writes rows does besides, by how many it writes, and of how many elements.
func (w *walks) puts(name string, n, all float64, elements bool) {
	switch {
	case name == "index_add" && elements: // a loop of its own, in which nothing is captured (index_add_cpu_)
		w.besides.accesses = all
	case name == "index_add":
		w.besides.hits = n * addHits
	case name == "index_copy" && elements:
		w.besides.accesses = all * copiedAlong
	case name == "index_fill" && elements:
		w.besides.accesses = all * filledAlong
	case name == "index_copy":
		w.besides.accesses = all * copiedRow
	case name == "index_fill":
		w.besides.accesses = all * filledRow
	case elements:
		w.besides.accesses = all * indexed(1)
	default:
		w.besides.hits = n * rowHits * indexRows
	}
}

// fresh is what an operator writes that begins with its first operand: that operand in place, or else a copy of it, by one that the
// profile has or one inside.
func (w *walks) fresh(x tensor) tensor {
	if x.Role != operators.Input {
		return x
	}
	y := dense(x, operators.Output)
	if outputs := w.outputs(); len(outputs) > 0 && slices.Equal(outputs[0].Shape, x.Shape) {
		y = outputs[0]
	}
	if !w.copied {
		w.add(access.Copy, nil, w.operand(y, access.Output), w.operand(x, access.Input))
	}
	return y
}

// put writes a part of a tensor, or adds to it, from a source of the same shape, some dims outermost, or else from one that is read
// as it lies.
func (w *walks) put(part tensor, sources []tensor, adds bool, outermost ...int) {
	role := access.Output
	if adds {
		role = access.InPlace
	}
	value := tensor{operators.Operand{DType: part.DType}, inside} // which all elements get, where no other is read in turn
	switch {
	case len(sources) > 0 && slices.Equal(sources[0].Shape, part.Shape):
		value, sources = sources[0], sources[1:]
	case len(sources) > 0 && product(sources[0].Shape) == 1:
		value, sources = sources[0], sources[1:]
		fallthrough
	default:
		value.Shape, value.Strides = part.Shape, make([]int, len(part.Shape))
	}
	w.add(access.Add, outermost, w.operand(part, role), w.operand(value, access.Input))
	w.besides.at = len(w.specs) - 1
	if outermost != nil && len(outermost) == len(part.Shape) {
		w.oneByOne(product(part.Shape))
	}
	w.asTheyLie(sources)
}

// nameElements lowers a gather or a scatter, of which a tensor says for each of its elements which is meant along a dim. Of what
// is written, and read, TensorIterator has all other dims. For each of their elements the loop goes along the dim, where that is the last
// one, or longer than the innermost of the others; else along these for each index of the dim (cpu_scatter_gather_base_kernel in ScatterGatherKernel.cpp). It
// reports false where it cannot tell which are meant.
func (w *walks) nameElements(name string) bool {
	inputs := w.inputs()
	if len(inputs) < 2 || len(inputs) > 3 {
		return false
	}
	x, index, sources := withDim(inputs[0]), withDim(inputs[1]), slices.Clone(inputs[2:])
	for i := range sources {
		sources[i] = withDim(sources[i])
	}
	dim, said := w.dim(len(x.Shape))
	others := func(o tensor) []int {
		if len(o.Shape) != len(x.Shape) {
			return nil
		}
		return slices.Delete(slices.Clone(o.Shape), dim, dim+1)
	}
	if !said || len(index.Shape) != len(x.Shape) || !within(others(index), others(x)) || x.Shape[dim] == 0 || product(index.Shape) == 0 {
		return false
	}
	table, beside := access.Input, []walkedAs(nil)
	outputs := w.outputs()
	if name == "gather" {
		y := dense(tensor{operators.Operand{Shape: index.Shape, DType: x.DType}, inside}, operators.Output)
		if len(outputs) == 1 && len(sources) == 0 && slices.Equal(withDim(outputs[0]).Shape, index.Shape) {
			y, outputs = withDim(outputs[0]), nil
		}
		beside = []walkedAs{{index, access.Input}, {y, access.Output}}
	} else {
		x, outputs = w.fresh(x), nil
		if table = access.Output; name != "scatter" {
			table = access.InPlace
		}
		if len(sources) > 0 && within(index.Shape, sources[0].Shape) {
			beside, sources = []walkedAs{{sources[0], access.Input}}, sources[1:]
		}
		beside = append(beside, walkedAs{index, access.Input})
	}
	if !w.alongDim(walkedAs{x, table}, beside, index.at, index.Shape, dim) {
		return false
	}
	w.asTheyLie(slices.Concat(sources, outputs))
	return true
}

// withDim is a tensor with a dim of one element if it has none: gather and scatter take one for the other.
func withDim(o tensor) tensor {
	if len(o.Shape) == 0 {
		o.Shape, o.Strides = []int{1}, []int{1}
	}
	return o
}

// A walkedAs is a tensor, and how it is walked.
type walkedAs struct {
	tensor
	role access.Role
}

// alongDim lowers a gather, or a scatter, from or to a table, beside tensors that it goes through in the order of the numbers, which are one
// of them, the input of that number, and have this shape. It reports false of what TensorIterator does not take.
func (w *walks) alongDim(table walkedAs, beside []walkedAs, index int, shape []int, dim int) bool {
	squashed := slices.Clone(shape)
	squashed[dim] = 1
	all := append([]walkedAs{table}, beside...)
	written, inputs := layouts.Layout{}, []layouts.Layout(nil)
	at := 0 // of what is written
	for i, o := range all {
		l, err := layouts.New(squashed, o.Strides, 0)
		if err != nil {
			return false
		}
		if o.role != access.Input {
			at, written = i, l
			continue
		}
		inputs = append(inputs, l)
	}
	it, err := layouts.Into(written, inputs...)
	if err != nil {
		return false
	}
	walks := slices.Insert(slices.Clone(it.Walk[1:]), at, it.Walk[0])
	n, last := shape[dim], walks[0].Rank()-1
	inner := 1
	if last >= 0 {
		inner = walks[0].Size(last)
	}
	parts, strides := scattered(table.Shape[dim], n, table.Strides[dim], table.ItemSize())
	var rest, apart []int // of the innermost of the other dims
	if along := dim == len(shape)-1 || inner < n; !along {
		if number := slices.IndexFunc(all, func(o walkedAs) bool { return o.at == index }); inner > 1 && number > 0 && walks[number].Stride(last) == 0 { // expanded: of one row all
			if parts, strides = spread(table.tensor, dim, n, inner); parts == nil {
				parts, strides = []int{n}, []int{table.Strides[dim]}
			}
			rest, apart = []int{inner}, []int{walks[0].Stride(last)}
		} else {
			parts, strides, rest, apart = named(table.tensor, dim, n, inner, walks[0].Stride(last))
		}
		w.besides.accesses = float64(product(shape)) * namedAlongRows
		last--
	}
	for i, o := range all {
		sizes, steps := slices.Clone(walks[i].Shape()[:last+1]), slices.Clone(walks[i].Strides()[:last+1])
		if i == 0 {
			steps = slices.Concat(steps, strides, apart)
		} else {
			steps = slices.Concat(steps, inTurn(parts, o.Strides[dim]))
			if rest != nil {
				steps = append(steps, inTurn(rest, walks[i].Stride(last+1))...)
			}
		}
		all[i].Shape, all[i].Strides = slices.Concat(sizes, parts, rest), steps
	}
	var operands []walked
	for _, o := range all {
		operands = append(operands, w.operand(o.tensor, o.role))
	}
	w.add(access.Add, nest.UpTo(len(all[0].Shape)), operands...)
	w.oneByOne(product(all[0].Shape))
	w.besides.at = len(w.specs) - 1
	return true
}

// rowsApart says in what order n rows are touched, of so many, for which the next ones stand so many beside them: so many apart, or a
// page.
func rowsApart(all, n, step, size, beside int) (sizes, strides []int) {
	if step*size < line || n < 4 {
		return scattered(all, n, step, size)
	}
	sizes, strides, n = roundsOf(all, n)
	apart := all / n
	turns := turnsOf(n, min(max(beside/apart, page/(apart*step*size)), n/2), false)
	return append(sizes, turns, n/turns), append(strides, apart*step, turns*apart*step)
}

// named says in what order elements of a table are touched, of which for each of n indices of a dim, and each of so many elements of another
// one, that are a step apart, a number in no order says which is meant along the dim: as sizes and strides of dims that go over the
// indices, and of such that go over the others. Those that share a line are taken from different parts of the table, and the
// next ones from rows beside these, so that no line, and no page, comes again before the others do.
func named(table tensor, dim, n, inner, step int) (sizes, strides, rest, apart []int) {
	all, row, size := table.Shape[dim], table.Strides[dim], table.ItemSize()
	each := 1 // elements of a line
	if step > 0 {
		each = min(max(line/(step*size), 1), inner, all)
	}
	aside := 1 // rows to another line
	if row > 0 {
		aside = max(line/(row*size), 1)
	}
	lines := inner / each
	turns := turnsOf(lines, min(page/line, all/(16*aside), (all-each)/aside+1), false)
	part := (all - (turns-1)*aside) / each // rows
	sizes, strides = rowsApart(part, n, row, size, turns)
	return sizes, strides, []int{lines / turns, turns, each}, []int{turns * each * step, aside*row + each*step, part*row + step}
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

// nameFlat lowers a take, or a put, of elements by their numbers in row-major order, in no order over the memory of the table
// (TakeKernel). It reports false of what names none.
func (w *walks) nameFlat(puts bool) bool {
	inputs := w.inputs()
	if len(inputs) < 2 || product(inputs[1].Shape) == 0 || product(inputs[0].Shape) == 0 {
		return false
	}
	w.nameSingle(inputs[0], product(inputs[1].Shape), reach(inputs[0].Shape, inputs[0].Strides), puts, inputs[2:])
	w.besides.accesses += float64(product(inputs[1].Shape)) * taken
	w.asTheyLie(inputs[1:2])
	return true
}

// nameSingle lowers what reads, or writes, n single elements of a table, in no order over so many elements of memory, to a result or from
// sources.
func (w *walks) nameSingle(x tensor, n, over int, puts bool, sources []tensor) {
	role, outputs := access.Input, w.outputs()
	if puts {
		x, role = w.fresh(x), access.Output
	}
	var shape []int
	shape, x.Strides = scattered(over, n, 1, x.ItemSize())
	x.Shape = shape
	other := tensor{operators.Operand{DType: x.DType, Shape: shape, Strides: inTurn(shape, 1)}, inside} // what is read, or written, in turn
	switch {
	case puts && len(sources) > 0:
		other.at, other.DType = sources[0].at, sources[0].DType
		if product(sources[0].Shape) == 1 {
			other.Strides = make([]int, len(shape))
		}
		sources = sources[1:]
	case !puts && len(outputs) > 0 && product(outputs[0].Shape) == n:
		other.at, other.DType = outputs[0].at, outputs[0].DType
		outputs = outputs[1:]
	}
	otherRole := access.Output
	if puts {
		otherRole, outputs = access.Input, nil
	}
	w.add(access.Add, nest.UpTo(len(shape)), w.operand(x, role), w.operand(other, otherRole))
	w.besides.at = len(w.specs) - 1
	w.oneByOne(n)
	w.asTheyLie(slices.Concat(sources, outputs))
}

// nameTuples lowers x[i, j], or x[i, j] = y, of lists of numbers, which broadcast, for some dims: as many rows of the dims behind
// these, evenly apart, for each element of those before them; all other dims are behind where some are between the lists
// (AdvancedIndex in TensorAdvancedIndexing.cpp). It reports false of other lists, and of results that do not fit.
func (w *walks) nameTuples(puts bool) bool {
	inputs := w.inputs()
	if len(inputs) == 0 {
		return false
	}
	lists := slices.DeleteFunc(slices.Clone(inputs[1:]), func(o tensor) bool { return !o.InList })
	x, sources, dims := inputs[0], inputs[1+len(lists):], len(lists)
	if dims < 2 || dims > len(x.Shape) || slices.ContainsFunc(lists, func(o tensor) bool { return o.DType != "int64" && o.DType != "int32" }) {
		return false
	}
	if len(lists) == len(x.Shape) {
		n, outputs := product(broadcastOf(lists)), w.outputs()
		if n == 0 || product(x.Shape) == 0 || !puts && len(outputs) > 0 && product(outputs[0].Shape) != n {
			return false
		}
		w.nameSingle(x, n, reach(x.Shape, x.Strides), puts, sources)
		w.besides.accesses += float64(n) * indexed(dims)
		w.asTheyLie(lists)
		return true
	}
	return w.nameRows(x, lists, sources, puts)
}

// nameRows lowers nameTuples' where not all dims have a list.
func (w *walks) nameRows(x tensor, lists, sources []tensor, puts bool) bool {
	places := placesOf(lists)
	first, last := places[0], places[len(places)-1]
	if last >= len(x.Shape) {
		return false
	}
	var table tensor // the dims that have lists
	table.Operand = x.Operand
	table.Shape, table.Strides = nil, nil
	var before, after, stepsBefore, stepsAfter []int
	for d, n := range x.Shape {
		switch {
		case slices.Contains(places, d):
			table.Shape, table.Strides = append(table.Shape, n), append(table.Strides, x.Strides[d])
		case d < first && last-first == len(places)-1:
			before, stepsBefore = append(before, n), append(stepsBefore, x.Strides[d])
		default:
			after, stepsAfter = append(after, n), append(stepsAfter, x.Strides[d])
		}
	}
	n, all, each := product(broadcastOf(lists)), product(table.Shape), product(after)
	outputs := w.outputs()
	if n == 0 || all == 0 || each*product(before) == 0 || !puts && len(outputs) > 0 && product(outputs[0].Shape) != n*each*product(before) {
		return false
	}
	if puts {
		x = w.fresh(x)
	}
	step := 0
	if r := reach(table.Shape, table.Strides); r > 1 {
		step = max(r/all, 1)
	}
	table.Shape, table.Strides = []int{all}, []int{step}
	var order, strides []int
	if each == 1 {
		order, strides = scattered(all, n, step, x.ItemSize())
	} else if order, strides = spread(table, 0, n, each); order == nil {
		order, strides = []int{n}, []int{step}
	}
	if each == 1 {
		w.besides.accesses = float64(n*product(before)) * indexed(len(lists))
	} else {
		w.besides.hits = float64(n*product(before)) * rowHits * indexRows
	}
	x.Shape, x.Strides = slices.Concat(before, order, after), slices.Concat(stepsBefore, strides, stepsAfter)
	turn := tensor{operators.Operand{DType: x.DType, Shape: x.Shape, Strides: inTurn(x.Shape, 1)}, inside} // what is read, or written, in turn
	role := access.Output
	switch {
	case puts && len(sources) > 0:
		turn.at, turn.DType, role = sources[0].at, sources[0].DType, access.Input
		if product(sources[0].Shape) < n*each*product(before) {
			turn.Strides = make([]int, len(turn.Shape)) // broadcast, of which what is read stays near
		}
		sources = sources[1:]
	case len(outputs) > 0:
		turn.at, turn.DType = outputs[0].at, outputs[0].DType
		outputs = outputs[1:]
	}
	if puts {
		outputs = nil
		w.put(x, append([]tensor{turn}, sources...), false, nest.UpTo(len(before)+len(order))...)
	} else {
		w.add(access.Add, nest.UpTo(len(before)+len(order)), w.operand(x, access.Input), w.operand(turn, role))
		w.besides.at = len(w.specs) - 1
	}
	w.asTheyLie(slices.Concat(lists, outputs))
	return true
}

// placesOf are the dims for which lists of numbers stand, in ascending order: of a profile that does not say it the first ones.
func placesOf(lists []tensor) []int {
	var places []int
	for _, o := range lists {
		places = append(places, o.Nth)
	}
	slices.Sort(places)
	if len(slices.Compact(slices.Clone(places))) < len(lists) {
		return nest.UpTo(len(lists))
	}
	return places
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
		x = w.fillLike(x)
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

// fillLike is a gradient of the shape of an operand, after it was filled, by what the profile has or else inside.
func (w *walks) fillLike(like tensor) tensor {
	y := dense(like, operators.Output)
	if outputs := w.outputs(); len(outputs) > 0 && slices.Equal(outputs[0].Shape, like.Shape) {
		y = outputs[0]
	}
	if !w.filled {
		w.add(access.Fill, nil, w.operand(y, access.Output))
	}
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
	y := w.fillLike(inputs[1])
	y.Role = operators.InPlace
	w.asTheyLie([]tensor{x, y})
	return true
}
