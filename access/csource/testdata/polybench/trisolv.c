/* trisolv: L*x = b. */
#ifndef N
#define N 2000
#endif

double L[N][N], b[N], x[N];

void trisolv(void)
{
	int i, j;
#pragma scop
	for (i = 0; i < N; i++) {
		x[i] = b[i];
		for (j = 0; j < i; j++)
			x[i] -= L[i][j] * x[j];
		x[i] = x[i] / L[i][i];
	}
#pragma endscop
}
