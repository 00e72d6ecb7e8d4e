package exact

var lastKernels = []source{
	{"gesummv", "N=1300", `
array A 8 N N
array B 8 N N
array tmp 8 N
array x 8 N
array y 8 N
for i 0 N
	=tmp[i]
	=y[i]
	for j 0 N
		A[i][j] x[j] tmp[i] =tmp[i]
		B[i][j] x[j] y[i] =y[i]
	tmp[i] y[i] =y[i]
`},
	{"gramschmidt", "M=1000 N=1200", `
array A 8 M N
array Q 8 M N
array R 8 N N
for k 0 N
	for i 0 M
		A[i][k] A[i][k]
	=R[k][k]
	for i 0 M
		A[i][k] R[k][k] =Q[i][k]
	for j k+1 N
		=R[k][j]
		for i 0 M
			R[k][j] Q[i][k] A[i][j] =R[k][j]
		for i 0 M
			A[i][j] Q[i][k] R[k][j] =A[i][j]
`},
	{"heat-3d", "N=120 T=500", `
array A 8 N N N
array B 8 N N N
for t 1 T+1
	for i 1 N-1
		for j 1 N-1
			for k 1 N-1
				A[i+1][j][k] A[i][j][k] A[i-1][j][k] A[i][j+1][k] A[i][j][k] A[i][j-1][k] A[i][j][k+1] A[i][j][k] A[i][j][k-1] A[i][j][k] =B[i][j][k]
	for i 1 N-1
		for j 1 N-1
			for k 1 N-1
				B[i+1][j][k] B[i][j][k] B[i-1][j][k] B[i][j+1][k] B[i][j][k] B[i][j-1][k] B[i][j][k+1] B[i][j][k] B[i][j][k-1] B[i][j][k] =A[i][j][k]
`},
	{"jacobi-1d", "N=2000 T=500", `
array A 8 N
array B 8 N
for t 0 T
	for i 1 N-1
		A[i-1] A[i] A[i+1] =B[i]
	for i 1 N-1
		B[i-1] B[i] B[i+1] =A[i]
`},
	{"jacobi-2d", "N=1300 T=500", `
array A 8 N N
array B 8 N N
for t 0 T
	for i 1 N-1
		for j 1 N-1
			A[i][j] A[i][j-1] A[i][j+1] A[i+1][j] A[i-1][j] =B[i][j]
	for i 1 N-1
		for j 1 N-1
			B[i][j] B[i][j-1] B[i][j+1] B[i+1][j] B[i-1][j] =A[i][j]
`},
	{"lu", "N=2000", `
array A 8 N N
for i 0 N
	for j 0 i
		for k 0 j
			A[i][j] A[i][k] A[k][j] =A[i][j]
		A[i][j] A[j][j] =A[i][j]
	for j i N
		for k 0 i
			A[i][j] A[i][k] A[k][j] =A[i][j]
`},
	{"ludcmp", "N=2000", `
array A 8 N N
array b 8 N
array x 8 N
array y 8 N
for i 0 N
	for j 0 i
		A[i][j]
		for k 0 j
			A[i][k] A[k][j]
		A[j][j] =A[i][j]
	for j i N
		A[i][j]
		for k 0 i
			A[i][k] A[k][j]
		=A[i][j]
for i 0 N
	b[i]
	for j 0 i
		A[i][j] y[j]
	=y[i]
fordown i 0 N
	y[i]
	for j i+1 N
		A[i][j] x[j]
	A[i][i] =x[i]
`},
	{"mvt", "N=2000", `
array A 8 N N
array x1 8 N
array x2 8 N
array y_1 8 N
array y_2 8 N
for i 0 N
	for j 0 N
		x1[i] A[i][j] y_1[j] =x1[i]
for i 0 N
	for j 0 N
		x2[i] A[j][i] y_2[j] =x2[i]
`},
	{"nussinov", "N=2500", `
array seq 1 N
array table 4 N N
fordown i 0 N
	for j i+1 N
		if j-1
			table[i][j] table[i][j-1] table[i][j] table[i][j-1] =table[i][j]
		if N-2-i
			table[i][j] table[i+1][j] table[i][j] table[i+1][j] =table[i][j]
		if j-1 N-2-i
			if j-i-2
				table[i][j] table[i+1][j-1] seq[i] seq[j] table[i][j] table[i+1][j-1] seq[i] seq[j] =table[i][j]
			else
				table[i][j] table[i+1][j-1] table[i][j] table[i+1][j-1] =table[i][j]
		for k i+1 j
			table[i][j] table[i][k] table[k+1][j] table[i][j] table[i][k] table[k+1][j] =table[i][j]
`},
	{"seidel-2d", "N=2000 T=500", `
array A 8 N N
for t 0 T
	for i 1 N-1
		for j 1 N-1
			A[i-1][j-1] A[i-1][j] A[i-1][j+1] A[i][j-1] A[i][j] A[i][j+1] A[i+1][j-1] A[i+1][j] A[i+1][j+1] =A[i][j]
`},
	{"symm", "M=1000 N=1200", `
array A 8 M M
array B 8 M N
array C 8 M N
for i 0 M
	for j 0 N
		for k 0 i
			C[k][j] B[i][j] A[i][k] =C[k][j]
			B[k][j] A[i][k]
		C[i][j] B[i][j] A[i][i] =C[i][j]
`},
	{"syr2k", "M=1000 N=1200", `
array A 8 N M
array B 8 N M
array C 8 N N
for i 0 N
	for j 0 i+1
		C[i][j] =C[i][j]
	for k 0 M
		for j 0 i+1
			C[i][j] A[j][k] B[i][k] B[j][k] A[i][k] =C[i][j]
`},
	{"syrk", "M=1000 N=1200", `
array A 8 N M
array C 8 N N
for i 0 N
	for j 0 i+1
		C[i][j] =C[i][j]
	for k 0 M
		for j 0 i+1
			C[i][j] A[i][k] A[j][k] =C[i][j]
`},
	{"trisolv", "N=2000", `
array L 8 N N
array b 8 N
array x 8 N
for i 0 N
	b[i] =x[i]
	for j 0 i
		x[i] L[i][j] x[j] =x[i]
	x[i] L[i][i] =x[i]
`},
	{"trmm", "M=1000 N=1200", `
array A 8 M M
array B 8 M N
for i 0 M
	for j 0 N
		for k i+1 M
			B[i][j] A[k][i] B[k][j] =B[i][j]
		B[i][j] =B[i][j]
`},
}
