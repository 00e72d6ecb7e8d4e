/* atax: y = A'*(A*x). */
#ifndef M
#define M 1900
#endif
#ifndef N
#define N 2100
#endif

double A[M][N], tmp[M], x[N], y[N];

void atax(void)
{
	int i, j;
#pragma scop
	for (i = 0; i < N; i++)
		y[i] = 0;
	for (i = 0; i < M; i++) {
		tmp[i] = 0.0;
		for (j = 0; j < N; j++)
			tmp[i] = tmp[i] + A[i][j] * x[j];
		for (j = 0; j < N; j++)
			y[j] = y[j] + A[i][j] * tmp[i];
	}
#pragma endscop
}
