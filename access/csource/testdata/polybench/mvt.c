/* mvt: a product with a matrix, and one with its transpose. */
#ifndef N
#define N 2000
#endif

double A[N][N], x1[N], x2[N], y_1[N], y_2[N];

void mvt(void)
{
	int i, j;
#pragma scop
	for (i = 0; i < N; i++)
		for (j = 0; j < N; j++)
			x1[i] = x1[i] + A[i][j] * y_1[j];
	for (i = 0; i < N; i++)
		for (j = 0; j < N; j++)
			x2[i] = x2[i] + A[j][i] * y_2[j];
#pragma endscop
}
