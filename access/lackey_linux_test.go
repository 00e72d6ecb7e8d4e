package access

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
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
func traced(t *testing.T) (all []string) {
	add := func(format string, values ...any) {
		all = append(all, fmt.Sprintf(format, values...))
	}
	for dtype := layouts.Bool; dtype <= layouts.Complex128; dtype++ {
		for op := range Chase {
			for _, kernel := range []string{"scalar", "builtin", "portable", "avx2"} {
				end := fmt.Sprintf("%v kernel=%s%s", dtype, kernel,
					map[Op]string{Add: " with=1"}[op])
				row := fmt.Sprintf("%v 3x33 %s pad=1", op, end)
				if p, err := specOf(row).Pattern(); err != nil || Measurable(p, 0) != nil {
					continue // there is no such kernel, or not here
				}
				add("%s", row)
				if kernel == "scalar" || op == Copy && kernel == "portable" {
					add("%s view=t()", row)
					add("%v 2x%d %s view=slice(1,0,999999,2)", op, 2*longRow, end)
				}
				if kernel == "scalar" {
					add("%v 2x%d %s", op, longRow, end)
				}
			}
		}
	}
	for _, set := range kernel.Sets() {
		if set.Name() == "avx512" {
			continue // which Valgrind does not know
		}
		for _, dtype := range []layouts.DType{layouts.Uint8, layouts.Int16, layouts.Float32,
			layouts.Float64, layouts.Complex128} {
			size, end := dtype.Size(), fmt.Sprintf("%v kernel=%s", dtype, set.Name())
			side := 64 / size
			add("copy %dx%d %s view=t()", 2*side, side, end)           // in tiles
			add("copy %dx%d %s view=t() pad=1", 2*side+3, side+6, end) // with edges
			// A few channels, interleaved and taken apart, with edges.
			add("copy 2x3x%d %s view=permute(0,2,1)", side+6, end)
			add("copy 2x%dx3 %s view=permute(0,2,1)", side+6, end)
			// Through buffers, where the set has them for such elements.
			if size == 4 || size == 8 {
				add("copy %dx20 %s view=t() pad=%d", 4*256/size+1, end, 4096/size-20)
			} else if size < 4 {
				add("copy %dx%d %s view=t() pad=%d", 256/size+1, 2*side+1, end, 4096/size-2*side-1)
			}
		}
		add("reorder 64x64 float32 from=ba to=AB16b16a2b kernel=%s", set.Name())
	}
	for _, dtype := range []string{"uint8", "float32", "complex64", "complex128"} {
		add("reorder 17x18 %s from=ab to=BA16a4b", dtype) // with padding
		add("reorder 17x18 %s from=BA16a4b to=ab order=from", dtype)
		add("sum 17x18 %s from=BA16a4b order=from", dtype)
		add("fill 17x18 %s from=BA16a4b", dtype)
	}
	return append(all, "copy 9x10 int32 tile=4x4", "add 3x5 float64 with=3x5 order=col",
		"chase 100 int64")
}

// longRow elements are so many that what the loops around them touch of the stack
// is little beside.
const longRow = 400

// Traced memory lies where nests say that it does. A write to the page before it
// begins a pass, and another one ends it.
const (
	mark         = Origin - 4096
	markText     = "fffff000,"
	tracedMemory = 4 << 20 // bytes, at most
)

