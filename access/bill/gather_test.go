package bill

import (
	"slices"
	"strconv"
	"testing"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/cost"
	"github.com/stridebench/stridebench/access/operators"
)

// bytesOf are those that patterns read and write, as often as they do.
func bytesOf(t *testing.T, specs []access.Spec) int {
	t.Helper()
	bytes := 0
	for _, s := range specs {
		for _, o := range s.Operands {
			n := o.Layout.Numel() * o.DType.Size()
			if !slices.ContainsFunc(o.Layout.Strides(), func(n int) bool { return n != 0 }) {
				n = o.DType.Size() // one element that is written everywhere
			}
			if o.Role == access.InPlace {
				n *= 2
			}
			bytes += n
		}
	}
	return bytes
}

// TestNamed: of a table, what is named is read or written and nothing else, wherever that lies; and a contiguous table has
// no layout to pay for.
func TestNamed(t *testing.T) {
	table, first, last := []int{4096, 1000}, []int{1000, 1}, []int{1, 4096}
	images, nchw, nhwc := []int{8, 20, 64, 64}, []int{81920, 4096, 64, 1}, []int{81920, 1, 1280, 20}
	padded, wide := []int{8, 20, 68, 68}, []int{92480, 4624, 68, 1}
	numbers := func(shape ...int) operators.Operand {
		o := rows(shape, dense(tensor{Operand: in(shape, nil)}, operators.Input).Strides)
		o.InList = false
		return o
	}
	listed := func(shape ...int) operators.Operand { o := numbers(shape...); o.InList = true; return o }
	listedAt := func(nth int, shape ...int) operators.Operand { o := listed(shape...); o.Nth = nth; return o }
	second := listed(128) // as x[:, i] has it
	second.Nth = 1
	place := func(o operators.Operand) operators.Operand { o.Role = operators.InPlace; return o }
	list := func(o ...operators.Operand) []operators.Operand { return o }
	x, one := in(table, first), out([]int{}, []int{})
	const whole, picture = 4 * 4096 * 1000, 4 * 8 * 20 * 64 * 64
	for _, c := range []struct {
		name    string
		args    []string
		inputs  []operators.Operand
		outputs []operators.Operand
		bytes   int
		costs   bool
	}{
		{"nll_loss_forward", nil, list(x, numbers(4096)), list(one, one), 4*4096 + 8*4096 + 8, false},
		{"nll_loss_forward", nil, list(in(table, last), numbers(4096)), list(one, one), 2*whole + 4*4096 + 8*4096 + 8, true},
		{"nll_loss_forward", nil, list(in(table, last), numbers(4096)), list(out([]int{4096}, []int{1}), one), 4*4096 + 8*4096 + 4*4096 + 4, false},
		{"nll_loss_forward", nil, list(in([]int{1000}, []int{1}), numbers()), list(one, one), 4 + 8 + 8, false},
		{"nll_loss_backward", nil, list(in([]int{}, []int{}), x, numbers(4096), in([]int{}, []int{})), list(out(table, first)), 4 + whole + 4*4096 + 8*4096 + 4, false},
		{"nll_loss_backward", nil, list(in([]int{}, []int{}), x, numbers(4096), in([]int{}, []int{})), nil, 4 + whole + 4*4096 + 8*4096 + 4, false},
		{"nll_loss2d_forward", nil, list(in(images, nchw), numbers(8, 64, 64)), list(one, one), 12*8*64*64 + 8, false},
		{"nll_loss2d_forward", nil, list(in(images, nhwc), numbers(8, 64, 64)), list(one, one), 2*picture + 12*8*64*64 + 8, true},
		{"reflection_pad2d", nil, list(in(images, nchw)), list(out(padded, wide)), picture + 4*8*20*68*68, false},
		{"replication_pad2d", nil, list(in(images, nhwc)), list(out(padded, wide)), 3*picture + 4*8*20*68*68, true},
		{"reflection_pad2d_backward", nil, list(in(padded, wide), in(images, nchw)), list(out(images, nchw)), 3*picture + 4*8*20*68*68, false},
		{"_embedding_bag", nil, list(x, numbers(512), numbers(32)), list(out([]int{32, 1000}, first)), 4*512*1000 + 8*512 + 8*32 + 4*32*1000, false},
		{"_embedding_bag", nil, list(x, numbers(8192), numbers(32)), list(out([]int{32, 1000}, first)), 2*whole + 8*8192 + 8*32 + 4*32*1000, false},
		{"index_add_", []string{"", "0", "", ""}, list(place(x), numbers(128), in([]int{128, 1000}, first)), nil, 3*4*128*1000 + 8*128, false},
		{"index_add_", []string{"", "-1", "", ""}, list(place(x), numbers(128), in([]int{4096, 128}, []int{128, 1})), nil, 3*4*128*4096 + 8*128, false},
		{"index_add", []string{"", "0", "", ""}, list(x, numbers(128), in([]int{128, 1000}, first)), list(out(table, first)), 2*whole + 3*4*128*1000 + 8*128, false},
		{"index_copy_", nil, list(place(x), numbers(128), in([]int{128, 1000}, first)), nil, 2*4*128*1000 + 8*128, false},
		{"index_copy_", nil, list(place(x), numbers(128), in([]int{128, 1000}, []int{1, 128})), nil, 2*4*128*1000 + 8*128, true},
		{"index_fill_", []string{"", "0", "", "1"}, list(place(x), numbers(128)), nil, 4*128*1000 + 8*128 + 4, false},
		{"index_put_", nil, list(place(x), numbers(128), in([]int{128, 1000}, first)), nil, 2*4*128*1000 + 8*128, false},
		{"index_put_", nil, list(place(x), numbers(128), in([]int{1, 1000}, first)), nil, 4*128*1000 + 8*128 + 4*1000 + 4, false},
		{"index_put_", nil, list(place(x), numbers(128), in([]int{}, []int{})), nil, 4*128*1000 + 8*128 + 4, false},
		{"index_put_", nil, list(place(x), second, in([]int{}, []int{})), nil, 4*4096*128 + 8*128 + 4, false},
		{"index_put_", nil, list(place(x), second, in([]int{128, 1000}, first)), nil, 2*4*128*1000 + 8*128, false}, // which fits the first dim alone
		{"index_put_", nil, list(place(x), listed(128), listed(128), in([]int{128}, []int{1})), nil, 24 * 128, false},
		{"index", nil, list(x, second), list(out([]int{4096, 128}, []int{128, 1})), 2*4*128*4096 + 8*128, false},
		{"index_select", []string{"", "1", ""}, list(x, numbers(128)), list(out([]int{4096, 128}, []int{128, 1})), 2*4*128*4096 + 8*128, false},
		{"index_select", []string{"", "1", ""}, list(in(table, last), numbers(128)), list(out([]int{4096, 128}, []int{128, 1})), 2*whole + 2*4*128*4096 + 8*128, true}, // of a contiguous copy
		{"index_select", []string{"", "-3", ""}, list(in(images, nhwc), numbers(64)), list(out([]int{8, 64, 64, 64}, []int{262144, 4096, 64, 1})), 2*picture + 2*4*8*64*4096 + 8*64, true},
		{"index_select", []string{"", "2", ""}, list(in(images, nhwc), numbers(8)), list(out([]int{8, 20, 8, 64}, []int{10240, 512, 64, 1})), 2*4*8*20*8*64 + 8*8, true},
		{"index_select", []string{"", "0", ""}, list(in(table, last), numbers(128)), list(out([]int{128, 1000}, first)), 2*4*128*1000 + 8*128, true},
		// More than there are: in rounds.
		{"index_add_", []string{"", "0", "", ""}, list(place(in([]int{64, 1000}, first)), numbers(128), in([]int{128, 1000}, first)), nil, 3*4*128*1000 + 8*128, false},
		{"index_put_", nil, list(place(in([]int{64, 1000}, first)), listed(128), in([]int{128, 1000}, first)), nil, 2*4*128*1000 + 8*128, false},
		{"index_add_", []string{"", "0", "", ""}, list(place(in([]int{4096}, []int{1})), numbers(4096), in([]int{4096}, []int{1})), nil, 3*4*4096 + 8*4096, false},
		{"embedding_dense_backward", []string{"", "", "4096", "-1", "False"}, list(in([]int{2, 64, 1000}, []int{64000, 1000, 1}), numbers(2, 64)), nil, whole + 3*4*128*1000 + 8*128, false},
		{"embedding_dense_backward", nil, list(in([]int{8192, 1000}, first), numbers(8192)), list(out(table, first)), whole + 3*4*8192*1000 + 8*8192, false},
		{"index", nil, list(in([]int{8, 20, 64}, []int{1280, 64, 1}), listed(1600), listed(1600)), list(out([]int{1600, 64}, []int{64, 1})), 2*4*1600*64 + 16*1600, false},
		{"index_put_", nil, list(place(in([]int{8, 20, 64}, []int{1280, 64, 1})), listed(1600), listed(1600), in([]int{1600, 64}, []int{64, 1})), nil, 2*4*1600*64 + 16*1600, false},
		{"index", nil, list(in([]int{8, 20, 64}, []int{1280, 64, 1}), listedAt(1, 32), listedAt(2, 32)), list(out([]int{8, 32}, []int{32, 1})), 2*4*8*32 + 16*32, false},        // x[:, i, j]
		{"index", nil, list(in([]int{8, 20, 64}, []int{1280, 64, 1}), listedAt(0, 100), listedAt(2, 100)), list(out([]int{100, 20}, []int{20, 1})), 2*4*20*100 + 16*100, false}, // x[i, :, j]
		{"index", nil, list(x, listed(64, 1), listed(32)), list(out([]int{64, 32}, []int{32, 1})), 8*64*32 + 8*96, false},
		{"index", nil, list(in(images, nchw), listed(128), listed(128)), list(out([]int{128, 64, 64}, []int{4096, 64, 1})), 2*4*128*4096 + 16*128, false},
		{"index", nil, list(in(images, nchw), listed(16), listed(16)), list(out([]int{8, 16, 64}, []int{1024, 64, 1})), picture + 16*16 + 4*8*16*64, false}, // x[:, i, j]
		{"gather", []string{"", "1", "", "False"}, list(x, numbers(4096, 4)), list(out([]int{4096, 4}, []int{4, 1})), 16 * 4096 * 4, false},
		{"gather", []string{"", "1", "", "False"}, list(x, numbers(4096, 2000)), list(out([]int{4096, 2000}, []int{2000, 1})), 16 * 4096 * 2000, false},
		{"scatter_", []string{"", "1", "", ""}, list(place(x), numbers(4096, 4), in([]int{4096, 8}, []int{8, 1})), nil, 16 * 4096 * 4, false},
		{"scatter_add", []string{"", "1", "", ""}, list(x, numbers(4096, 4), in([]int{4096, 4}, []int{4, 1})), list(out(table, first)), 2*whole + 20*4096*4, false},
		{"scatter_add_", []string{"", "1", ""}, list(place(x), numbers(4096, 4), in([]int{}, []int{})), nil, 16*4096*4 + 4, false},
		{"gather", []string{"", "0", "", "False"}, list(in([]int{100}, []int{1}), numbers()), list(out([]int{}, []int{})), 16, false}, // of one number
		{"scatter_", []string{"", "0", "", ""}, list(place(in([]int{100}, []int{1})), numbers(), in([]int{}, []int{})), nil, 16, false},
		{"take", nil, list(x, numbers(4096)), list(out([]int{4096}, []int{1})), 16 * 4096, false},
		{"put_", nil, list(place(x), numbers(4096), in([]int{4096}, []int{1})), nil, 16 * 4096, false},
		{"trace", nil, list(x), list(one), 4*1000 + 4, false},
		{"diag", nil, list(x), list(out([]int{1000}, []int{1})), 8 * 1000, false},
		{"diag", nil, list(in([]int{1000}, []int{1})), list(out([]int{1000, 1000}, []int{1000, 1})), 4*1000 + 4*1000*1000, false},
	} {
		op := operators.Operator{Op: "aten::" + c.name, Class: operators.Gather, Args: c.args, Inputs: c.inputs, Outputs: c.outputs}
		l, err := lower(op, calls{})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if bytes := bytesOf(t, l.specs); bytes != c.bytes {
			t.Errorf("%s %v: %d B, want %d", c.name, c.args, bytes, c.bytes)
		}
		if i := itemOf(t, op); i.Layout > 0 != c.costs {
			t.Errorf("%s %v of %v: layout %v of %v ns", c.name, c.args, c.inputs[0].Strides, i.Layout, i.Ns)
		}
	}
	// A copy that the profile has is not counted twice.
	select1 := operators.Operator{Op: "aten::index_select", Class: operators.Gather, Args: []string{"", "1", ""},
		Inputs: list(in(table, last), numbers(128)), Outputs: list(out([]int{4096, 128}, []int{128, 1}))}
	if l, err := lower(select1, calls{copies: map[string]bool{select1.Op: true}}); err != nil || len(l.specs) != 2 {
		t.Errorf("%s with its copy in the profile: %+v, %v", select1.Op, l.specs, err)
	}
	op := operators.Operator{Op: "aten::reflection_pad2d", Class: operators.Gather, Inputs: list(in(images, nhwc)), Outputs: list(out(padded, wide))}
	if v := itemOf(t, op).Verdict; v != produce {
		t.Errorf("%s of channels_last: %s", op.Op, v)
	}
	if l, err := lower(op, calls{copies: map[string]bool{op.Op: true}}); err != nil || len(l.specs) != 2 {
		t.Errorf("%s with its copy in the profile: %+v, %v", op.Op, l.specs, err)
	}
}

