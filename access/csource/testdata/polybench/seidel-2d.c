/* seidel-2d: means of nine neighbours, in place. */
#ifndef TSTEPS
#define TSTEPS 500
#endif
#ifndef N
#define N 2000
#endif

double A[N][N];

void seidel_2d(void)
{
	int t, i, j;
#pragma scop
	for (t = 0; t <= TSTEPS - 1; t++)
		for (i = 1; i <= N - 2; i++)
			for (j = 1; j <= N - 2; j++)
				A[i][j] = (A[i - 1][j - 1] + A[i - 1][j] + A[i - 1][j + 1]
					+ A[i][j - 1] + A[i][j] + A[i][j + 1]
					+ A[i + 1][j - 1] + A[i + 1][j] + A[i + 1][j + 1]) / 9.0;
#pragma endscop
}
