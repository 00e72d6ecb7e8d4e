/* syr2k: C = alpha*A*B' + alpha*B*A' + beta*C, the lower half. */
#ifndef M
#define M 1000
#endif
#ifndef N
#define N 1200
#endif

double A[N][M], B[N][M], C[N][N];

void syr2k(double alpha, double beta)
{
	int i, j, k;
#pragma scop
	for (i = 0; i < N; i++) {
		for (j = 0; j <= i; j++)
			C[i][j] *= beta;
		for (k = 0; k < M; k++)
			for (j = 0; j <= i; j++)
				C[i][j] += A[j][k] * alpha * B[i][k] + B[j][k] * alpha * A[i][k];
	}
#pragma endscop
}
