package layouts_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stridebench/stridebench/layouts"
)

// vectors are the files of one kind, such as views.jsonl.gz, that were recorded
// from PyTorch 1.13: ours, and that of the folder TORCH_VECTORS if it has the
// kind. It may have others, too.
func vectors(t *testing.T, kind string) []string {
	t.Helper()
	files := []string{filepath.Join("testdata", "torch", kind)}
	dir := os.Getenv("TORCH_VECTORS")
	if dir == "" {
		return files
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatalf("TORCH_VECTORS: %v", err)
	}
	recorded := 0
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".jsonl.gz") {
			recorded++
		}
		if e.Name() == kind {
			files = append(files, filepath.Join(dir, kind))
		}
	}
	if recorded == 0 {
		t.Fatalf("TORCH_VECTORS=%s: no *.jsonl.gz there (want a folder of recorded cases)", dir)
	}
	if len(files) == 1 {
		t.Logf("%s has no %s", dir, kind)
	}
	return files
}

// TestVectorsOfAnyKind: a further folder may have some kinds of files only, or
// kinds that no test knows.
func TestVectorsOfAnyKind(t *testing.T) {
	for _, has := range []string{"views.jsonl.gz", "broadcast.jsonl.gz", "elementwise.jsonl.gz"} {
		t.Run(has, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, has), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			t.Setenv("TORCH_VECTORS", dir)
			for _, kind := range []string{"views.jsonl.gz", "broadcast.jsonl.gz"} {
				want := []string{filepath.Join("testdata", "torch", kind)}
				if kind == has {
					want = append(want, filepath.Join(dir, kind))
				}
				if diff := cmp.Diff(want, vectors(t, kind)); diff != "" {
					t.Errorf("%s (-want +got):\n%s", kind, diff)
				}
			}
		})
	}
}

// eachLine decodes the lines of a gzipped file of JSON objects.
func eachLine[T any](t *testing.T, path string, use func(T)) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var c T
		decoder := json.NewDecoder(bytes.NewReader(lines.Bytes()))
		decoder.UseNumber() // a slice's end may be the largest int64
		if err := decoder.Decode(&c); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		use(c)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
}

// A viewCase is one line of views.jsonl.gz.
type viewCase struct {
	ID    string
	DType string
	Start struct {
		Shape, Strides []int
		Offset         int
		StorageLen     int `json:"storage_len"`
	}
	Ops    []torchOp
	Result *torchResult
	Error  string
}

type torchOp struct {
	Op   string
	Args []any
}

type torchResult struct {
	Shape, Strides   []int
	Offset, Numel    int
	IsContiguous     bool  `json:"is_contiguous"`
	IsChannelsLast   bool  `json:"is_channels_last"`
	IsChannelsLast3d bool  `json:"is_channels_last_3d"`
	SharesStorage    *bool `json:"shares_storage"`
	Values           []float64
	Checksum         int64
}

// TestTorchViews replays every recorded chain of operations: equal in shape,
// strides, offset, contiguity, sharing, values and checksum, and an error where
// PyTorch errs, at the same operation. negative.jsonl.gz has sizes below 0, of
// tensors without elements.
func TestTorchViews(t *testing.T) {
	for _, file := range append(vectors(t, "views.jsonl.gz"), filepath.Join("testdata", "torch", "negative.jsonl.gz")) {
		replayed, failing := 0, 0
		eachLine(t, file, func(c viewCase) {
			replayed++
			if c.Error != "" {
				failing++
			}
			replay(t, c)
		})
		t.Logf("%s: %d cases replayed, %d of them errors", file, replayed, failing)
		if replayed == 0 {
			t.Errorf("%s holds no case", file)
		}
	}
}

