package exact

// kernels are the 30 kernels of PolyBench 4.2.1 at LARGE, with their arrays in ASCII
// order of the names. Of adi, u, p and q have N-1 rows, as in the published counts.
var kernels = append(firstKernels, lastKernels...)

var firstKernels = []source{
	{"2mm", "NI=800 NJ=900 NK=1100 NL=1200", `
array A 8 NI NK
array B 8 NK NJ
array C 8 NJ NL
array D 8 NI NL
array tmp 8 NI NJ
for i 0 NI
	for j 0 NJ
		=tmp[i][j]
		for k 0 NK
			tmp[i][j] A[i][k] B[k][j] =tmp[i][j]
for i 0 NI
	for j 0 NL
		D[i][j] =D[i][j]
		for k 0 NJ
			D[i][j] tmp[i][k] C[k][j] =D[i][j]
`},
	{"3mm", "NI=800 NJ=900 NK=1000 NL=1100 NM=1200", `
array A 8 NI NK
array B 8 NK NJ
array C 8 NJ NM
array D 8 NM NL
array E 8 NI NJ
array F 8 NJ NL
array G 8 NI NL
for i 0 NI
	for j 0 NJ
		=E[i][j]
		for k 0 NK
			E[i][j] A[i][k] B[k][j] =E[i][j]
for i 0 NJ
	for j 0 NL
		=F[i][j]
		for k 0 NM
			F[i][j] C[i][k] D[k][j] =F[i][j]
for i 0 NI
	for j 0 NL
		=G[i][j]
		for k 0 NJ
			G[i][j] E[i][k] F[k][j] =G[i][j]
`},
	{"adi", "N=1000 T=500", `
array p 8 N-1 N
array q 8 N-1 N
array u 8 N-1 N
array v 8 N N
for t 1 T+1
	for i 1 N-1
		=v[0][i]
		=p[i][0]
		v[0][i] =q[i][0]
		for j 1 N-1
			p[i][j-1] =p[i][j]
			u[j][i-1] u[j][i] u[j][i+1] q[i][j-1] p[i][j-1] =q[i][j]
		=v[N-1][i]
		fordown j 1 N-1
			p[i][j] v[j+1][i] q[i][j] =v[j][i]
	for i 1 N-1
		=u[i][0]
		=p[i][0]
		u[i][0] =q[i][0]
		for j 1 N-1
			p[i][j-1] =p[i][j]
			v[i-1][j] v[i][j] v[i+1][j] q[i][j-1] p[i][j-1] =q[i][j]
		=u[i][N-1]
		fordown j 1 N-1
			p[i][j] u[i][j+1] q[i][j] =u[i][j]
`},
	{"atax", "M=1900 N=2100", `
array A 8 M N
array tmp 8 M
array x 8 N
array y 8 N
for i 0 N
	=y[i]
for i 0 M
	=tmp[i]
	for j 0 N
		tmp[i] A[i][j] x[j] =tmp[i]
	for j 0 N
		y[j] A[i][j] tmp[i] =y[j]
`},
	{"bicg", "M=1900 N=2100", `
array A 8 N M
array p 8 M
array q 8 N
array r 8 N
array s 8 M
for i 0 M
	=s[i]
for i 0 N
	=q[i]
	for j 0 M
		s[j] r[i] A[i][j] =s[j]
		q[i] A[i][j] p[j] =q[i]
`},
	{"cholesky", "N=2000", `
array A 8 N N
for i 0 N
	for j 0 i
		for k 0 j
			A[i][j] A[i][k] A[j][k] =A[i][j]
		A[i][j] A[j][j] =A[i][j]
	for k 0 i
		A[i][i] A[i][k] A[i][k] =A[i][i]
	A[i][i] =A[i][i]
`},
	{"correlation", "M=1200 N=1400", `
array corr 8 M M
array data 8 N M
array mean 8 M
array stddev 8 M
for j 0 M
	=mean[j]
	for i 0 N
		mean[j] data[i][j] =mean[j]
	mean[j] =mean[j]
for j 0 M
	=stddev[j]
	for i 0 N
		stddev[j] data[i][j] mean[j] data[i][j] mean[j] =stddev[j]
	stddev[j] =stddev[j]
	stddev[j] =stddev[j]
	stddev[j] stddev[j] =stddev[j]
for i 0 N
	for j 0 M
		data[i][j] mean[j] =data[i][j]
		data[i][j] stddev[j] =data[i][j]
for i 0 M-1
	=corr[i][i]
	for j i+1 M
		=corr[i][j]
		for k 0 N
			corr[i][j] data[k][i] data[k][j] =corr[i][j]
		corr[i][j] =corr[j][i]
=corr[M-1][M-1]
`},
	{"covariance", "M=1200 N=1400", `
array cov 8 M M
array data 8 N M
array mean 8 M
for j 0 M
	=mean[j]
	for i 0 N
		mean[j] data[i][j] =mean[j]
	mean[j] =mean[j]
for i 0 N
	for j 0 M
		data[i][j] mean[j] =data[i][j]
for i 0 M
	for j i M
		=cov[i][j]
		for k 0 N
			cov[i][j] data[k][i] data[k][j] =cov[i][j]
		cov[i][j] =cov[i][j]
		cov[i][j] =cov[j][i]
`},
	{"deriche", "W=4096 H=2160", `
array imgIn 4 W H
array imgOut 4 W H
array y1 4 W H
array y2 4 W H
for i 0 W
	for j 0 H
		imgIn[i][j] =y1[i][j]
		imgIn[i][j]
		y1[i][j]
for i 0 W
	fordown j 0 H
		=y2[i][j]
		imgIn[i][j]
		y2[i][j]
for i 0 W
	for j 0 H
		y1[i][j] y2[i][j] =imgOut[i][j]
for j 0 H
	for i 0 W
		imgOut[i][j] =y1[i][j]
		imgOut[i][j]
		y1[i][j]
for j 0 H
	fordown i 0 W
		=y2[i][j]
		imgOut[i][j]
		y2[i][j]
for i 0 W
	for j 0 H
		y1[i][j] y2[i][j] =imgOut[i][j]
`},
	{"doitgen", "NQ=140 NR=150 NP=160", `
array A 8 NR NQ NP
array C4 8 NP NP
array sum 8 NP
for r 0 NR
	for q 0 NQ
		for p 0 NP
			=sum[p]
			for s 0 NP
				sum[p] A[r][q][s] C4[s][p] =sum[p]
		for p 0 NP
			sum[p] =A[r][q][p]
`},
	{"durbin", "N=2000", `
array r 8 N
array y 8 N
array z 8 N
r[0] =y[0]
r[0]
for k 1 N
	for i 0 k
		r[k-i-1] y[i]
	r[k]
	for i 0 k
		y[i] y[k-i-1] =z[i]
	for i 0 k
		z[i] =y[i]
	=y[k]
`},
	{"fdtd-2d", "X=1000 Y=1200 T=500", `
array _fict_ 8 T
array ex 8 X Y
array ey 8 X Y
array hz 8 X Y
for t 0 T
	for j 0 Y
		_fict_[t] =ey[0][j]
	for i 1 X
		for j 0 Y
			ey[i][j] hz[i][j] hz[i-1][j] =ey[i][j]
	for i 0 X
		for j 1 Y
			ex[i][j] hz[i][j] hz[i][j-1] =ex[i][j]
	for i 0 X-1
		for j 0 Y-1
			hz[i][j] ex[i][j+1] ex[i][j] ey[i+1][j] ey[i][j] =hz[i][j]
`},
	{"floyd-warshall", "N=2800", `
array path 4 N N
for k 0 N
	for i 0 N
		for j 0 N
			path[i][j] path[i][k] path[k][j] path[i][j] path[i][k] path[k][j] =path[i][j]
`},
	{"gemm", "NI=1000 NJ=1100 NK=1200", `
array A 8 NI NK
array B 8 NK NJ
array C 8 NI NJ
for i 0 NI
	for j 0 NJ
		C[i][j] =C[i][j]
	for k 0 NK
		for j 0 NJ
			C[i][j] A[i][k] B[k][j] =C[i][j]
`},
	{"gemver", "N=2000", `
array A 8 N N
array u1 8 N
array u2 8 N
array v1 8 N
array v2 8 N
array w 8 N
array x 8 N
array y 8 N
array z 8 N
for i 0 N
	for j 0 N
		A[i][j] u1[i] v1[j] u2[i] v2[j] =A[i][j]
for i 0 N
	for j 0 N
		x[i] A[j][i] y[j] =x[i]
for i 0 N
	x[i] z[i] =x[i]
for i 0 N
	for j 0 N
		w[i] A[i][j] x[j] =w[i]
`},
}
