package csource_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stridebench/stridebench/access/csource"
	"github.com/stridebench/stridebench/layouts/nest"
)

// A kernel is one of PolyBench/C 4.2.1, with the sizes of MINI, SMALL and LARGE in the order of
// the file's macros.
type kernel struct {
	name, mini, small, large string
	// accesses are those at LARGE that are published (the artifact of "Warping Cache Simulation
	// of Polyhedral Programs", PLDI 2022; of nussinov what HayStack says, PLDI 2019), or 0.
	accesses string
}

// kernels are those that testdata/polybench.tsv lists.
func kernels(t testing.TB) (all []kernel) {
	t.Helper()
	text, err := os.ReadFile("testdata/polybench.tsv")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		of := strings.Split(strings.TrimSpace(line), "\t")
		all = append(all, kernel{of[0], of[1], of[2], of[3], of[4]})
	}
	return all
}

func kernelText(t testing.TB, name string) []byte {
	t.Helper()
	text, err := os.ReadFile("testdata/polybench/" + name + ".c")
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// read reads a kernel at a size.
func read(t testing.TB, name, size string) *csource.File {
	t.Helper()
	f, err := csource.Read(name+".c", kernelText(t, name),
		csource.Options{Defines: strings.Fields(size)})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestPolyBenchAccesses: as many accesses as are published, at LARGE. The sizes
// that the files have by themselves are these. Arrays are declared in the order of
// their names, and lie in it, each at the next multiple of 64.
func TestPolyBenchAccesses(t *testing.T) {
	for _, k := range kernels(t) {
		f := read(t, k.name, k.large)
		n, err := f.Program.Count()
		if err != nil || k.accesses != "0" && fmt.Sprint(n) != k.accesses {
			t.Errorf("%s: %d accesses (%v), published are %s", k.name, n, err, k.accesses)
		}
		if got, want := read(t, k.name, "").Program.String(), f.Program.String(); got != want {
			t.Errorf("%s is by itself\n%s\nand at LARGE\n%s", k.name, got, want)
		}
		at, last := uint64(1<<32), ""
		for _, a := range f.Arrays {
			if a.Name <= last || a.Base != at {
				t.Errorf("%s: array %s follows %s, at %#x, want %#x", k.name, a.Name,
					last, a.Base, at)
			}
			at, last = (at+uint64(bytesOf(a))+63)/64*64, a.Name
		}
	}
}

// TestPrograms: the programs that others wrote of five kernels, for a prototype,
// are what is read. (Theirs of nussinov takes an else always.)
func TestPrograms(t *testing.T) {
	for _, name := range []string{"floyd-warshall", "gemm", "jacobi-2d", "lu", "trmm"} {
		text, err := os.ReadFile("testdata/programs/" + name + ".p")
		if err != nil {
			t.Fatal(err)
		}
		want := prototype(strings.Fields(string(text)))
		got := read(t, name, "").Program
		bare(got)
		if got.String() != want.String() {
			t.Errorf("%s is\n%v\nwant\n%v", name, got, want)
		}
	}
}

// bare removes from a program what the prototype does not say.
func bare(nodes []nest.Node) {
	for i, node := range nodes {
		switch node := node.(type) {
		case nest.Operand:
			nodes[i] = nest.Operand{Base: node.Base - 1<<32, Strides: node.Strides}
		case *nest.Loop:
			node.Name = ""
			bare(node.Body)
		}
	}
}

// prototype reads a program of the prototype: P name variables arrays; A name base
// bytes; L variable from to ... E; S count, then accesses, each of an array and a
// function; a function is a constant, a count, and pairs of variable and
// coefficient.
func prototype(words []string) nest.Program {
	number := func() int {
		var n int
		fmt.Sscan(words[0], &n)
		words = words[1:]
		return n
	}
	depths := map[int]int{}
	function := func() nest.Affine {
		a := nest.Affine{Const: number()}
		for range number() {
			v, c := depths[number()], number()
			for len(a.Coef) <= v {
				a.Coef = append(a.Coef, 0)
			}
			a.Coef[v] = c
		}
		return a
	}
	var body func(depth int) []nest.Node
	body = func(depth int) (nodes []nest.Node) {
		for {
			word := words[0]
			words = words[1:]
			switch word {
			case "P":
				words = words[3:]
			case "A":
				words = words[3:]
			case "L":
				v := number()
				from, to := function(), function()
				depths[v] = depth
				nodes = append(nodes, &nest.Loop{From: []nest.Affine{from}, To: []nest.Affine{to},
					Step: 1, Body: body(depth + 1)})
			case "S":
				for range number() {
					number()
					a := function()
					nodes = append(nodes, nest.Operand{Base: uint64(a.Const), Strides: a.Coef})
				}
			case "E", "Q":
				return nodes
			}
		}
	}
	return body(0)
}
