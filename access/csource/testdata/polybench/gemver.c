/* gemver: two updates of rank 1, two products with a vector. */
#ifndef N
#define N 2000
#endif

double A[N][N], u1[N], u2[N], v1[N], v2[N], w[N], x[N], y[N], z[N];

void gemver(double alpha, double beta)
{
	int i, j;
#pragma scop
	for (i = 0; i < N; i++)
		for (j = 0; j < N; j++)
			A[i][j] = A[i][j] + u1[i] * v1[j] + u2[i] * v2[j];
	for (i = 0; i < N; i++)
		for (j = 0; j < N; j++)
			x[i] = x[i] + beta * A[j][i] * y[j];
	for (i = 0; i < N; i++)
		x[i] = x[i] + z[i];
	for (i = 0; i < N; i++)
		for (j = 0; j < N; j++)
			w[i] = w[i] + alpha * A[i][j] * x[j];
#pragma endscop
}