// TestNamedWithin: what is named lies within the table, of whatever strides that is.
func TestNamedWithin(t *testing.T) {
	list := rows([]int{100}, []int{1})
	for _, strides := range [][]int{{1000, 1}, {1, 1000}, {2000, 2}, {1, 0}, {0, 0}} {
		x := in([]int{1000, 1000}, strides)
		for _, op := range []operators.Operator{
			{Op: "aten::take", Inputs: []operators.Operand{x, list}},
			{Op: "aten::index", Inputs: []operators.Operand{x, list, list}},
			{Op: "aten::nll_loss_forward", Inputs: []operators.Operand{x, rows([]int{1000}, []int{1})}, Outputs: []operators.Operand{out([]int{1000}, []int{1})}},
			{Op: "aten::gather", Args: []string{"", "1"}, Inputs: []operators.Operand{x, rows([]int{1000, 10}, []int{10, 1})}},
		} {
			op.Class = operators.Gather
			l, err := lower(op, calls{})
			if err != nil {
				t.Fatal(err)
			}
			named := l.specs[0].Operands[0].Layout
			if last := reach(named.Shape(), named.Strides()); last > reach(x.Shape, x.Strides) {
				t.Errorf("%s of strides %v: %d elements of memory", op.Op, strides, last)
			}
		}
	}
}