func replay(t *testing.T, c viewCase) {
	start, err := startTensor(c)
	if err != nil {
		t.Fatalf("%s: %v", c.ID, err)
	}
	x := start
	for i, op := range c.Ops {
		y, err := applyOp(x, op)
		if text, isView := chainOf(op); isView {
			z, refusal := applied(x, text)
			if (refusal == nil) != (err == nil) || err == nil && !z.Layout().Equal(y.Layout()) {
				t.Errorf("%s: %v.%s as text gives %v, %v; the method %v, %v", c.ID, x.Layout(), text, z, refusal, y, err)
			}
		}
		last := i == len(c.Ops)-1
		if err != nil {
			if c.Error == "" || !last {
				t.Errorf("%s: %v.%s%v: %v", c.ID, x.Layout(), op.Op, op.Args, err)
			}
			return
		}
		if c.Error != "" && last {
			t.Errorf("%s: %v.%s%v gives %v, PyTorch refuses: %s", c.ID, x.Layout(), op.Op, op.Args, y.Layout(), c.Error)
			return
		}
		x = y
	}
	have, err := resultOf(x, start)
	if err != nil {
		t.Errorf("%s: %v", c.ID, err)
		return
	}
	want := *c.Result
	if want.Numel == 0 {
		want.SharesStorage, have.SharesStorage = nil, nil
	}
	for _, r := range []*torchResult{&want, have} { // nil and empty lists are one
		r.Shape, r.Strides, r.Values = append([]int{}, r.Shape...), append([]int{}, r.Strides...), append([]float64{}, r.Values...)
	}
	if diff := cmp.Diff(want, *have); diff != "" {
		t.Errorf("%s: %v of %v (-PyTorch +ours):\n%s", c.ID, c.Ops, start.Layout(), diff)
	}
}

// startTensor is 0, 1, 2, ... in the case's dtype, seen as the case starts.
func startTensor(c viewCase) (*layouts.Tensor, error) {
	dtype, err := layouts.ParseDType(c.DType)
	if err != nil {
		return nil, err
	}
	all, err := layouts.Arange(dtype, c.Start.StorageLen)
	if err != nil {
		return nil, err
	}
	return all.AsStrided(c.Start.Shape, c.Start.Strides, c.Start.Offset)
}

// applyOp calls the tensor's method of the operation's name.
func applyOp(x *layouts.Tensor, op torchOp) (*layouts.Tensor, error) {
	var a []int // numbers
	var lists [][]int
	number := func(v any) int {
		n, err := v.(json.Number).Int64()
		if err != nil {
			panic(err)
		}
		return int(n)
	}
	for _, arg := range op.Args {
		list, isList := arg.([]any)
		if !isList {
			a = append(a, number(arg))
			continue
		}
		numbers := []int{}
		for _, n := range list {
			numbers = append(numbers, number(n))
		}
		lists = append(lists, numbers)
	}
	need := map[string]int{"transpose": 2, "narrow": 3, "select": 2, "slice": 4, "unsqueeze": 1, "movedim": 2, "unfold": 3, "diagonal": 3, "unflatten": 1}
	if len(a) < need[op.Op] {
		return nil, fmt.Errorf("%s with arguments %v", op.Op, op.Args)
	}
	switch op.Op {
	case "transpose":
		return x.Transpose(a[0], a[1])
	case "permute":
		return x.Permute(a...)
	case "t":
		return x.T()
	case "narrow":
		return x.Narrow(a[0], a[1], a[2])
	case "select":
		return x.Select(a[0], a[1])
	case "slice":
		return x.Slice(a[0], a[1], a[2], a[3])
	case "unsqueeze":
		return x.Unsqueeze(a[0])
	case "squeeze":
		return x.Squeeze(a...)
	case "expand", "broadcast_to":
		return x.Expand(a...)
	case "view":
		return x.View(a...)
	case "reshape":
		return x.Reshape(a...)
	case "flatten":
		if len(a) == 0 {
			a = []int{0, -1}
		}
		return x.Flatten(a[0], a[1])
	case "unflatten":
		return x.Unflatten(a[0], a[1:]...)
	case "contiguous":
		return x.Contiguous()
	case "contiguous_channels_last":
		return x.ContiguousIn(layouts.ChannelsLast)
	case "contiguous_channels_last_3d":
		return x.ContiguousIn(layouts.ChannelsLast3d)
	case "clone":
		return x.Clone()
	case "flip":
		return x.Flip(a...)
	case "as_strided":
		offset := x.Layout().Offset()
		if len(a) > 0 {
			offset = a[0]
		}
		return x.AsStrided(lists[0], lists[1], offset)
	case "movedim":
		return x.Movedim(a[0], a[1])
	case "unfold":
		return x.Unfold(a[0], a[1], a[2])
	case "diagonal":
		return x.Diagonal(a[0], a[1], a[2])
	case "repeat":
		return x.Repeat(a...)
	}
	return nil, fmt.Errorf("no operation %s", op.Op)
}

