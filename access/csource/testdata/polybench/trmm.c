/* trmm: B = alpha*A'*B, A triangular with ones. */
#ifndef M
#define M 1000
#endif
#ifndef N
#define N 1200
#endif

double A[M][M], B[M][N];

void trmm(double alpha)
{
	int i, j, k;
#pragma scop
	for (i = 0; i < M; i++)
		for (j = 0; j < N; j++) {
			for (k = i + 1; k < M; k++)
				B[i][j] += A[k][i] * B[k][j];
			B[i][j] = alpha * B[i][j];
		}
#pragma endscop
}
