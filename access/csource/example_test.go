package csource_test

import (
	"fmt"

	"github.com/stridebench/stridebench/access/csource"
	"github.com/stridebench/stridebench/simcache"
)

// How often does each reference of a function miss?
func Example() {
	text := `
float a[512][512];

float columns(int n)
{
	float sum = 0;
	for (int j = 0; j < n; j++)
		for (int i = 0; i < n; i++)
			sum += a[i][j];
	return sum;
}
`
	// 1. Read the loops of a function, with a value for its parameter.
	f, err := csource.Read("a.c", []byte(text), csource.Options{Function: "columns",
		Defines: []string{"n=512"}})
	if err != nil {
		fmt.Println(err) // with the place in the text
		return
	}
	// 2. Simulate a pass over them.
	h, err := simcache.NewHierarchy(simcache.Config{Levels: simcache.TwoLevels(
		simcache.Geometry{Size: 32 << 10, Ways: 8, Line: 64},
		simcache.Geometry{Size: 8 << 20, Ways: 16, Line: 64})})
	if err != nil {
		fmt.Println(err)
		return
	}
	counts, err := h.RunProgram(1, f.Program)
	if err != nil {
		fmt.Println(err)
		return
	}
	// 3. Each access has its counts and its place.
	for i, a := range f.Accesses {
		fmt.Printf("%v: %s misses D1 %d times of %d\n", a.Pos, a.Text, counts[i].D1Misses(),
			counts[i].Refs())
	}
	// Output:
	// a.c:9:11: a[i][j] misses D1 262144 times of 262144
}

func ExampleRead() {
	text := `
#ifndef N
#define N 2000
#endif
double L[N][N], b[N], x[N];

void solve(void)
{
	#pragma scop
	for (int i = 0; i < N; i++) {
		x[i] = b[i];
		for (int j = 0; j < i; j++)
			x[i] -= L[i][j] * x[j];
		x[i] = x[i] / L[i][i];
	}
	#pragma endscop
}
`
	f, err := csource.Read("solve.c", []byte(text), csource.Options{Defines: []string{"N=4000"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(f.Program)
	n, _ := f.Program.Count()
	fmt.Println(n, "accesses")
	for number, a := range f.Accesses[:3] {
		fmt.Printf("%d: %s at %v, of %s in %q\n", number, a.Text, a.Pos, f.Arrays[a.Array].Name,
			f.Statements[a.Statement].Text)
	}

	_, err = csource.Read("solve.c", []byte(text), csource.Options{Defines: []string{"N=n*n"}})
	fmt.Println(err)
	// Output:
	// for i = 0 .. 4000
	//   read b 8 B at 0x107a12000 + 8*i
	//   write x 8 B at 0x107a19d00 + 8*i
	//   for j = 0 .. i
	//     read x 8 B at 0x107a19d00 + 8*i
	//     read L 8 B at 0x100000000 + 32000*i + 8*j
	//     read x 8 B at 0x107a19d00 + 8*j
	//     write x 8 B at 0x107a19d00 + 8*i
	//   read x 8 B at 0x107a19d00 + 8*i
	//   read L 8 B at 0x100000000 + 32008*i
	//   write x 8 B at 0x107a19d00 + 8*i
	// 32012000 accesses
	// 0: b[i] at solve.c:11:10, of b in "x[i] = b[i]"
	// 1: x[i] at solve.c:11:3, of x in "x[i] = b[i]"
	// 2: x[i] at solve.c:13:4, of x in "x[i] -= L[i][j] * x[j]"
	// solve.c:10:22: undefined: n
}