// TestRowsApart: numbers in no order name rows that share no line with those before them, also where rows lie beside one
// another; and what is read lies within the table, each row once.
func TestRowsApart(t *testing.T) {
	for _, c := range []struct{ rows, width, numbers, least int }{
		{30011, 128, 512, 512 * 128},
		{3011, 128, 1000, 1000 * 128},
		{4011, 128, 3001, 3000 * 128},
		{67, 128, 2, 2 * 128},
		{4011, 128, 9000, 8900 * 128},
	} {
		op := operators.Operator{Op: "aten::embedding", Class: operators.Gather,
			Inputs:  []operators.Operand{in([]int{c.rows, c.width}, []int{1, c.rows}), rows([]int{c.numbers}, []int{1})},
			Outputs: []operators.Operand{out([]int{c.numbers, c.width}, []int{c.width, 1})}}
		if i := itemOf(t, op); c.numbers > 2 && i.Predicted.Misses[0].Count < .99*float64(c.least) {
			t.Errorf("%d of %d columns: %v L1 misses, want one for each of %d elements", c.numbers, c.rows, i.Predicted.Misses[0].Count, c.least)
		}
		l, err := lower(op, calls{})
		if err != nil {
			t.Fatal(err)
		}
		read := l.specs[0].Operands[0].Layout
		if last := reach(read.Shape(), read.Strides()); last > c.rows*c.width || read.Numel() > c.numbers*c.width || read.Numel() < c.least {
			t.Errorf("%d of %d columns: %v of strides %v is read", c.numbers, c.rows, read.Shape(), read.Strides())
		}
	}
}

