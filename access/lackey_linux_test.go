package access

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"github.com/stridebench/stridebench/access/kernel"
	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/layouts/nest"
	"golang.org/x/sys/unix"
)

// traced are the patterns whose real accesses are compared with their nests:
// each kernel, dtype and operation that exists, along rows, across them, and in
// steps.
func traced() (all []Pattern, err error) {
	add := func(s Spec) {
		p, refused := s.Pattern()
		if refused != nil {
			err = errors.Join(err, fmt.Errorf("%+v: %w", s, refused))
		}
		all = append(all, p)
	}
	for dtype := layouts.Bool; dtype <= layouts.Complex128; dtype++ {
		for op := range Chase {
			for _, k := range []Kernel{Scalar, Builtin, kernelOf("portable"), kernelOf("avx2")} {
				s := Spec{Op: op, Shape: []int{3, 33}, Pad: 1, DType: dtype, Kernel: k, With: map[Op][]int{Add: {1}}[op]}
				if p, err := s.Pattern(); err != nil || Measurable(p, 0) != nil {
					continue // there is no such kernel, or not here
				}
				add(s)
				if k == Scalar || op == Copy && k == kernelOf("portable") {
					s.View = layouts.MustParseChain("t()")
					add(s)
					s.Shape, s.View = []int{2, 2 * longRow}, layouts.MustParseChain("slice(1,0,999999,2)")
					add(s)
				}
				if k == Scalar {
					s.Shape, s.View = []int{2, longRow}, layouts.Chain{}
					add(s)
				}
			}
		}
	}
	for _, set := range kernel.Sets() {
		if set.Name() == "avx512" {
			continue // which Valgrind does not know
		}
		for _, dtype := range []layouts.DType{layouts.Uint8, layouts.Int16, layouts.Float32, layouts.Float64, layouts.Complex128} {
			s := Spec{Op: Copy, Shape: []int{67, 70}, Pad: 1, DType: dtype, View: layouts.MustParseChain("t()"), Kernel: VectorKernel(set)}
			add(s) // in tiles, with edges
			// A few channels, interleaved and taken apart, with edges.
			for _, shape := range [][]int{{2, 3, 70}, {2, 70, 3}} {
				add(Spec{Op: Copy, Shape: shape, DType: dtype, View: layouts.MustParseChain("permute(0,2,1)"), Kernel: VectorKernel(set)})
			}
			// Through buffers, where the set has them for such elements.
			if size := dtype.Size(); size == 4 || size == 8 {
				s.Shape, s.Pad = []int{4*256/size + 1, 20}, 4096/size-20
				add(s)
			} else if size < 4 {
				s.Shape, s.Pad = []int{256/size + 1, 2*64/size + 1}, 4096/size-2*64/size-1
				add(s)
			}
		}
	}
	for _, dtype := range []layouts.DType{layouts.Uint8, layouts.Float32, layouts.Complex64, layouts.Complex128} {
		ab, blocked := tag("ab"), tag("BA16a4b")
		add(Spec{Op: Reorder, Shape: []int{33, 70}, DType: dtype, From: ab, To: blocked}) // with padding
		add(Spec{Op: Reorder, Shape: []int{33, 70}, DType: dtype, From: blocked, To: ab, Order: AsFrom})
		add(Spec{Op: Sum, Shape: []int{33, 70}, DType: dtype, From: blocked, Order: AsFrom})
		add(Spec{Op: Fill, Shape: []int{33, 70}, DType: dtype, From: blocked})
	}
	for _, set := range kernel.Sets() {
		if set.Name() != "avx512" {
			add(Spec{Op: Reorder, Shape: []int{64, 64}, DType: layouts.Float32, From: tag("ba"), To: tag("AB16b16a2b"), Kernel: VectorKernel(set)})
		}
	}
	add(Spec{Op: Copy, Shape: []int{9, 10}, Tile: []int{4, 4}, DType: layouts.Int32})
	add(Spec{Op: Add, Shape: []int{3, 5}, With: []int{3, 5}, Order: Col, DType: layouts.Float64})
	add(Spec{Op: Chase, Shape: []int{100}, DType: layouts.Int64})
	return all, err
}

// longRow elements are so many that what the loops around them touch of the stack
// is little beside.
const longRow = 800

// tracedTimes is how often each pass is traced: on a busy machine another thread
// of Go's runtime may run in the middle of one, whose accesses would pass for
// those of the stack.
const tracedTimes = 3

// Traced memory lies where nests say that it does. A write to the page before it
// begins a pass, and another one ends it.
const (
	mark         = Origin - 4096
	markText     = "fffff000,"
	tracedMemory = 4 << 20 // bytes, at most
)

