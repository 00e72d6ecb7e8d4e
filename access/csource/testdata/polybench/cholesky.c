/* cholesky: A = L*L', in place. */
#include <math.h>

#ifndef N
#define N 2000
#endif

double A[N][N];

void cholesky(void)
{
#pragma scop
	for (int i = 0; i < N; i++) {
		for (int j = 0; j < i; j++) {
			for (int k = 0; k < j; k++)
				A[i][j] -= A[i][k] * A[j][k];
			A[i][j] /= A[j][j];
		}
		for (int k = 0; k < i; k++)
			A[i][i] -= A[i][k] * A[i][k];
		A[i][i] = sqrt(A[i][i]);
	}
#pragma endscop
}
