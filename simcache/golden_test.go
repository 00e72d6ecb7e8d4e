package simcache_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache"
)

// A golden trace is one whose misses every simulator tried agrees on, and whose
// write-backs are Dinero IV's. Elements have 4 bytes, tensors lie at 0x10000000
// and 0x20000000.
type golden struct {
	name     string
	accesses int
	run      func(testing.TB, *simcache.Hierarchy)
	// Misses and write-backs by level, with two levels and with three.
	misses2, backs2, misses3, backs3 []uint64
}

func goldens() []golden {
	const a, b, n = 0x10000000, 0x20000000, 4000
	op := func(kind nest.Kind, base uint64, strides ...int) nest.Operand {
		return nest.Operand{Kind: kind, Base: base, Width: 4, Strides: strides}
	}
	walk := func(ops ...nest.Operand) func(testing.TB, *simcache.Hierarchy) {
		return func(t testing.TB, h *simcache.Hierarchy) {
			if _, err := h.Run(1, nest.Nest{Trips: []int{n, n}, Operands: ops}); err != nil {
				t.Fatal(err)
			}
		}
	}
	none2, none3 := []uint64{0, 0}, []uint64{0, 0, 0}
	return []golden{
		{"r", n * n, walk(op(nest.Read, a, 4*n, 4)),
			[]uint64{1e6, 1e6}, none2, []uint64{1e6, 1e6, 1e6}, none3},
		{"c", n * n, walk(op(nest.Read, a, 4, 4*n)),
			[]uint64{16e6, 1e6}, none2, []uint64{16e6, 1e6, 1e6}, none3},
		{"t", 2 * n * n, walk(op(nest.Read, a, 4*n, 4), op(nest.Write, b, 4, 4*n)),
			[]uint64{17e6, 2e6}, []uint64{15999752, 734444}, []uint64{17e6, 2e6, 2e6},
			[]uint64{15999752, 991743, 731875}},
		{"u", 16e6, uniform,
			[]uint64{15992161, 8167516}, none2, []uint64{15992161, 15749972, 8167517}, none3},
	}
}

// uniform reads 16 million random elements of 64 MiB.
func uniform(_ testing.TB, h *simcache.Hierarchy) {
	state := uint64(42)
	for range 16_000_000 {
		h.Access(nest.Read, 0x10000000+4*(splitmix64(&state)>>40), 4)
	}
}

// splitmix64 is Vigna's generator.
func splitmix64(state *uint64) uint64 {
	*state += 0x9E3779B97F4A7C15
	z := *state
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

func goldenConfig(t testing.TB, levels int) simcache.Config {
	l := simcache.TwoLevels(geometry(t, "32768,8,64"), geometry(t, "33554432,16,64"))
	if levels == 3 {
		l = []simcache.Level{l[0], {Geometry: geometry(t, "1048576,16,64")}, l[1]}
	}
	return simcache.Config{Levels: l}
}

func newHierarchy(t testing.TB, c simcache.Config) *simcache.Hierarchy {
	t.Helper()
	h, err := simcache.NewHierarchy(c)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestGoldenMisses(t *testing.T) {
	t.Parallel()
	for _, g := range goldens() {
		for _, backs := range []bool{false, true} {
			if backs && g.backs2[0] == 0 && g.name != "r" {
				continue // reads write nothing back: one of them shows it
			}
			for levels, want := range map[int][2][]uint64{2: {g.misses2, g.backs2},
				3: {g.misses3, g.backs3}} {
				t.Run(fmt.Sprintf("%s/levels=%d/writebacks=%v", g.name, levels, backs),
					func(t *testing.T) {
						t.Parallel()
						c := goldenConfig(t, levels)
						c.WriteBacks = backs
						h := newHierarchy(t, c)
						simcache.LookUp(h)
						g.run(t, h)
						for i, l := range h.Levels() {
							if l.Misses() != want[0][i] {
								t.Errorf("%s: %d misses, want %d", l.Name, l.Misses(), want[0][i])
							}
							if backs && (l.WriteBacks != want[1][i] || l.BytesOut != 64*want[1][i] ||
								l.BytesIn != 64*want[0][i]) {
								t.Errorf("%s: %+v, want %d write-backs", l.Name, l, want[1][i])
							}
						}
					})
			}
		}
	}
}

// BenchmarkSimulate is brute force: every access is looked up, or counted in
// bulk as one of a run in one line.
func BenchmarkSimulate(b *testing.B) {
	for _, levels := range []int{2, 3} {
		for _, backs := range []bool{false, true} {
			for _, g := range goldens() {
				b.Run(fmt.Sprintf("levels=%d/writebacks=%v/trace=%s", levels, backs, g.name),
					func(b *testing.B) {
						c := goldenConfig(b, levels)
						c.WriteBacks = backs
						simulate(b, g, c)
					})
			}
		}
	}
}

// BenchmarkCachegrind is the yardstick of BenchmarkSimulate, to be run beside it:
// the same loops, compiled, under the real Cachegrind, less what it takes to run
// none. It simulates their instruction fetches too.
func BenchmarkCachegrind(b *testing.B) {
	for _, tool := range []string{"gcc", "valgrind"} {
		if _, err := exec.LookPath(tool); err != nil {
			b.Skipf("the yardstick needs %s: %v", tool, err)
		}
	}
	program := filepath.Join(b.TempDir(), "loops")
	if out, err := exec.Command("gcc", "-O2", "-o", program,
		"testdata/loops.c").CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	run := func(b *testing.B, loop string) time.Duration {
		cmd := exec.Command("valgrind", "--tool=cachegrind", "--cache-sim=yes", "--I1=32768,8,64",
			"--D1=32768,8,64", "--LL=33554432,16,64",
			"--cachegrind-out-file=/dev/null", program, loop)
		_ = cmd.Run() // its exit status is the loop's result
		if !cmd.ProcessState.Exited() {
			b.Fatal(cmd.ProcessState)
		}
		return cmd.ProcessState.UserTime()
	}
	for _, g := range goldens() {
		b.Run("trace="+g.name, func(b *testing.B) {
			var spent time.Duration
			for b.Loop() {
				spent += run(b, g.name) - run(b, "0")
			}
			b.ReportMetric(float64(g.accesses)*float64(b.N)/spent.Seconds()/1e6, "Maccesses/s")
		})
	}
}

// BenchmarkCores is the part of it that cores can share.
func BenchmarkCores(b *testing.B) {
	for _, cores := range []int{1, 2} {
		for _, g := range goldens()[:3] {
			b.Run(fmt.Sprintf("trace=%s/cores=%d", g.name, cores), func(b *testing.B) {
				c := goldenConfig(b, 2)
				c.Cores = cores
				simulate(b, g, c)
			})
		}
	}
}

// BenchmarkObserve is a chain that is observed.
func BenchmarkObserve(b *testing.B) {
	for name, observe := range map[string]string{"sets": "sets", "classes": "classes",
		"bytes": "bytes"} {
		for _, g := range goldens()[:3] {
			b.Run(fmt.Sprintf("observe=%s/trace=%s", name, g.name), func(b *testing.B) {
				c := goldenConfig(b, 2)
				c.Observe = observe
				simulate(b, g, c)
			})
		}
	}
}

func simulate(b *testing.B, g golden, c simcache.Config) {
	for b.Loop() {
		h := newHierarchy(b, c)
		simcache.LookUp(h)
		g.run(b, h)
		h.Counts()
	}
	b.ReportMetric(float64(g.accesses)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Maccesses/s")
}
