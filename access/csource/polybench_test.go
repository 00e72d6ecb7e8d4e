package csource_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stridebench/stridebench/access/csource"
	"github.com/stridebench/stridebench/layouts/nest"
)

// kernels are those of PolyBench/C 4.2.1: the sizes of MINI, SMALL and LARGE in
// the order of the file's macros, and the accesses at LARGE that are published
// (the artifact of "Warping Cache Simulation of Polyhedral Programs", PLDI 2022;
// of nussinov what HayStack says, PLDI 2019; 0 where none was at hand).
var kernels = []struct {
	name, mini, small, large string
	accesses                 int
}{
	{"2mm", "NI=16 NJ=18 NK=22 NL=24", "NI=40 NJ=50 NK=70 NL=80", "NI=800 NJ=900 NK=1100 NL=1200", 6626640000},
	{"3mm", "NI=16 NJ=18 NK=20 NL=22 NM=24", "NI=40 NJ=50 NK=60 NL=70 NM=80", "NI=800 NJ=900 NK=1000 NL=1100 NM=1200", 0},
	{"adi", "TSTEPS=20 N=20", "TSTEPS=40 N=60", "TSTEPS=500 N=1000", 11957038000},
	{"atax", "M=38 N=42", "M=116 N=124", "M=1900 N=2100", 31924000},
	{"bicg", "M=38 N=42", "M=116 N=124", "M=1900 N=2100", 0},
	{"cholesky", "N=40", "N=120", "N=2000", 0},
	{"correlation", "M=28 N=32", "M=80 N=100", "M=1200 N=1400", 4056012600},
	{"covariance", "M=28 N=32", "M=80 N=100", "M=1200 N=1400", 0},
	{"deriche", "W=64 H=64", "W=192 H=128", "W=4096 H=2160", 176947200},
	{"doitgen", "NQ=8 NR=10 NP=12", "NQ=20 NR=25 NP=30", "NQ=140 NR=150 NP=160", 0},
	{"durbin", "N=40", "N=120", "N=2000", 13997001},
	{"fdtd-2d", "TMAX=20 NX=20 NY=30", "TMAX=40 NX=60 NY=80", "TMAX=500 NX=1000 NY=1200", 0},
	{"floyd-warshall", "N=60", "N=180", "N=2800", 153664000000},
	{"gemm", "NI=20 NJ=25 NK=30", "NI=60 NJ=70 NK=80", "NI=1000 NJ=1100 NK=1200", 5282200000},
	{"gemver", "N=40", "N=120", "N=2000", 0},
	{"gesummv", "N=30", "N=90", "N=1300", 13526500},
	{"gramschmidt", "M=20 N=30", "M=60 N=80", "M=1000 N=1200", 0},
	{"heat-3d", "TSTEPS=20 N=10", "TSTEPS=40 N=20", "TSTEPS=500 N=120", 0},
	{"jacobi-1d", "TSTEPS=20 N=30", "TSTEPS=40 N=120", "TSTEPS=500 N=2000", 7992000},
	{"jacobi-2d", "TSTEPS=20 N=30", "TSTEPS=40 N=90", "TSTEPS=500 N=1300", 10108824000},
	{"lu", "N=40", "N=120", "N=2000", 10664665000},
	{"ludcmp", "N=40", "N=120", "N=2000", 0},
	{"mvt", "N=40", "N=120", "N=2000", 32000000},
	{"nussinov", "N=60", "N=180", "N=2500", 18266638754},
	{"seidel-2d", "TSTEPS=20 N=40", "TSTEPS=40 N=120", "TSTEPS=500 N=2000", 19960020000},
	{"symm", "M=20 N=30", "M=60 N=80", "M=1000 N=1200", 0},
	{"syr2k", "M=20 N=30", "M=60 N=80", "M=1000 N=1200", 4325041200},
	{"syrk", "M=20 N=30", "M=60 N=80", "M=1000 N=1200", 0},
	{"trisolv", "N=40", "N=120", "N=2000", 8006000},
	{"trmm", "M=20 N=30", "M=60 N=80", "M=1000 N=1200", 2400000000},
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
	f, err := csource.Read(name+".c", kernelText(t, name), csource.Options{Defines: strings.Fields(size)})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestPolyBenchAccesses: as many accesses as are published, at LARGE. The sizes
// that the files have by themselves are these.
func TestPolyBenchAccesses(t *testing.T) {
	for _, k := range kernels {
		f := read(t, k.name, k.large)
		n, err := f.Program.Count()
		if err != nil || k.accesses != 0 && n != k.accesses {
			t.Errorf("%s: %d accesses (%v), published are %d", k.name, n, err, k.accesses)
		}
		if got, want := read(t, k.name, "").Program.String(), f.Program.String(); got != want {
			t.Errorf("%s is by itself\n%s\nand at LARGE\n%s", k.name, got, want)
		}
		if n, err := read(t, k.name, k.small).Program.Count(); err != nil || n == 0 {
			t.Errorf("%s at SMALL: %d accesses (%v)", k.name, n, err)
		}
	}
}

// TestPolyBenchArrays: the arrays are declared in the order of their names, and
// lie in it, each at the next multiple of 64.
func TestPolyBenchArrays(t *testing.T) {
	for _, k := range kernels {
		at, last := uint64(1<<32), ""
		for _, a := range read(t, k.name, k.mini).Arrays {
			if a.Name <= last || a.Base != at {
				t.Errorf("%s: array %s is behind %s, at %#x, want %#x", k.name, a.Name, last, a.Base, at)
			}
			at, last = (at+uint64(bytesOf(a))+63)/64*64, a.Name
		}
	}
}

// onData is how the conditions on data of a kernel count both arms in C++, which
// has no operator for them.
var onData = map[string][]string{
	"correlation":    {"stddev[j] <= eps ? 1.0 : stddev[j]", "both(stddev[j] <= eps, 1.0, stddev[j])"},
	"floyd-warshall": {"path[i][j] < path[i][k] + path[k][j] ? path[i][j] : path[i][k] + path[k][j]", "both(path[i][j] < path[i][k] + path[k][j], path[i][j], path[i][k] + path[k][j])"},
	"nussinov":       {"((a) >= (b) ? (a) : (b))", "both((a) >= (b), (a), (b))", "((a) + (b) == 3 ? 1 : 0)", "both((a) + (b) == 3, 1, 0)"},
}

// TestPolyBenchOrder: the accesses at MINI, and their order, are those of the
// compiled program.
func TestPolyBenchOrder(t *testing.T) {
	var texts []string
	for _, k := range kernels {
		text := string(kernelText(t, k.name))
		for i, pairs := 0, onData[k.name]; i < len(pairs); i += 2 {
			if !strings.Contains(text, pairs[i]) {
				t.Fatalf("%s has no %s", k.name, pairs[i])
			}
			text = strings.ReplaceAll(text, pairs[i], pairs[i+1])
		}
		defines := ""
		for _, d := range strings.Fields(k.mini) {
			defines += "#define " + strings.Replace(d, "=", " ", 1) + "\n"
		}
		texts = append(texts, defines+text)
	}
	for i, l := range runLogged(t, texts) {
		t.Run(kernels[i].name, func(t *testing.T) {
			if l.outside {
				t.Fatal("an index is outside of its extent")
			}
			same(t, read(t, kernels[i].name, kernels[i].mini), l.accesses, nil)
		})
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
				nodes = append(nodes, &nest.Loop{From: []nest.Affine{from}, To: []nest.Affine{to}, Step: 1, Body: body(depth + 1)})
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