// TestEachRow: a table is not read as fast as what lies side by side: there is something to do for each row, and rows in no order
// are no stream, whether all are named or few, and fall into all sets of a cache.
func TestEachRow(t *testing.T) {
	rowMajor := func(o operators.Operand) operators.Operand {
		o.Strides = dense(tensor{Operand: o}, o.Role).Strides
		return o
	}
	take := func(name string, all, width, n int) Item {
		return itemOf(t, operators.Operator{Op: "aten::" + name, Class: operators.Gather,
			Inputs:  []operators.Operand{rowMajor(in([]int{all, width}, nil)), rows([]int{n}, []int{1})},
			Outputs: []operators.Operand{rowMajor(out([]int{n, width}, nil))}})
	}
	alike := func(width, n int) Item {
		return itemOf(t, operators.Operator{Op: "aten::copy_", Class: operators.Copy,
			Inputs: []operators.Operand{rowMajor(out([]int{n, width}, nil)), rowMajor(in([]int{n, width}, nil))}})
	}
	hit := typical(t).Times.Hit
	for _, n := range []int{1000, 10000} {
		few, again := take("embedding", 50, 4, n), take("index", 50, 4, n)
		if per := few.Ns / float64(n) / hit; per < 2 || per > 4 {
			t.Errorf("%d rows of 4: %.1f hits a row", n, per)
		}
		if more := (again.Ns - few.Ns) / float64(n) / hit; more < 2 || again.Layout != 0 {
			t.Errorf("%d rows of 4 by x[index]: %.1f hits a row more, layout %v", n, more, again.Layout)
		}
	}
	for _, c := range []struct{ all, width, n int }{{30000, 256, 30000}, {30000, 256, 4096}, {100000, 64, 100000}, {100000, 128, 32768}} {
		x, y := take("embedding", c.all, c.width, c.n), alike(c.width, c.n)
		if less := y.Ns + 3*hit*float64(c.n); x.Ns < less || x.Layout != 0 {
			t.Errorf("%d rows of %dx%d: %v ns, layout %v, want %v and more", c.n, c.all, c.width, x.Ns, x.Layout, less)
		}
	}
	// 4096 lines of a table fit the second level, wherever they lie in it.
	if x := take("embedding", 98304, 16, 2048); x.Predicted.Misses[1].Count > 100 {
		t.Errorf("2048 rows of a line: %v misses of the second level", x.Predicted.Misses[1].Count)
	}
}

