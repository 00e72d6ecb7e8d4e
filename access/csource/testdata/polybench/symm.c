/* symm: C = alpha*A*B + beta*C, A symmetric. */
#ifndef M
#define M 1000
#endif
#ifndef N
#define N 1200
#endif

double A[M][M], B[M][N], C[M][N];

void symm(double alpha, double beta)
{
	double sum;
	int i, j, k;
#pragma scop
	for (i = 0; i < M; i++)
		for (j = 0; j < N; j++) {
			sum = 0;
			for (k = 0; k < i; k++) {
				C[k][j] += alpha * B[i][j] * A[i][k];
				sum += B[k][j] * A[i][k];
			}
			C[i][j] = beta * C[i][j] + alpha * B[i][j] * A[i][i] + alpha * sum;
		}
#pragma endscop
}