// TestMain runs the tests, or for TestLackey the passes that it traces.
func TestMain(m *testing.M) {
	if os.Getenv("STRIDEBENCH_TRACED") == "" {
		os.Exit(m.Run())
	}
	if err := runTraced(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func runTraced() error {
	debug.SetGCPercent(-1)
	runtime.LockOSThread()
	patterns, err := traced()
	if err != nil {
		return err
	}
	length := uintptr(Origin - mark + tracedMemory)
	at, _, errno := unix.Syscall6(unix.SYS_MMAP, mark, length, unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_FIXED_NOREPLACE, ^uintptr(0), 0)
	if errno != 0 || at != mark {
		return fmt.Errorf("mapping %d B at %#x: %#x, %v", length, uint64(mark), at, errno)
	}
	marker := (*byte)(unsafe.Add(nil, mark))
	mem := unsafe.Slice((*byte)(unsafe.Add(nil, Origin)), tracedMemory)
	for _, p := range patterns {
		r, err := newRunner(p, mem)
		if err != nil {
			return err
		}
		r.prepare() // what is in the tensors decides the path of some kernels
		for range tracedTimes {
			*marker = 1
			r.passes(1)
			*marker = 2
		}
	}
	return nil
}

// TestLackey compares every access that a native pass makes to the tensors and
// buffers, as Valgrind's Lackey sees it, with those of the nests, byte for byte
// and in order.
func TestLackey(t *testing.T) {
	valgrind, err := exec.LookPath("valgrind")
	if err != nil || runtime.GOARCH != "amd64" || testing.Short() {
		t.Skip("no Valgrind for amd64 here to trace the accesses of passes with, or -short")
	}
	// A build of its own: Valgrind runs no race detector.
	binary := filepath.Join(t.TempDir(), "traced")
	if out, err := exec.Command("go", "test", "-c", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("building the passes to trace: %v\n%s", err, out)
	}
	trace, log, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer trace.Close()
	cmd := exec.Command(valgrind, "--tool=lackey", "--trace-mem=yes", "--basic-counts=no", "--log-fd=3", binary)
	cmd.Env = append(os.Environ(), "STRIDEBENCH_TRACED=1", "GODEBUG=asyncpreemptoff=1", "GOMAXPROCS=1")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = &out, &out, []*os.File{log}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	log.Close()
	passes, err := tracedPasses(trace)
	if waited := cmd.Wait(); err != nil || waited != nil {
		t.Fatalf("%v, %v\n%s", err, waited, out.Bytes())
	}
	patterns, err := traced()
	if err != nil {
		t.Fatal(err)
	}
	if len(passes) != tracedTimes*len(patterns) {
		t.Fatalf("%d passes in the trace, want %d of each of %d patterns", len(passes), tracedTimes, len(patterns))
	}
	for i, p := range patterns {
		others := math.MaxInt
		for _, pass := range passes[tracedTimes*i:][:tracedTimes] {
			comparePass(t, p, pass.touched)
			others = min(others, pass.others)
		}
		if touched := len(passes[tracedTimes*i].touched); p.Spec.Shape[len(p.Spec.Shape)-1] >= longRow && others >= touched {
			t.Errorf("%s: %d accesses of the view and %d of the stack: a body does not keep all that it uses in registers",
				p.Spec.Name(), touched, others)
		}
	}
}

// A tracedPass is what Lackey saw of a pass.
type tracedPass struct {
	touched []touch // of the tensors and buffers
	others  int     // accesses of anything else, such as the stack
}

// tracedPasses reads the passes of a trace.
func tracedPasses(trace io.Reader) (passes []tracedPass, err error) {
	lines := bufio.NewScanner(trace)
	inside := false
	for lines.Scan() {
		// " L 100000000,8" is a load, S a store, M both.
		line := lines.Text()
		if len(line) < 5 || line[0] != ' ' || line[2] != ' ' || !inside && !strings.HasPrefix(line[3:], markText) {
			continue
		}
		addr, width, _ := strings.Cut(line[3:], ",")
		at, err1 := strconv.ParseUint(addr, 16, 64)
		n, err2 := strconv.Atoi(width)
		switch {
		case err1 != nil || err2 != nil:
			return nil, fmt.Errorf("%q in the trace", line)
		case at == mark:
			if inside = !inside; inside {
				passes = append(passes, tracedPass{})
			}
			continue
		}
		p := &passes[len(passes)-1]
		if at < Origin || at >= Origin+tracedMemory {
			p.others++
			continue
		}
		if line[1] != 'S' {
			p.touched = append(p.touched, touch{"", nest.Read, at, n})
		}
		if line[1] != 'L' {
			p.touched = append(p.touched, touch{"", nest.Write, at, n})
		}
	}
	return passes, lines.Err()
}

// comparePass compares accesses with those of a pattern. Go's copy chooses its
// instructions by length and CPU and does not tell: of it, all bytes together.
func comparePass(t *testing.T, p Pattern, got []touch) {
	want := touches(p.Nests)
	for _, link := range p.Ring {
		want = append(want, touch{"x", nest.Read, Origin + uint64(link)*8, 8})
	}
	for i := range want {
		want[i].tensor = ""
	}
	name := p.Spec.Name()
	if p.Spec.Kernel == Builtin {
		if !maps.Equal(bytesOf(got), bytesOf(want)) {
			t.Errorf("%s: a pass touches %v, the nest says %v", name, got, want)
		}
		return
	}
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			t.Errorf("%s: access %d of %d is %v, the nest says %v", name, i, len(want), got[i:min(i+6, len(got))], want[i:min(i+6, len(want))])
			return
		}
	}
	if len(got) != len(want) {
		t.Errorf("%s: %d accesses, the nest says %d", name, len(got), len(want))
	}
}

// bytesOf are the bytes that are read and those that are written.
func bytesOf(accesses []touch) map[touch]bool {
	all := map[touch]bool{}
	for _, a := range accesses {
		for b := range a.width {
			all[touch{"", a.kind, a.addr + uint64(b), 1}] = true
		}
	}
	return all
}