// TestScattered: single elements that are named in no order lie within the table, nearly as many as are named, evenly over it, and
// where there are more than a page of them none shares a line, or is beside that, with the one before it.
func TestScattered(t *testing.T) {
	for _, c := range []struct{ all, n, step, size int }{
		{1000, 1000, 1, 4}, {1000, 256, 1, 4}, {4096, 4096, 1, 4}, {4096, 4096, 1, 8}, {32768, 32768, 1, 4}, {1 << 22, 500000, 1, 4}, {1 << 22, 1 << 22, 1, 1},
		{300, 1000, 1, 4}, {16, 8, 1, 4}, {1, 5, 1, 4}, {2048, 2048, 2048, 4}, {2048, 100, 3, 4}, {3001, 3001, 7, 8}, {997, 1000, 5, 4},
	} {
		sizes, strides := scattered(c.all, c.n, c.step, c.size)
		if got := product(sizes); got > c.n || float64(got) < .87*float64(c.n) {
			t.Errorf("%v: %d elements", c, got)
		}
		last := reach(sizes, strides)
		if last > reach([]int{c.all}, []int{c.step}) || c.n > 1 && c.all > 1 && float64(last) < .75*float64(c.all*c.step) {
			t.Errorf("%v: up to %d, %v of strides %v", c, last, sizes, strides)
		}
		if inner := strides[len(strides)-1] * c.size; min(c.n, c.all)*c.step*c.size > 2*page && inner < 2*line {
			t.Errorf("%v: %d B apart", c, inner)
		}
	}
}