// TestMain runs the tests, or for TestLackey the passes that it traces.
func TestMain(m *testing.M) {
	specs := os.Getenv("STRIDEBENCH_TRACED")
	if specs == "" {
		os.Exit(m.Run())
	}
	if err := runTraced(strings.Split(specs, "; "), os.Getenv("STRIDEBENCH_MEMORY")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// runTraced runs one pass of each pattern, over memory that a file has, one after the
// other: all that runs here is traced as text, so that it is little.
func runTraced(specs []string, file string) error {
	debug.SetGCPercent(-1)
	runtime.LockOSThread()
	memory, err := os.Open(file)
	if err == nil {
		err = mapAt(mark, Origin-mark, ^uintptr(0), 0)
	}
	if err != nil {
		return err
	}
	marker := (*byte)(unsafe.Add(nil, mark))
	mem := unsafe.Slice((*byte)(unsafe.Add(nil, Origin)), tracedMemory)
	for i, text := range specs {
		p, err := specOf(text).Pattern()
		if err == nil {
			err = mapAt(Origin, tracedMemory, memory.Fd(), uintptr(i)*tracedMemory)
		}
		if err != nil {
			return err
		}
		r, err := newRunner(p, mem)
		if err != nil {
			return err
		}
		if p.Ring != nil {
			r.prepare() // links are addresses of this process
		}
		*marker = 1
		r.passes(1)
		*marker = 2
	}
	return nil
}

// mapAt maps memory at an address: of a file from an offset on, or zeros of none.
func mapAt(at, length, file, offset uintptr) error {
	flags := uintptr(unix.MAP_PRIVATE | unix.MAP_FIXED)
	if file == ^uintptr(0) {
		flags |= unix.MAP_ANON
	}
	const rights = unix.PROT_READ | unix.PROT_WRITE
	got, _, errno := unix.Syscall6(unix.SYS_MMAP, at, length, rights, flags, file, offset)
	if errno != 0 || got != at {
		return fmt.Errorf("mapping %d B at %#x: %#x, %v", length, at, got, errno)
	}
	return nil
}

// prepared writes the file of what is in the memory of each pattern before its pass, which
// decides the path of some kernels.
func prepared(t *testing.T, specs []string) (name string) {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "memory"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for i, text := range specs {
		p := pattern(t, specOf(text))
		mem := newArena(p.Memory)
		r, err := newRunner(p, mem)
		if err != nil {
			t.Fatal(err)
		}
		r.prepare()
		if _, err := file.WriteAt(mem, int64(i)*tracedMemory); err != nil ||
			len(mem) > tracedMemory {
			t.Fatalf("%s: %d B of memory, %v", text, len(mem), err)
		}
	}
	if err := file.Truncate(int64(len(specs)) * tracedMemory); err != nil {
		t.Fatal(err)
	}
	return file.Name()
}

// unraced is a program of these tests without the race detector, which Valgrind does not run.
func unraced(t *testing.T) string {
	t.Helper()
	info, known := debug.ReadBuildInfo()
	raced := func(s debug.BuildSetting) bool {
		return s == debug.BuildSetting{Key: "-race", Value: "true"}
	}
	if program, err := os.Executable(); err == nil && known &&
		!slices.ContainsFunc(info.Settings, raced) {
		return program
	}
	program := filepath.Join(t.TempDir(), "traced")
	if out, err := exec.Command("go", "test", "-c", "-o", program,
		".").CombinedOutput(); err != nil {
		t.Fatalf("building the passes to trace: %v\n%s", err, out)
	}
	return program
}

// trace runs the passes of these patterns under Lackey.
func trace(t *testing.T, program string, specs []string) []tracedPass {
	t.Helper()
	trace, log, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer trace.Close()
	cmd := exec.Command("valgrind", "--tool=lackey", "--trace-mem=yes", "--basic-counts=no",
		"--log-fd=3", program)
	cmd.Env = append(os.Environ(), "STRIDEBENCH_TRACED="+strings.Join(specs, "; "),
		"STRIDEBENCH_MEMORY="+prepared(t, specs), "GODEBUG=asyncpreemptoff=1", "GOMAXPROCS=1")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = &out, &out, []*os.File{log}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	log.Close()
	passes, err := tracedPasses(trace)
	if waited := cmd.Wait(); err != nil || waited != nil || len(passes) != len(specs) {
		t.Fatalf("%d passes of %d: %v, %v\n%s", len(passes), len(specs), err, waited, out.Bytes())
	}
	return passes
}

// TestLackey compares every access that a native pass makes to the tensors and
// buffers, as Valgrind's Lackey sees it, with those of the nests, byte for byte
// and in order.
func TestLackey(t *testing.T) {
	if _, err := exec.LookPath("valgrind"); err != nil || runtime.GOARCH != "amd64" ||
		testing.Short() {
		t.Skip("no Valgrind for amd64 here to trace the accesses of passes with, or -short")
	}
	program, specs := unraced(t), traced(t)
	// On a busy machine another thread of Go's runtime may run in the middle of a pass: its
	// accesses pass for those of the stack, and the pass is traced again.
	for range 3 {
		var again []string
		for i, pass := range trace(t, program, specs) {
			p := pattern(t, specOf(specs[i]))
			comparePass(t, p, pass.touched)
			if p.Spec.Shape[len(p.Spec.Shape)-1] >= longRow && pass.others >= len(pass.touched) {
				again = append(again, specs[i])
			}
		}
		if specs = again; len(specs) == 0 {
			return
		}
	}
	t.Errorf("more accesses of the stack than of the view: a body does not keep all that it uses "+
		"in registers, of %q", specs)
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
		if len(line) < 5 || line[0] != ' ' || line[2] != ' ' || !inside &&
			!strings.HasPrefix(line[3:], markText) {
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
			t.Errorf("%s: access %d of %d is %v, the nest says %v", name, i, len(want),
				got[i:min(i+6, len(got))], want[i:min(i+6, len(want))])
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
