/* gemm: C = alpha*A*B + beta*C. */
#ifndef NI
#define NI 1000
#endif
#ifndef NJ
#define NJ 1100
#endif
#ifndef NK
#define NK 1200
#endif

double A[NI][NK], B[NK][NJ], C[NI][NJ];

void gemm(double alpha, double beta)
{
	int i, j, k;
#pragma scop
	for (i = 0; i < NI; i++) {
		for (j = 0; j < NJ; j++)
			C[i][j] *= beta;
		for (k = 0; k < NK; k++)
			for (j = 0; j < NJ; j++)
				C[i][j] += alpha * A[i][k] * B[k][j];
	}
#pragma endscop
}