// TestAlongDim: of a gather, or a scatter, along another dim than the last one the loop goes along the dim if that is longer than
// the innermost of the others, and else along that for each index, of which each is of another row.
func TestAlongDim(t *testing.T) {
	rowMajor := func(shape ...int) operators.Operand {
		return operators.Operand{Shape: shape, Strides: dense(tensor{Operand: in(shape, nil)}, operators.Input).Strides, DType: "float32", Role: operators.Input}
	}
	numbers := func(shape ...int) operators.Operand { o := rowMajor(shape...); o.DType = "int64"; return o }
	for _, c := range []struct {
		dim          string
		table, index []int
		along        bool
	}{
		{"0", []int{4096, 256}, []int{4096, 256}, true},
		{"0", []int{4096, 256}, []int{257, 256}, true},
		{"0", []int{4096, 256}, []int{256, 256}, false},
		{"0", []int{256, 4096}, []int{256, 4096}, false},
		{"1", []int{256, 4096}, []int{256, 4096}, true},
		{"1", []int{256, 4096}, []int{256, 4}, true},
		{"1", []int{8, 64, 32, 32}, []int{8, 64, 32, 32}, false},
		{"1", []int{8, 64, 4, 4}, []int{8, 64, 4, 4}, true},
		{"2", []int{8, 64, 32, 32}, []int{8, 64, 32, 32}, false},
		{"0", []int{1000}, []int{50}, true},
	} {
		for _, name := range []string{"gather", "scatter_", "scatter_add_"} {
			x, index, source := rowMajor(c.table...), numbers(c.index...), rowMajor(c.index...)
			op := operators.Operator{Op: "aten::" + name, Class: operators.Gather, Args: []string{"", c.dim, ""}, Inputs: []operators.Operand{x, index}}
			if name == "gather" {
				source.Role = operators.Output
				op.Outputs = []operators.Operand{source}
			} else {
				op.Inputs[0].Role = operators.InPlace
				op.Inputs = append(op.Inputs, source)
			}
			l, err := lower(op, calls{})
			if err != nil || len(l.specs) != 1 || len(l.twins) != 1 {
				t.Fatalf("%s %v: %+v, %v", name, c, l.specs, err)
			}
			spec := l.specs[0]
			at, along := slices.IndexFunc(spec.Operands, func(o access.Operand) bool { return o.DType.String() == "int64" }), l.besides.accesses == 0
			numbers, table := spec.Operands[at].Layout, spec.Operands[0].Layout
			dim, err := strconv.Atoi(c.dim)
			if err != nil {
				t.Fatal(err)
			}
			last := numbers.Rank() - 1
			if along = along || len(c.index)-1 == dim || c.index[len(c.index)-1] == 4; along != c.along {
				t.Errorf("%s %v: along the dim %v", name, c, along)
			}
			if want := index.Strides[dim]; c.along && numbers.Stride(last) != want || !c.along && numbers.Stride(last) != 1 {
				t.Errorf("%s %v: numbers %v of strides %v", name, c, numbers.Shape(), numbers.Strides())
			}
			if !c.along && table.Stride(last) < x.Strides[dim] {
				t.Errorf("%s %v: the next one is %d elements away, rows are %d apart", name, c, table.Stride(last), x.Strides[dim])
			}
			if n := numbers.Numel(); n > product(c.index) || float64(n) < .87*float64(product(c.index)) {
				t.Errorf("%s %v: %d elements of %d", name, c, n, product(c.index))
			}
			if reach(table.Shape(), table.Strides()) > product(c.table) {
				t.Errorf("%s %v: beyond the table, %v of strides %v", name, c, table.Shape(), table.Strides())
			}
			if i := itemOf(t, op); i.Layout != 0 {
				t.Errorf("%s %v: layout %v of %v ns", name, c, i.Layout, i.Ns)
			}
		}
	}
}

