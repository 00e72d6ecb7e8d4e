/* syrk: C = alpha*A*A' + beta*C, the lower half. */
#ifndef M
#define M 1000
#endif
#ifndef N
#define N 1200
#endif

double A[N][M], C[N][N];

void syrk(double alpha, double beta)
{
	int i, j, k;
#pragma scop
	for (i = 0; i < N; i++) {
		for (j = 0; j <= i; j++)
			C[i][j] *= beta;
		for (k = 0; k < M; k++)
			for (j = 0; j <= i; j++)
				C[i][j] += alpha * A[i][k] * A[j][k];
	}
#pragma endscop
}