// chainOf spells an operation as a chain, if it is one of views.
func chainOf(op torchOp) (text string, isView bool) {
	args := make([]string, len(op.Args))
	for i, a := range op.Args {
		args[i] = strings.ReplaceAll(fmt.Sprint(a), " ", ",")
	}
	list := strings.Join(args, ",")
	switch op.Op {
	case "view", "expand", "broadcast_to", "permute":
		return op.Op + "([" + list + "])", true
	case "unflatten":
		return "unflatten(" + args[0] + ",[" + strings.Join(args[1:], ",") + "])", true
	case "as_strided", "transpose", "t", "narrow", "select", "slice", "unsqueeze", "squeeze", "movedim", "unfold", "diagonal":
		return op.Op + "(" + list + ")", true
	}
	return "", false
}

func resultOf(x, start *layouts.Tensor) (*torchResult, error) {
	l := x.Layout()
	shares := x.Storage() == start.Storage()
	r := &torchResult{Shape: l.Shape(), Strides: l.Strides(), Offset: l.Offset(), Numel: l.Numel(), SharesStorage: &shares,
		IsContiguous: l.IsContiguous(), IsChannelsLast: l.IsChannelsLast(), IsChannelsLast3d: l.IsChannelsLast3d()}
	wide, err := x.To(layouts.Float64)
	if err != nil {
		return nil, err
	}
	values, err := layouts.Values[float64](wide)
	if err != nil {
		return nil, err
	}
	r.Values = values[:min(64, len(values))]
	sum, modulus := new(big.Int), big.NewInt(1<<61-1)
	for i, v := range values {
		term := big.NewInt(int64(i + 1))
		sum.Add(sum, term.Mul(term, big.NewInt(int64(v))))
	}
	r.Checksum = sum.Mod(sum, modulus).Int64()
	return r, nil
}

// TestTorchBroadcast replays the recorded pairs of shapes.
func TestTorchBroadcast(t *testing.T) {
	type broadcastCase struct {
		ID       string
		A, B     []int
		Shape    []int
		AStrides []int `json:"a_strides"`
		BStrides []int `json:"b_strides"`
		Error    string
	}
	for _, file := range vectors(t, "broadcast.jsonl.gz") {
		replayed := 0
		eachLine(t, file, func(c broadcastCase) {
			replayed++
			a, errA := layouts.Contiguous(c.A...)
			b, errB := layouts.Contiguous(c.B...)
			if errA != nil || errB != nil {
				t.Fatal(errA, errB)
			}
			both, err := layouts.Broadcast(a, b)
			if (err != nil) != (c.Error != "") {
				t.Errorf("%s: %v and %v: got %v, PyTorch %q", c.ID, c.A, c.B, err, c.Error)
			}
			if err != nil {
				return
			}
			got := fmt.Sprint(both[0].Shape(), both[0].Strides(), both[1].Shape(), both[1].Strides())
			if want := fmt.Sprint(c.Shape, c.AStrides, c.Shape, c.BStrides); got != want {
				t.Errorf("%s: %v and %v: got %s, PyTorch %s", c.ID, c.A, c.B, got, want)
			}
		})
		if replayed == 0 {
			t.Errorf("%s holds no case", file)
		}
	}
}