// TestSingleElements: what goes by single elements takes as many accesses for each as PyTorch's loops have, also where all
// stays in the first level, and no vectors.
func TestSingleElements(t *testing.T) {
	rowMajor := func(role operators.Role, dtype string, shape ...int) operators.Operand {
		return operators.Operand{Shape: shape, Strides: dense(tensor{Operand: in(shape, nil)}, operators.Input).Strides, DType: dtype, Role: role}
	}
	x, y := rowMajor(operators.Input, "float32", 8, 128), rowMajor(operators.Output, "float32", 8, 128)
	place, source := rowMajor(operators.InPlace, "float32", 8, 128), rowMajor(operators.Input, "float32", 8, 128)
	list, each := rowMajor(operators.Input, "int64", 128), rowMajor(operators.Input, "int64", 8, 128)
	flat, in1, out1 := rowMajor(operators.Input, "int64", 1024), rowMajor(operators.Input, "float32", 1024), rowMajor(operators.Output, "float32", 1024)
	listed, second := flat, flat
	listed.InList, second.InList = true, true
	second.Nth = 1
	column := list
	column.InList, column.Nth = true, 1
	all := func(o ...operators.Operand) []operators.Operand { return o }
	one := typical(t).Times.Hit * cost.Fitted().Rules.Compiled
	for _, c := range []struct {
		name            string
		dim             string
		inputs, outputs []operators.Operand
		accesses        float64
	}{
		{"gather", "1", all(x, each), all(y), 3},
		{"gather", "0", all(x, each), all(y), 3 + 9},
		{"scatter_", "1", all(place, each, source), nil, 3},
		{"scatter_", "0", all(place, each, source), nil, 3 + 9},
		{"scatter_add_", "1", all(place, each, source), nil, 4},
		{"index", "", all(x, column), all(y), 2 + 11},
		{"index", "", all(x, listed, second), all(out1), 2 + 16},
		{"index_put_", "", all(place, column, source), nil, 2 + 11},
		{"index_put_", "", all(place, listed, second, in1), nil, 2 + 16},
		{"index_select", "1", all(x, list), all(y), 2},
		{"index_copy_", "1", all(place, list, source), nil, 2 + 8},
		{"index_fill_", "1", all(place, list), nil, 2 + 9},
		{"take", "", all(x, flat), all(out1), 2 + 9},
		{"put_", "", all(place, flat, in1), nil, 2 + 9},
	} {
		i := itemOf(t, operators.Operator{Op: "aten::" + c.name, Class: operators.Gather, Args: []string{"", c.dim, ""}, Inputs: c.inputs, Outputs: c.outputs})
		if got := i.Ns / 1024 / one; got < c.accesses || got > 1.4*c.accesses+2 || i.Layout != 0 {
			t.Errorf("%s %s: %.1f accesses an element, layout %v, want %v and little more", c.name, c.dim, got, i.Layout, c.accesses)
		}
	}
}

