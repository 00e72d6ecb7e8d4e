/* lu: A = L*U, in place. */
#ifndef N
#define N 2000
#endif

double A[N][N];

void lu(void)
{
#pragma scop
	for (int i = 0; i < N; i++) {
		for (int j = 0; j < i; j++) {
			for (int k = 0; k < j; k++)
				A[i][j] -= A[i][k] * A[k][j];
			A[i][j] /= A[j][j];
		}
		for (int j = i; j < N; j++)
			for (int k = 0; k < i; k++)
				A[i][j] -= A[i][k] * A[k][j];
	}
#pragma endscop
}
