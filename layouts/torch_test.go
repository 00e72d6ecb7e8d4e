package layouts_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/stridebench/stridebench/layouts"
)

// eachCase decodes the recorded cases of a kind, such as torch/views.jsonl.gz: a gzipped file of
// JSON objects. It reads ours, and that of the folder TORCH_VECTORS, if it has the kind.
func eachCase[T any](t *testing.T, kind string, use func(T)) {
	t.Helper()
	files := []string{filepath.Join("testdata", kind)}
	if dir := os.Getenv("TORCH_VECTORS"); dir != "" {
		files = append(files, must(filepath.Glob(filepath.Join(dir, filepath.Base(kind))))...)
	}
	for _, file := range files {
		lines := must(gzip.NewReader(bytes.NewReader(must(os.ReadFile(file)))))
		decoder := json.NewDecoder(lines)
		decoder.UseNumber() // an int64 has more bits than a float64
		cases := 0
		for ; ; cases++ {
			var c T
			err := decoder.Decode(&c)
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			use(c)
		}
		if t.Logf("%s: %d cases", file, cases); cases == 0 {
			t.Errorf("%s holds no case", file)
		}
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
	Args json.RawMessage // a list of integers and lists of them
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
	for _, kind := range []string{"torch/views.jsonl.gz", "torch/negative.jsonl.gz"} {
		eachCase(t, kind, func(c viewCase) { replay(t, c) })
	}
}

func replay(t *testing.T, c viewCase) {
	all := arange(c.Start.StorageLen, "to("+c.DType+")")
	start := apply(all, fmt.Sprintf("as_strided((%s),(%s),%d)", listed(c.Start.Shape),
		listed(c.Start.Strides), c.Start.Offset))
	x := start
	for i, op := range c.Ops {
		text := spelled(op)
		y, err := applied(x, text)
		last := i == len(c.Ops)-1
		if err != nil {
			if c.Error == "" || !last {
				t.Errorf("%s: %v.%s: %v", c.ID, x.Layout(), text, err)
			}
			return
		}
		if c.Error != "" && last {
			t.Errorf("%s: %v.%s gives %v, PyTorch refuses: %s", c.ID, x.Layout(), text, y.Layout(), c.Error)
			return
		}
		x = y
	}
	want, have := *c.Result, resultOf(x, start)
	if want.Numel == 0 {
		want.SharesStorage, have.SharesStorage = nil, nil
	}
	if diff := cmp.Diff(want, *have, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%s: %v of %v (-PyTorch +ours):\n%s", c.ID, c.Ops, start.Layout(), diff)
	}
}

// spelled is the operation as a chain.
func spelled(op torchOp) string {
	args := string(op.Args[1 : len(op.Args)-1])
	if format, is := strings.CutPrefix(op.Op, "contiguous_"); is {
		return "contiguous(memory_format=torch." + format + ")"
	}
	if args == "" && emptyList.MatchString(op.Op) {
		args = "()"
	}
	return op.Op + "(" + args + ")"
}

// emptyList are the operations that take a list, and so an empty one.
var emptyList = regexp.MustCompile(`^(view|reshape|expand|broadcast_to|permute|flip|repeat)$`)

// listed writes integers as Python's tuple without its parentheses.
func listed(ints []int) string {
	text := ""
	for _, n := range ints {
		text += fmt.Sprint(n, ",")
	}
	return text
}

func resultOf(x, start *layouts.Tensor) *torchResult {
	l := x.Layout()
	shares := x.Storage() == start.Storage()
	r := &torchResult{Shape: l.Shape(), Strides: l.Strides(), Offset: l.Offset(), Numel: l.Numel(),
		SharesStorage: &shares,
		IsContiguous:  l.IsContiguous(), IsChannelsLast: l.Rank() == 4 && l.IsChannelsLast(),
		IsChannelsLast3d: l.Rank() == 5 && l.IsChannelsLast()}
	var values []float64
	if l.Numel() > 0 { // else a size may be negative, which no copy has
		values = must(layouts.Values[float64](apply(x, "double()")))
	}
	r.Values = values[:min(64, len(values))]
	var whole []int
	for _, v := range values {
		whole = append(whole, int(v))
	}
	r.Checksum = checksum(whole)
	return r
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
	eachCase(t, "torch/broadcast.jsonl.gz", func(c broadcastCase) {
		a, b := must(layouts.Contiguous(c.A...)), must(layouts.Contiguous(c.B...))
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
}

func checksum(values []int) (sum int64) {
	for i, v := range values {
		if sum += int64((i + 1) * v); sum >= 1<<61-1 {
			sum %= 1<<61 - 1
		}
	}
	return sum
}