// TestRowsPut: what writes rows by their numbers writes them where they lie, far from one another, and no stream.
func TestRowsPut(t *testing.T) {
	x, source := in([]int{50000, 128}, []int{128, 1}), in([]int{4096, 128}, []int{128, 1})
	x.Role = operators.InPlace
	for _, name := range []string{"index_put_", "index_copy_", "index_add_"} {
		l, err := lower(operators.Operator{Op: "aten::" + name, Class: operators.Gather, Args: []string{"", "0", "", ""}, Inputs: []operators.Operand{x, rows([]int{4096}, []int{1}), source}}, calls{})
		if err != nil {
			t.Fatal(err)
		}
		part := l.specs[0].Operands[0].Layout
		if d := part.Rank() - 2; part.Numel() < 4000*128 || part.Stride(d) < page/4 || reach(part.Shape(), part.Strides()) < 45000*128 || reach(part.Shape(), part.Strides()) > 50000*128 {
			t.Errorf("%s: %v of strides %v", name, part.Shape(), part.Strides())
		}
	}
}

// TestExpandedNumbers: a gather of whole rows, whose numbers are expanded, touches these as they lie, and not single elements.
func TestExpandedNumbers(t *testing.T) {
	x, y := in([]int{4096, 1000}, []int{1000, 1}), out([]int{128, 1000}, []int{1000, 1})
	prices := map[bool]float64{}
	for _, expanded := range []bool{false, true} {
		index := rows([]int{128, 1000}, []int{1000, 1})
		if index.InList = false; expanded {
			index.Strides = []int{1, 0}
		}
		op := operators.Operator{Op: "aten::gather", Class: operators.Gather, Args: []string{"", "0", "", "False"}, Inputs: []operators.Operand{x, index}, Outputs: []operators.Operand{y}}
		l, err := lower(op, calls{})
		if err != nil {
			t.Fatal(err)
		}
		table := l.specs[0].Operands[0].Layout
		if last := table.Rank() - 1; (table.Size(last) == 1000 && table.Stride(last) == 1) != expanded {
			t.Errorf("expanded %t: the table is walked as %v of strides %v", expanded, table.Shape(), table.Strides())
		}
		prices[expanded] = itemOf(t, op).Ns
	}
	if prices[true] >= prices[false] {
		t.Errorf("rows take %v ns, single elements %v", prices[true], prices[false])
	}
}

// TestAddOneByOne: an index_add of what has one dim is a loop over elements, with no walk for each, as it has over rows (on a Zen 4 of
// 100,000 elements 1.2 ns each, and 34 for rows of 8).
func TestAddOneByOne(t *testing.T) {
	add := func(shape, source []int) float64 {
		x := in(shape, inTurn(shape, 1))
		x.Role = operators.InPlace
		index := rows([]int{source[0]}, []int{1})
		index.InList = false
		return itemOf(t, operators.Operator{Op: "aten::index_add_", Class: operators.Gather, Args: []string{"", "0", "", "", "1"},
			Inputs: []operators.Operand{x, index, in(source, inTurn(source, 1))}}).Ns / float64(source[0])
	}
	one, row, more := add([]int{1000}, []int{1000}), add([]int{1000, 8}, []int{1000, 8}), add([]int{50, 8}, []int{1000, 8})
	if one*10 > row || more < row/2 {
		t.Errorf("an element takes %v ns, a row %v, one of fewer %v", one, row, more)
	}
}
